"""The slow twin of the audit of tables: sets of ancestors as Python has them, one receiver and one row at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["Place", "Told", "Verdicts", "judge_places"]


@dataclass(slots=True, frozen=True)
class Place:
    """One delivery: at `receiver`, the `position`-th, message `id`, after `parents` or with vector `clock`."""

    receiver: str
    position: int
    id: str
    parents: tuple[str, ...] = ()
    clock: tuple[tuple[str, int], ...] | None = None


class Told(NamedTuple):
    verdict: str
    process: str
    message: str
    other: str | None
    step: int


@dataclass
class Verdicts:
    rows: int = 0
    receivers: int = 0
    messages: int = 0
    findings: list[Told] = field(default_factory=list)
    missing: list[Told] = field(default_factory=list)
    aside: set[str] = field(default_factory=set)
    """Messages that are among their own causes, or come after such."""
    ties: int = 0
    """Deliveries at the position of another of the same receiver."""

    @property
    def counts(self) -> dict[str, int]:
        kinds = Counter(found.verdict for found in self.findings)
        return {"inversion": kinds["inversion"], "duplicate": kinds["duplicate"]}


def judge_places(places: Iterable[Place]) -> Verdicts:
    everything = list(places)
    past = past_by_clock(everything) if any(p.clock is not None for p in everything) else past_by_parents(everything)
    report = Verdicts(rows=len(everything), messages=len(past))
    circular = {name for name, above in past.items() if name in above}
    report.aside = {name for name, above in past.items() if name in circular or above & circular}
    by_receiver: dict[str, list[Place]] = {}
    for place in everything:
        if place.id not in report.aside:
            by_receiver.setdefault(place.receiver, []).append(place)
    report.receivers = len(by_receiver)
    for receiver, mine in by_receiver.items():
        mine.sort(key=lambda place: (place.position, place.id))
        at = Counter(place.position for place in mine)
        report.ties += sum(count for count in at.values() if count > 1)
        judge_one(receiver, mine, past, report)
    return report


def judge_one(receiver: str, mine: list[Place], past: dict[str, set[str]], report: Verdicts) -> None:
    out: set[str] = set()
    for place in mine:
        if place.id in out:
            report.findings.append(Told("duplicate", receiver, place.id, None, place.position))
            continue
        out.add(place.id)
        later = next((p for p in mine if p.position < place.position and place.id in past[p.id]), None)
        if later is not None:
            report.findings.append(Told("inversion", receiver, place.id, later.id, place.position))
    lacking: dict[str, Place] = {}
    for place in mine:
        for parent in place.parents:
            if parent not in out:
                lacking.setdefault(parent, place)
    for name, place in lacking.items():
        report.missing.append(Told("missing", receiver, place.id, name, place.position))


def past_by_parents(places: list[Place]) -> dict[str, set[str]]:
    """Message -> everything before it; itself too, if it is on a cycle."""
    above: dict[str, set[str]] = {}
    for place in places:
        above.setdefault(place.id, set()).update(place.parents)
    past: dict[str, set[str]] = {}
    for name in above:
        found: set[str] = set()
        todo = [*above[name]]
        while todo:
            one = todo.pop()
            if one in above and one not in found:
                found.add(one)
                todo += above[one]
        past[name] = found
    return past


def past_by_clock(places: list[Place]) -> dict[str, set[str]]:
    """a precedes b when every entry of a's clock is covered by b's and the clocks differ."""
    clocks: dict[str, dict[str, int]] = {}
    for place in sorted(places, key=lambda place: place.position):
        clocks.setdefault(place.id, dict(place.clock or ()))

    def before(narrow: dict[str, int], wide: dict[str, int]) -> bool:
        return bool(narrow) and narrow != wide and all(wide.get(name, 0) >= count for name, count in narrow.items())

    return {later: {name for name, narrow in clocks.items() if before(narrow, wide)} for later, wide in clocks.items()}


def told(rows: Iterable[dict[str, Any]]) -> list[Told]:
    """Rows of an audit in the same form."""
    return [Told(*(row[name] for name in ("verdict", "process", "message", "other", "step"))) for row in rows]
