"""From a cut to a result: what is aggregated, for every engine and every broker.

Decided in this file: sums are exact, so that no order of adding shows; what has no number is left out; the senders that
are expected are those given, or whoever was ever heard; completeness is the part of them whose latest reading counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from antecede.core.fold.cuts import Cut, Reading
from antecede.errors import InputError

__all__ = ["OVER", "as_row", "check_over", "counted_in", "result_of"]

OVER = ("latest", "new")
"""What is aggregated: the latest counted reading of each sender, or all that have come to count since the last cut."""


def check_over(over: str) -> None:
    if over not in OVER:
        raise InputError(f"over is {over!r}: it is {' or '.join(OVER)}.")


def counted_in(cut: Cut, place: int, over: str) -> list[Reading]:
    return cut.latest[place] if over == "latest" else cut.fresh[place]


def as_row(reading: Reading, values: Sequence[str]) -> dict[str, Any]:
    row = {"sender": reading.sender, "id": reading.id, "causal_pos": reading.pos, "time_us": reading.time_us}
    return row | dict(zip(values, reading.values, strict=True))


def result_of(
    cut: Cut, place: int, *, values: Sequence[str], over: str = "latest", senders: frozenset[str] = frozenset()
) -> Mapping[str, Any]:
    """The result of one place of a cut, by column."""
    latest, held = cut.latest[place], cut.held[place]
    counted = counted_in(cut, place, over)
    expected = senders or frozenset(cut.seen[place])
    present = {reading.sender for reading in latest}
    current = present - {first.sender for first, _ in held}
    row: dict[str, Any] = {
        "cut": cut.number,
        "cut_pos": cut.pos,
        "cut_us": cut.time_us,
        "rows": cut.rows,
        "count": len(counted),
        "latest": [as_row(reading, values) for reading in latest],
        "completeness": len(current & expected) / len(expected) if expected else None,
        "absent": sorted(expected - present),
        "held": sum(count for _, count in held),
        "incomplete": [first.id for first, _ in held],
        "missing": cut.missing,
        "dropped": cut.dropped,
        "given_up": cut.given_up,
        "causes": cut.causes,
    }
    for number, value in enumerate(values):
        numbers = [one for reading in counted if (one := reading.values[number]) is not None]
        row[f"{value}_count"] = len(numbers)
        row[f"{value}_mean"] = math.fsum(numbers) / len(numbers) if numbers else None
        row[f"{value}_min"] = min(numbers, default=None)
        row[f"{value}_max"] = max(numbers, default=None)
    return row
