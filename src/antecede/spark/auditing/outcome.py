"""What an audit says in the end, whichever engine did the work: tables of rows, and their counts.

Decided in this file: the columns of findings, what is clean (no violation, nothing set aside, no tail unknown; what is
in doubt or missing is told and changes nothing), and how the sums of rows are reconciled: rows are those that were
judged and those that were set aside.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute

__all__ = ["AUDITED", "FINDING", "JUDGED", "QUARANTINED", "TAIL", "Audit", "summary", "table_summary"]

AUDITED = ("inversion", "gap", "overdue", "duplicate", "stuck")
"""Of the oracle's verdicts, those that are looked for in traces; the others are `antecede check`'s."""

JUDGED = ("inversion", "duplicate")
"""The verdicts on tables of other systems."""

FINDING = ("verdict", "source", "run", "process", "message", "other", "step", "text")
TAIL = ("source", "run", "process", "text")
QUARANTINED = ("source", "run", "process", "step", "message", "text")

Totals = Counter[tuple[str, str]]


@dataclass
class Audit:
    """What was found. The tables are Spark's DataFrames or Arrow tables, as the engine is; `summary` is counted."""

    findings: Any
    """verdict, source, run, process, message, other, step, text: every violation."""
    in_doubt: Any
    """The same columns: what clocks, or rows that say different things, leave open. Counted, never a violation."""
    tails: Any
    """source, run, process, text: processes whose records stop without an end."""
    quarantine: Any
    """source, run, process, step, message, text: what could not be judged, and why."""
    missing: Any = None
    """Of tables only, the columns of findings: parents that never came, steps that clocks count and no row tells."""
    summary: dict[str, Any] = field(default_factory=dict)
    """Counts: of findings by verdict, and of all rows, so that they can be reconciled."""

    @property
    def counts(self) -> dict[str, int]:
        """Findings per verdict; every verdict is named, also those with none."""
        counts: dict[str, int] = self.summary["counts"]
        return counts

    @property
    def clean(self) -> bool:
        """Nothing was found, everything was judged, and every process told its whole story."""
        return not (sum(self.counts.values()) or self.summary["quarantined"] or self.summary["unknown_tails"])

    def unexpected(self, crashed: Collection[str]) -> int:
        """Processes whose records stop without an end, but for those known to have crashed or still to run."""
        count: int = self.summary["unknown_tails"]
        if not count or not crashed:
            return count
        if isinstance(self.tails, pa.Table):
            return sum(name not in crashed for name in self.tails["process"].to_pylist())
        return int(self.tails.where(~self.tails["process"].isin(list(crashed))).count())

    def to_json(self, limit: int = 10_000) -> dict[str, Any]:
        """As `antecede check --json`, with at most `limit` rows of each table (`left_out` counts the others)."""
        tables = {
            "in_doubt": (self.in_doubt, self.summary["in_doubt"]),
            "unknown_tails": (self.tails, self.summary["unknown_tails"]),
            "quarantine": (self.quarantine, self.summary["quarantined"]),
            "findings": (self.findings, sum(self.counts.values())),
        }
        counts = dict(self.counts)
        if self.missing is not None:
            counts["missing"] = self.summary["missing"] + self.summary["absent"]
            tables["missing"] = (self.missing, counts["missing"])
        rows = {name: first_rows(table, limit) if count else [] for name, (table, count) in tables.items()}
        left_out = {name: max(0, count - limit) for name, (_, count) in tables.items() if count > limit}
        return {"clean": self.clean, **self.summary, "counts": counts, **rows, "left_out": left_out}


SORTED = ("source", "run", "process", "step", "message", "text")
"""By what rows are sorted before the first are told, so that every engine tells the same."""


def first_rows(table: Any, limit: int) -> list[dict[str, Any]]:
    """The first rows when sorted, nulls last."""
    if isinstance(table, pa.Table):
        keys: Any = [(name, "ascending") for name in SORTED if name in table.column_names]
        return list(table.take(pa.compute.sort_indices(table, sort_keys=keys).slice(0, limit)).to_pylist())
    keys = [table[name].asc_nulls_last() for name in SORTED if name in table.columns]
    return [row.asDict() for row in table.orderBy(*keys).limit(limit).collect()]


def all_of(totals: Totals, what: str) -> int:
    return sum(count for (which, _), count in totals.items() if which == what)


def counts_of(totals: Totals, verdicts: Sequence[str]) -> dict[str, Any]:
    """What is said of every audit."""
    refused = totals["refused", "rows"]
    return {
        "rows": totals["counts", "rows"] + refused,
        "rows_refused": refused,
        "deliveries": totals["counts", "deliveries"],
        "messages": totals["counts", "messages"],
        "counts": {verdict: totals["finding", verdict] for verdict in verdicts},
        "in_doubt": all_of(totals, "doubt"),
        "unknown_tails": all_of(totals, "tail"),
        "quarantined": all_of(totals, "quarantine"),
    }


def summary(totals: Totals) -> dict[str, Any]:
    """Of traces."""
    more = {"rows_of_unknown_messages": totals["unknown", "rows"], "processes": totals["counts", "processes"]}
    return counts_of(totals, AUDITED) | more


def table_summary(totals: Totals) -> dict[str, Any]:
    """Of tables of other systems."""
    return counts_of(totals, JUDGED) | {
        "receivers": totals["counts", "processes"],
        "missing": totals["missing", "missing"],
        "absent": totals["absent", "absent"],
        "ties": totals["ties", "rows"],
    }
