"""Tests shared by pytest processes that run beside each other: `pytest -p tests.sharing --share=DIR`, as in run.py.

Decided in this file: every test is run by exactly one process, the first that puts its mark into DIR; those on Spark by
the one process that is told `--with-spark`, and first, so that one session serves them; then the slow ones, so that
small ones fill the end. Each process counts and reports what it ran.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["claimed", "on_spark", "sequence"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--share", metavar="DIR", type=Path, help="run what no other process has marked here")
    parser.addoption("--with-spark", action="store_true", help="run the tests on Spark too")


def on_spark(item: pytest.Item) -> bool:
    """Whether a test needs the session."""
    chosen = getattr(getattr(item, "callspec", None), "params", {})
    return "spark" in getattr(item, "fixturenames", ()) or chosen.get("engine") == "spark"


def sequence(items: list[pytest.Item], with_spark: bool) -> list[pytest.Item]:
    """What this process may run, in the order in which it looks for something to run."""
    mine = [item for item in items if with_spark or not on_spark(item)]
    return sorted(mine, key=lambda item: 0 if on_spark(item) else 1 if item.get_closest_marker("slow") else 2)


def claimed(items: list[pytest.Item], marks: Path) -> Iterator[pytest.Item]:
    """Those that nobody else has taken, one by one as they are asked for."""
    for item in items:
        try:
            (marks / hashlib.sha256(item.nodeid.encode()).hexdigest()[:32]).touch(exist_ok=False)
        except FileExistsError:
            continue
        yield item


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    marks: Path | None = session.config.getoption("--share")
    if marks is None or session.testsfailed or session.config.option.collectonly:
        return None
    mine = claimed(sequence(session.items, session.config.getoption("--with-spark")), marks)
    item = next(mine, None)
    while item is not None:
        after = next(mine, None)  # pytest keeps what both need
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = after
    return True
