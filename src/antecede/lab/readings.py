"""How 001's evaluation can be read, and what it is compared with: each as knobs of the vectorised simulator.

Decided here: the readings of "brokers gossip to a random view of subscribers" and the variants of [4], each by its
name; and how figures 7 to 10 are judged: which readings do better than lpbcast with unlimited forwarding, the fastest
of its variants, at every point. F = 3, four brokers; the text gives neither.
"""

from __future__ import annotations

from collections.abc import Callable

from antecede.lab.claim import Row, Table, Verdict, grid
from antecede.spark.sweep import Cell

__all__ = ["BASE", "BASELINE", "OURS", "READINGS", "judge_readings", "reading_cells"]

BASE: Row = {"fanout": 3, "loss": 0.05, "crash": 0.01}
"""Loss and crash are 001's."""
BROKERS = 4
BASELINE = "lpbcast, unlimited forwarding"
READINGS: dict[str, Row] = {
    BASELINE: {"variant": "push"},
    "lpbcast, forward once": {"variant": "push", "forwards": 1},
    "pbcast: multicast, then forward once": {"variant": "push", "forwards": 1, "multicast": True},
    "001: only brokers send": {"variant": "push", "brokers": BROKERS, "relay": False},
    "001: subscribers forward too": {"variant": "push", "brokers": BROKERS},
    "001: subscribers pull from brokers": {"variant": "pull", "brokers": BROKERS, "relay": False, "fanout": 1},
}
OURS = tuple(name for name in READINGS if name.startswith("001"))


def reading_cells(sizes: tuple[int, ...], seeds: int, rounds: int = 0) -> list[Cell]:
    return grid(seeds, [
        {"reading": name, "subscribers": n, **BASE, **knobs, "rounds": rounds} for n in sizes
        for name, knobs in READINGS.items()
    ])  # fmt: skip


def judge_readings(table: Table, better: Callable[[str], bool | None], seen: str) -> Verdict:
    """From what each reading of 001 does against the baseline: better (True), not (False) or open (None)."""
    found = {name: better(name) for name in OURS}
    good = [name.partition(": ")[2] for name, is_better in found.items() if is_better]
    if all(found.values()):
        return Verdict("holds", seen)
    if good:
        return Verdict("holds only if", f"{' or '.join(good)}: stamps do not speed up spreading ({seen})")
    if any(is_better is None for is_better in found.values()):
        return Verdict("undecided", seen)
    return Verdict("does not hold", seen)
