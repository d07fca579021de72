"""A run as it is shown: its rows in the order of time, what the oracle says of them, and what each message follows.

Decided here: up to how many messages the oracle is asked (it needs the square of their number; above it the page says
so and names `antecede audit`), and what the direct causes of a message are: those that no other cause of it follows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from antecede.trace.check import Watch, as_if, check, counted
from antecede.trace.history import History, time_of
from antecede.trace.record import Row
from antecede.trace.report import Report

__all__ = ["JUDGED", "Run", "direct_causes", "run_of"]

JUDGED = 10_000
"""Messages up to which the oracle is asked."""


@dataclass(slots=True)
class Run:
    rows: list[Row]
    """All, in the order of time."""
    scenario: Mapping[str, Any]
    """What decided it, where it was simulated; empty otherwise."""
    history: History
    report: Report | None
    """What the oracle says; None: there are too many messages to ask it."""
    begin_us: int = 0
    """The time of the first row: times are shown from here on."""
    fates: dict[str, Counter[str]] = field(default_factory=dict)
    """Message -> how many of its receivers have which fate; without a report, only who delivered it."""

    def causes(self, message: str) -> tuple[str, ...]:
        """The direct causes of a message, the newest first."""
        index = self.history.index.get(message)
        if index is None:
            return ()
        return tuple(self.history.messages[cause].id for cause in direct_causes(self.history, index))


def direct_causes(history: History, index: int) -> list[int]:
    """The causes of a message that no other of its causes follows, the newest first."""
    left, found = history.messages[index].ancestors, []
    while left:
        newest = left.bit_length() - 1
        found.append(newest)
        told = history.messages[newest]
        left &= ~(told.ancestors | told.bit)
    return found


def run_of(
    rows: Iterable[Sequence[Any]],
    scenario: Mapping[str, Any] | None,
    *,
    order: str | None = None,
    judged: int = JUDGED,
    watch: Watch | None = None,
) -> Run:
    """`order`: every message is judged, and has the causes, as if it had asked for this order. `watch` is told how far
    it is."""
    rows = rows if order is None else as_if(rows, order)
    told = [
        row if isinstance(row, Row) else Row._make(row) for row in (rows if watch is None else counted(rows, watch))
    ]
    history = History(told)
    told.sort(key=lambda row: (time_of(row), row.process, row.step))
    report = check(told, scenario=scenario, watch=watch) if len(history.messages) <= judged else None
    run = Run(told, scenario or {}, history, report, time_of(told[0]))
    for row in told:
        if row.kind == "publish" and row.message is not None:
            run.fates.setdefault(row.message, Counter())
        elif row.kind == "deliver" and row.message in run.fates and row.reason in ("causes", "deadline"):
            run.fates[row.message]["delivered"] += 1
    for message, _, fate in report.left_out if report is not None else ():
        run.fates.setdefault(message, Counter())[fate] += 1
    return run
