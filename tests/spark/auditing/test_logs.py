"""ShiViz logs: either order of the two lines, what fits nowhere, and what is known of the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.spark.auditing.logs import Event, read_log
from antecede.trace.shiviz import shiviz
from tests.trace.test_history import random_run

LOGS = Path(__file__).resolve().parents[4] / "shared" / "data" / "shiviz"


def test_text_first() -> None:
    log = 'started\na {"a": 1}\nheard\nof it\nb {"a": 1, "b": 1}\n'
    assert list(read_log(log.splitlines(keepends=True))) == [
        Event("a", 1, {"a": 1}, "started", 0),
        Event("b", 1, {"a": 1, "b": 1}, "heard\nof it", 1),
    ]


def test_clock_first() -> None:
    log = '\n\na {"a": 1}\nstarted\nb {"a": 1, "b": 1} \nheard\n'
    assert [(e.host, e.n, e.text, e.position) for e in read_log(log.splitlines())] == [
        ("a", 1, "started", 0), ("b", 1, "heard", 1),
    ]  # fmt: skip


def test_what_fits_nowhere_is_an_event_with_a_reason() -> None:
    log = 'x\na {"b": 1}\ny\na {no json}\nz\na {"a": 1}\nthe end'
    events = list(read_log(log.splitlines()))
    assert [e.problem for e in events] == [
        "the clock has no step of its own host a",
        "the clock is not a JSON object of whole numbers",
        None,
        "text without a clock",
    ]
    assert list(read_log([])) == [] and list(read_log(["", " "])) == []


@settings(max_examples=20)
@given(st.integers(0, 10**9), st.integers(2, 30))
def test_what_we_export_is_read_again(seed: int, size: int) -> None:
    lines = list(shiviz(random_run(seed, size)))
    events = list(read_log(lines))
    assert len(events) == (len(lines) - 2) // 2 and not any(e.problem for e in events)
    assert [e.text for e in events] == lines[2::2]


@pytest.mark.skipif(not LOGS.is_dir(), reason="needs ../shared/data/shiviz, which is not part of the project")
@pytest.mark.parametrize(("name", "count", "forward"), [("simpledb", 509, 708), ("shared_var", 5000, 0)])
def test_the_real_logs(name: str, count: int, forward: int) -> None:
    with (LOGS / f"{name}.log").open(encoding="utf-8") as lines:
        events = list(read_log(lines))
    assert len(events) == count and not any(e.problem for e in events)
    place = {(e.host, e.n): e.position for e in events}
    entries = [(e, h, n) for e in events for h, n in (e.clock or {}).items() if h != e.host]
    assert sum(place.get((h, n), -1) > e.position for e, h, n in entries) == forward
