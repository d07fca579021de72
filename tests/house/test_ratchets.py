"""Signs of a missing seam in the core are counted, and their number may only fall.

A count above its ceiling fails: find a seam instead. One that fell well below fails too, until the ceiling follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house import rules

Rule = Callable[[Path], Iterator[str]]

SLACK = 5
"""How far below its ceiling a count may lie, so that two changes at a time do not quarrel over a number."""

CEILINGS: list[tuple[Rule, int]] = [
    (rules.reaches, 18),
    (rules.asks_for_a_writer, 0),
    (rules.asks_for_unordered, 30),
    (rules.begins_with_a_pronoun, 0),
]


def core() -> list[Path]:
    inside = rules.SOURCE / "antecede" / "core"
    return [path for path in rules.modules() if path.is_relative_to(inside) and "printed" not in path.parts]


@pytest.mark.parametrize(("rule", "ceiling"), CEILINGS, ids=[rule.__name__ for rule, _ in CEILINGS])
def test_the_count_only_falls(rule: Rule, ceiling: int) -> None:
    found = [finding for path in core() for finding in rule(path)]
    assert len(found) <= ceiling, f"{len(found)}, more than {ceiling}:\n" + "\n".join(found)
    assert len(found) >= ceiling - SLACK, f"{len(found)} are left: lower the ceiling from {ceiling}"


BAD: list[tuple[Rule, str, int]] = [
    (rules.reaches, "def f(broker):\n    return broker.store.by_id\n", 1),
    (rules.reaches, "def f(self):\n    self.broker.inbox.seen.clear()\n", 1),
    (
        rules.reaches,
        "def f(broker, envelope):\n    return broker.settings.grace_us, envelope.stamp.own, broker.store\n",
        0,
    ),
    (rules.reaches, "import os\ndef f(self):\n    return os.path.sep, self.inbox.seen\n", 0),
    (rules.asks_for_a_writer, "def f(broker):\n    return broker.writer is not None\n", 1),
    (rules.asks_for_a_writer, "def f(reader, writer):\n    return reader is None or writer\n", 0),
    (rules.asks_for_unordered, "def f(message):\n    return message.order != 'none' or is_loose(message.series)\n", 2),
    (rules.asks_for_unordered, "def f(message):\n    return message.order == 'fifo'\n", 0),
    (rules.begins_with_a_pronoun, '"""It came."""\ndef f():\n    """Of those, the last."""\n', 2),
    (rules.begins_with_a_pronoun, '"""A message came. It waits."""\nx = 1\n"""Itself."""\nprint("It")\n', 0),
]


@pytest.mark.parametrize(("rule", "text", "count"), BAD)
def test_each_is_counted_where_it_is_planted(rule: Rule, text: str, count: int, tmp_path: Path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(text, "utf-8")
    assert len(list(rule(path))) == count
