"""What came of a pipeline: one line per stage, and whether every row is accounted for.

Decided in this file: rows reconcile when rows in = rows of the order stage + rows in quarantine + rows still held
(+ rows not read yet, where a stream was interrupted);
damaged files stand in quarantine too, but nobody knows how many rows they held, so they are counted apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec

__all__ = ["DAMAGED", "ROWS_IN", "Report", "Stage"]

ROWS_IN, DAMAGED = "rows in", "damaged"
"""Among the counts of the quarantine stage: what was read in all, and entries that are no rows."""


@dataclass(frozen=True)
class Stage:
    """One line of the report."""

    name: str
    rows: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """Rows by reason (quarantine), fate (ordered), interest (fused) or verdict (findings)."""
    seconds: float | None = None
    repeated: bool = True
    """False: it was finished before, and nothing that it depends on has changed."""


@dataclass(frozen=True)
class Report:
    output: str
    rows_in: int
    stages: tuple[Stage, ...]
    held: int = 0
    """Continuous: rows that still wait for what they come after, counted in the state of the order stage."""
    unread: int = 0
    """Continuous, when it was interrupted: rows that came and were not read yet."""
    oldest_held_us: int | None = None
    """Continuous: how long the oldest of the held rows has waited, by the arrivals of the rows themselves."""

    def stage(self, name: str) -> Stage | None:
        return next((stage for stage in self.stages if stage.name == name), None)

    @property
    def rows_out(self) -> int:
        return sum(stage.rows for stage in self.stages if stage.name in ("quarantine", "ordered")) - self.damaged

    @property
    def damaged(self) -> int:
        """Files, or parts of files, that could not be read: entries in quarantine that are no rows."""
        quarantine = self.stage("quarantine")
        return quarantine.counts.get(DAMAGED, 0) if quarantine else 0

    @property
    def reconciled(self) -> bool:
        """Whether every row that went in is accounted for."""
        return self.rows_in == self.rows_out + self.held + self.unread and self.unread >= 0

    def to_json(self) -> dict[str, Any]:
        body: dict[str, Any] = msgspec.to_builtins(self)
        return body | {"rows_out": self.rows_out, "damaged": self.damaged, "reconciled": self.reconciled}
