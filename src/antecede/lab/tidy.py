"""From cells to tidy tables: means with their intervals, and differences in pairs.

Decided here: intervals are 95 %, by the normal approximation over seeds; what a cell did not reach (None) is left out
of a mean and reported as a share of its own; pairs share their seed. A ratio of means has no interval here, so ratios
are taken seed by seed, like differences.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from antecede.lab.claim import Row, Table

__all__ = ["by_points", "difference", "interval", "pooled", "put_ends", "ratio", "summarise"]

Z = 1.96


def interval(values: Sequence[float]) -> tuple[float, float]:
    """(mean, half of its 95 % interval).

    >>> interval([1.0, 1.0, 1.0])
    (1.0, 0.0)
    """
    mean = statistics.fmean(values)
    half = Z * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.inf
    return mean, half


def pooled(parts: Sequence[float], wholes: Sequence[float]) -> tuple[float, float]:
    """(sum of the parts by sum of the wholes, half of its 95 % interval): a share of all pairs, where runs differ in
    how many they have.

    >>> pooled([0, 2], [10, 10])[0], pooled([1, 2], [10, 20])
    (0.1, (0.1, 0.0))
    """
    whole, count = sum(wholes), len(parts)
    share = sum(parts) / whole if whole else 0.0
    if count < 2 or not whole:
        return share, math.inf
    left = [part - share * one for part, one in zip(parts, wholes, strict=True)]
    return share, Z * math.sqrt(count * sum(x * x for x in left) / (count - 1)) / whole


def by_points(rows: Iterable[Row], by: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows of each point, in the order in which points appear."""
    points: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        points.setdefault(tuple(row[name] for name in by), []).append(row)
    return points


def summarise(rows: Iterable[Row], by: Sequence[str], values: Sequence[str]) -> Table:
    """One row per point: for every value its mean, `_low` and `_high`, and of how many (`runs`); where some cells have
    no value, `_share` says how many have."""
    table: Table = []
    for point, group in by_points(rows, by).items():
        out: Row = {**dict(zip(by, point, strict=True)), "runs": len(group)}
        for name in values:
            known = [float(row[name]) for row in group if row[name] is not None]
            mean, half = interval(known) if known else (math.nan, math.nan)
            out[name], out[f"{name}_low"], out[f"{name}_high"] = mean, mean - half, mean + half
            out[f"{name}_share"] = len(known) / len(group)
        table.append(out)
    return table


def difference(
    rows: Iterable[Row], by: Sequence[str], which: str, ours: Any, theirs: Any, value: str
) -> Table:  # fmt: skip
    """Per point the mean of ours - theirs over seeds that both have: `difference`, with `_low` and `_high`."""
    return _paired(rows, by, which, (ours, theirs), value, "difference", lambda a, b: a - b)


def ratio(rows: Iterable[Row], by: Sequence[str], which: str, ours: Any, theirs: Any, value: str) -> Table:
    """Per point the mean of ours / theirs over seeds that both have and in which theirs is not 0: `ratio`, with `_low`
    and `_high`. Example: `which` is `members`, ours 200, theirs 50: what 200 have of what 50 have."""
    return _paired(rows, by, which, (ours, theirs), value, "ratio", lambda a, b: a / b if b else None)


def _paired(
    rows: Iterable[Row], by: Sequence[str], which: str, both: tuple[Any, Any], value: str, name: str,
    of: Callable[[float, float], float | None],
) -> Table:  # fmt: skip
    ours, theirs = both
    table: Table = []
    for point, group in by_points(rows, by).items():
        found = {(row[which], row["seed"]): row[value] for row in group if row[value] is not None}
        seeds = sorted({seed for one, seed in found if one == ours} & {seed for one, seed in found if one == theirs})
        made = [of(float(found[ours, seed]), float(found[theirs, seed])) for seed in seeds]
        known = [one for one in made if one is not None]
        if known:
            mean, half = interval(known)
            table.append({**dict(zip(by, point, strict=True)), "runs": len(known), name: mean,
                          f"{name}_low": mean - half, f"{name}_high": mean + half})  # fmt: skip
    return table


def put_ends(row: Row, name: str, found: Row, value: str) -> None:
    """What was found - a mean, `_low` and `_high` - put into a row under another name."""
    row.update({f"{name}{end}": found[f"{value}{end}"] for end in ("", "_low", "_high")})
