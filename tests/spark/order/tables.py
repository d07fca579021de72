"""Small random tables for the tests of causal_order: histories with losses, repeats, times, deadlines and cycles."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from tests.spark.order.twin import NEVER, Line


def history(
    seed: int, *, timed: bool = True, cyclic: bool = False, numbered: bool = False, closed: bool = False, most: int = 14
) -> list[Line]:
    """A history in an order of arrival. `closed`: rows name all their ancestors, not only the nearest."""
    dice = Random(seed)
    size = dice.randint(1, most)
    names: list[str] = []
    needs: list[list[str]] = []
    counters: dict[str, int] = {}
    for i in range(size):
        sender = dice.choice("abc")
        counters[sender] = counters.get(sender, 0) + 1
        names.append(f"{sender}:{counters[sender]}" if numbered else f"m{i}")
        high = size - 1 if cyclic else i - 1
        above = [dice.randint(0, high) for _ in range(dice.randint(0, 3))] if high >= 0 else []
        mine = [f"m{j}" if cyclic else names[j] for j in above]
        if numbered and counters[sender] > 1:
            mine.append(f"{sender}:{counters[sender] - 1}")
        if closed:
            mine += [further for need in mine for further in needs[names.index(need)]]
        needs.append(mine)
    order = list(range(size))
    if dice.random() < 0.7:
        dice.shuffle(order)
    lines = []
    for i in order:
        if dice.random() < 0.75:
            lines += [Line(names[i], list(needs[i])) for _ in range(2 if dice.random() < 0.12 else 1)]
    if dice.random() < 0.3:
        dice.shuffle(lines)
    at = 0
    for line in lines:
        at += dice.choice((0, 0, 1, 2, 3))
        line.at = at - (dice.random() < 0.2)
        if timed:
            if dice.random() < 0.7:
                line.late = at + dice.randint(-2, 8)
            line.due = min(line.late, at + dice.randint(0, 8) if dice.random() < 0.5 else NEVER)
    return lines


def as_batch(lines: list[Line], group: str | None = None, first: int = 0) -> pa.RecordBatch:
    """The working columns of these rows, and one of the user's: the row's number."""
    return pa.RecordBatch.from_pydict(
        {
            "number": pa.array(range(first, first + len(lines)), pa.int64()),
            "_group": pa.array([group] * len(lines), pa.string()),
            "_name": pa.array([line.name for line in lines], pa.string()),
            "_other": pa.array([line.other for line in lines], pa.string()),
            "_needs": pa.array([line.needs for line in lines], pa.list_(pa.string())),
            "_foreign": pa.array([None] * len(lines), pa.list_(pa.string())),
            "_at": pa.array([line.at for line in lines], pa.int64()),
            "_late": pa.array([line.late for line in lines], pa.int64()),
            "_due": pa.array([line.due for line in lines], pa.int64()),
            "_tie": pa.array([hash(tuple(line.needs)) % 2**62 for line in lines], pa.int64()),
        }
    )


def in_sequence(lines: list[Line]) -> list[Line]:
    """As the operator sorts them."""
    key = lambda line: (line.at, line.name or "", line.late, line.due, hash(tuple(line.needs)) % 2**62)  # noqa: E731
    return sorted(lines, key=key)
