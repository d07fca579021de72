"""What the oracle says: findings by verdict, fates by pair. Decided in this file: the names, and what `clean` means.

A report is clean when there is no finding and every process told its whole story: its last row is `end` or `crash`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["FATES", "VERDICTS", "Finding", "Report", "how_many", "ms"]

VERDICTS = ("inversion", "gap", "overdue", "duplicate", "stuck", "idle", "false", "undelivered", "unexplained")
"""`unexplained` is what no rule accounts for: records that contradict each other, a pair without a fate."""

FATES = ("delivered", "superseded", "late", "overflow", "expired", "departed", "pending", "lost")


def ms(time_us: int) -> str:
    """How a person reads it: rows count microseconds, sentences speak of milliseconds.

    >>> ms(1_234_500), ms(20_000)
    ('1,234.5 ms', '20 ms')
    """
    return f"{time_us / 1000:,.3f}".rstrip("0").rstrip(".") + " ms"


def how_many(count: int, what: str) -> str:
    """A number of things, for a person.

    >>> how_many(1, "message"), how_many(1_200, "process")
    ('1 message', '1,200 processes')
    """
    ending = "" if count == 1 else "es" if what.endswith("s") else "s"
    return f"{count:,} {what}{ending}"


@dataclass(slots=True, frozen=True)
class Finding:
    verdict: str
    process: str
    message: str | None
    other: str | None
    """The message it conflicts with, where there is one."""
    step: int | None
    """Where in the process's records; None: at their end."""
    text: str
    """One sentence for a person."""


@dataclass(slots=True)
class Report:
    findings: list[Finding] = field(default_factory=list)
    in_doubt: list[Finding] = field(default_factory=list)
    """What rows cannot decide (clocks without a common time, copies of an attachment that is over): counted, never a
    violation."""
    pairs: int = 0
    fates: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FATES, 0))
    fates_by_role: dict[str, dict[str, int]] = field(default_factory=dict)
    left_out: list[tuple[str, str, str]] = field(default_factory=list)
    """Every pair that was not delivered: message, receiver, fate."""
    messages: int = 0
    processes: int = 0
    rows: int = 0
    unknown_tails: list[str] = field(default_factory=list)
    """Processes whose records stop without `end` or `crash`, and streams without a record: nothing they did later is
    known."""
    unrecorded: list[str] = field(default_factory=list)
    """Who published what others had, and has no records here: most often records of clients that were not asked for."""
    exempt: tuple[str, ...] = ()
    """Verdicts that were not judged, because the recipe does not promise them."""

    @property
    def counts(self) -> dict[str, int]:
        """Findings per verdict; every verdict is named, also those with none."""
        counts = dict.fromkeys(VERDICTS, 0)
        for finding in self.findings:
            counts[finding.verdict] += 1
        return counts

    @property
    def clean(self) -> bool:
        return not self.findings and not self.unknown_tails

    def to_json(self) -> dict[str, Any]:
        def plain(finding: Finding) -> dict[str, Any]:
            return {name: getattr(finding, name) for name in Finding.__slots__}

        return {
            "clean": self.clean,
            "rows": self.rows,
            "processes": self.processes,
            "messages": self.messages,
            "pairs": self.pairs,
            "counts": self.counts,
            "fates": self.fates,
            "fates_by_role": self.fates_by_role,
            "exempt": list(self.exempt),
            "unknown_tails": self.unknown_tails,
            "unrecorded": self.unrecorded,
            "in_doubt": [plain(f) for f in self.in_doubt],
            "findings": [plain(f) for f in self.findings],
        }
