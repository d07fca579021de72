"""How 001's evaluation can be read, and what it is compared with: each as knobs of the vectorised simulator.

Decided here: the readings of "brokers gossip to a random view of subscribers" and the variants of [4], each by its
name; how steps are counted where there are two tiers; and how figures 7 to 10 are judged: which readings do better than
lpbcast with unlimited forwarding, the fastest of its variants, at every point, and under which count. F = 3, four
brokers; the text gives neither.

Three counts, each at least as strict as the one before. Best: four brokers hold the message at step 0, a round is a
step. Brokers' phase counted: the message is at one broker at step 0, and one step later at all four, which is the
least that this takes (gossip of F = 3 needs 1.17). Answers counted too: where subscribers pull, a request and its
answer are two steps. Example: pulls that reach all in 3 rounds are 3, 4 and 7 steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from antecede.lab.claim import Row, Table, Verdict, grid
from antecede.lab.figures import STYLES, series_of
from antecede.spark.sweep import Cell

__all__ = [
    "BASE", "BASELINE", "OURS", "READINGS", "base_of", "counted", "counts_of", "draw_readings", "judge_readings",
    "reading_cells", "strictest",
]  # fmt: skip

BASE: Row = {"fanout": 3, "loss": 0.05, "crash": 0.01}
"""Loss and crash are 001's."""
BROKERS = 4
BASELINE = "lpbcast, unlimited forwarding"
READINGS: dict[str, Row] = {
    BASELINE: {"variant": "push"},
    "lpbcast, forward once": {"variant": "push", "forwards": 1},
    "pbcast: multicast, then forward once": {"variant": "push", "forwards": 1, "multicast": True},
    "001: only brokers send": {"variant": "push", "brokers": BROKERS, "relay": False},
    "001: subscribers forward without limit": {"variant": "push", "brokers": BROKERS},
    "001: subscribers forward once": {"variant": "push", "brokers": BROKERS, "forwards": 1},
    "001: subscribers forward once and pull": {"variant": "push-pull", "brokers": BROKERS, "forwards": 1,
                                               "ask_brokers": 1},
    "001: subscribers pull from brokers": {"variant": "pull", "brokers": BROKERS, "relay": False, "fanout": 1},
}  # fmt: skip
OURS = tuple(name for name in READINGS if name.startswith("001"))
PHASE = ", brokers' phase counted"
ANSWERS = ", brokers' phase and answers counted"
CONDITIONS = {"": "the brokers' own phase is not counted", PHASE: "a request with its answer is one step"}
"""What a reading still needs that is better under this count and not under the next one."""


@dataclass(frozen=True, slots=True)
class Count:
    """Steps of a round, and steps before the first."""

    each: int = 1
    before: int = 0

    def steps(self, rounds: float) -> float:
        return self.each * rounds + self.before

    def share(self, curve: list[float], step: int) -> float:
        """Reached by that step: what was reached by the last round that is over."""
        return curve[(step - self.before) // self.each] if step >= self.before else 0.0


def counts_of(reading: str) -> dict[str, Count]:
    """Each way to count the steps of a reading, the most favourable first, by the name of its line.

    >>> list(counts_of("001: subscribers forward once"))
    ['001: subscribers forward once', "001: subscribers forward once, brokers' phase counted"]
    """
    counts = {reading: Count()}
    if reading in OURS:
        counts[reading + PHASE] = Count(1, 1)
        if "pull" in READINGS[reading]["variant"]:
            counts[reading + ANSWERS] = Count(2, 1)
    return counts


def base_of(line: str) -> str:
    """The reading of a line."""
    return line.removesuffix(PHASE).removesuffix(ANSWERS)


def strictest(reading: str) -> str:
    return list(counts_of(reading))[-1]


def counted(rows: Iterable[Row]) -> list[Row]:
    """Rows of broadcasts, once for each way to count their steps."""
    out: list[Row] = []
    for row in rows:
        for line, count in counts_of(row["reading"]).items():
            mine = {**row, "reading": line}
            for name in ("to_all", "to_most"):
                if row.get(name) is not None:
                    mine[name] = count.steps(row[name])
            if "curve" in row:
                mine["curve"] = [count.share(row["curve"], step) for step in range(len(row["curve"]))]
            out.append(mine)
    return out


def reading_cells(sizes: tuple[int, ...], seeds: int, rounds: int = 0) -> list[Cell]:
    return grid(seeds, [
        {"reading": name, "subscribers": n, **BASE, **knobs, "rounds": rounds} for n in sizes
        for name, knobs in READINGS.items()
    ])  # fmt: skip


def judge_readings(table: Table, better: Callable[[str], bool | None], seen: str) -> Verdict:
    """From what each line of 001 does against the baseline: better (True), not (False) or open (None)."""
    found = {line: better(line) for name in OURS for line in counts_of(name)}
    good: list[str] = []
    for name in OURS:
        lines = list(counts_of(name))
        sure = next((i for i, line in enumerate(lines) if not found[line]), len(lines))
        if sure:
            needs = CONDITIONS[lines[sure - 1].removeprefix(name)] if sure < len(lines) else ""
            good.append(name.partition(": ")[2] + (f" and {needs}" if needs else ""))
    if all(found.values()):
        return Verdict("holds", seen)
    if good:
        return Verdict("holds only if", f"{', or '.join(good)}: stamps do not speed up spreading ({seen})")
    if any(is_better is None for is_better in found.values()):
        return Verdict("undecided", seen)
    return Verdict("does not hold", seen)


def draw_readings(ax: Any, table: Table, x: str, y: str, *, strict: bool = False) -> None:
    """A line per reading, each in its style in every panel: as it counts best, or as it counts most strictly."""
    for i, name in enumerate(READINGS):
        line = strictest(name) if strict else name
        if line not in series_of(table, "reading"):
            continue
        rows = [row for row in table if row["reading"] == line]
        colour, marker, dashes = STYLES[i % len(STYLES)]
        hollow = {"markerfacecolor": "none", "markersize": 6.5} if i % 2 else {}
        xs = [row[x] for row in rows]
        ax.plot(xs, [row[y] for row in rows], color=colour, marker=marker, linestyle=dashes, label=name, **hollow)
        if f"{y}_low" in rows[0]:
            low, high = ([row[f"{y}_{end}"] for row in rows] for end in ("low", "high"))
            ax.fill_between(xs, low, high, color=colour, alpha=0.14, linewidth=0)
