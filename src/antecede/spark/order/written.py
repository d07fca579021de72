"""A table ordered in this process and written as Spark would write it; where every row went.

Decided in this file: what a report counts, and that it is counted from what was written and committed, not from what
was meant to be. Lines that are no rows go to a table of their own (file, reason, row).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from antecede.errors import InputError
from antecede.spark.manifest import Manifest, commit, committed, local_path
from antecede.spark.order.arrow import lists
from antecede.spark.order.columns import FOREIGN, Columns, check
from antecede.spark.order.local import order_local
from antecede.spark.parts import Target, write_files
from antecede.spark.tables.cells import TIMES, read_role
from antecede.spark.tables.decoded import Aside
from antecede.spark.tables.kinds import spark_schema
from antecede.spark.tables.local import Taken
from antecede.spark.tables.making import array

__all__ = ["ASIDE", "Targets", "not_there", "order_to_files", "outcomes", "report_of", "without_place", "write_table"]

UNITS = {"seconds": (10**9, 10**10), "milliseconds": (10**12, 10**13), "nanoseconds": (10**17, 10**19)}
"""Between which numbers times of 2001 to 2286 lie, in units that are not read here."""

SHOWN = 80
"""Characters of a line that could not be read, in a sentence."""

ASIDE = pa.schema([("file", pa.string()), ("reason", pa.string()), ("row", pa.string())])


class Targets(NamedTuple):
    """Folders. `late`: for rows without a place, which are in `out` too unless it is a batch."""

    out: Path
    late: Path | None
    quarantine: Path
    """For lines that are no rows; made only if there are any."""


def order_to_files(taken: Taken, columns: Columns, to: Targets) -> dict[str, Any]:
    """Order what was read and write it; the report."""
    check(columns, taken.table.column_names, dict(zip(taken.table.column_names, taken.table.schema.types, strict=True)))
    try:
        ordered = order_local(taken.table, columns)
    except InputError as fault:  # a parent that is said to be nowhere may stand in a line that could not be read
        raise InputError(f"{fault}{unread(taken.aside)}") from None
    written = [to.out]
    if to.late is None:
        write_table(to.out, ordered)
    else:
        fates: Any = ordered["fate"]
        placed = array([fate == "delivered" for fate in fates.to_pylist()], pa.bool_())
        write_table(to.out, ordered.filter(placed))
        write_table(to.late, ordered.filter(array([not one for one in placed.to_pylist()], pa.bool_())))
        written.append(to.late)
    if taken.aside:
        write_table(to.quarantine, aside_table(taken.aside))
    rows = [row for table in written for row in outcomes(table)]
    aside = rows_of(to.quarantine) if taken.aside else 0
    return {**report_of("local", taken.rows_in, rows, aside), "notes": odd_times(taken.table, columns)}


def odd_times(table: Any, columns: Columns) -> list[str]:
    """A sentence for each column of times in which whole numbers are not the microseconds that they are taken for: they
    all lie where seconds, milliseconds or nanoseconds since 1970 would be today. Of no weight where nobody waits."""
    said: list[str] = []
    for role in TIMES if columns.bounded else ():
        name = getattr(columns, role)
        if name is None or pa.types.is_temporal(table.schema.field(name).type):
            continue
        values = read_role(role, table[name]).values
        low, high = (one.as_py() for one in pa.compute.min_max(values).values())
        unit = next(
            (unit for unit, (least, most) in UNITS.items() if low is not None and least <= low <= high < most), ""
        )
        if unit:
            said.append(
                f"The numbers of column {name} look like {unit} since 1970, and were taken for microseconds: with "
                "other numbers rows wait longer or shorter."
            )
    return said


def unread(aside: Sequence[Aside]) -> str:
    """That lines could not be read, as the end of a sentence.

    >>> unread([Aside("log.csv", "not UTF-8", "1,,M\\\\xfcller")])
    '. 1 line could not be read, the first in log.csv: not UTF-8: 1,,M\\\\xfcller'
    """
    if not aside:
        return ""
    file, reason, row = aside[0]
    lines = f"{len(aside):,} line{'s' * (len(aside) > 1)}"
    return f". {lines} could not be read, the first in {file}: {reason}{f': {row[:SHOWN]}' if row else ''}"


def aside_table(aside: Sequence[Aside]) -> pa.Table:
    columns = [array(column, pa.string()) for column in zip(*aside, strict=True)]
    return pa.Table.from_arrays(columns, schema=ASIDE)


def write_table(path: Path, table: pa.Table) -> None:
    """One committed write, as `df.write.format("antecede")` makes it."""
    root = local_path(str(path))
    target = Target(str(root), spark_schema(table.schema))
    root.mkdir(parents=True, exist_ok=True)
    files = write_files(target, iter(table.to_batches()), 0)
    commit(root, Manifest(-1, None, target.schema, (), files))


def rows_of(path: Path) -> int:
    return sum(manifest.rows for manifest in committed(local_path(str(path))))


class Outcome(NamedTuple):
    """Rows of one fate: how many, and what they tell in all."""

    fate: str
    rows: int
    missing: int
    foreign: int
    revealed: int


def outcomes(path: Path) -> list[Outcome]:
    """What the committed files hold."""
    import pyarrow.parquet as pq

    root = local_path(str(path))
    counts: dict[str, list[int]] = {}
    for file in (file for manifest in committed(root) for file in manifest.files):
        for batch in pq.ParquetFile(root / file.path).iter_batches(columns=["fate", "missing", "revealed"]):
            told: Any = zip(
                batch["fate"].to_pylist(), lists(batch["missing"]), batch["revealed"].to_pylist(), strict=True
            )
            for fate, missing, revealed in told:
                mine = counts.setdefault(fate, [0, 0, 0, 0])
                mine[0] += 1
                mine[3] += revealed
                if missing:
                    foreign = sum(one.startswith(FOREIGN) for one in missing)
                    mine[1] += len(missing) - foreign
                    mine[2] += foreign
    return [Outcome(fate, *mine) for fate, mine in counts.items()]


def without_place(path: Path, id: str, limit: int) -> Iterator[tuple[Any, str, str | None]]:
    """The first rows that were not delivered: id, fate, and why, where the row says so."""
    import pyarrow.parquet as pq

    root = local_path(str(path))
    for file in (file for manifest in committed(root) for file in manifest.files):
        for batch in pq.ParquetFile(root / file.path).iter_batches():
            columns = (batch.column(name).to_pylist() for name in (id, "fate", "why"))
            for name, fate, why in zip(*columns, strict=True):
                if fate != "delivered":
                    if limit == 0:
                        return
                    limit -= 1
                    yield name, fate, why


def not_there(path: Path, limit: int, *, foreign: bool = False) -> list[str]:
    """The first names in `missing`: of parents that were not there, or (`foreign`) of those in other groups."""
    import pyarrow.parquet as pq

    root = local_path(str(path))
    found: dict[str, None] = {}
    for file in (file for manifest in committed(root) for file in manifest.files):
        for batch in pq.ParquetFile(root / file.path).iter_batches(columns=["missing"]):
            for missing in lists(batch["missing"]):
                for name in missing or ():
                    if name.startswith(FOREIGN) == foreign:
                        found[name.removeprefix(FOREIGN) if foreign else name] = None
                if len(found) >= limit:
                    return list(found)[:limit]
    return list(found)


def report_of(engine: str, rows_in: int, found: Iterable[Outcome], quarantined: int, held: int = 0) -> dict[str, Any]:
    """Where every row went."""
    fates: Counter[str] = Counter()
    sums: Counter[str] = Counter()
    for one in found:
        fates[one.fate] += one.rows
        sums.update(missing=one.missing, foreign=one.foreign, revealed=one.revealed)
    rows_out = sum(fates.values())
    return {
        "engine": engine,
        "rows_in": rows_in,
        "rows_out": rows_out,
        "quarantined": quarantined,
        "held": held,
        "reconciled": rows_in == rows_out + quarantined + held,
        "fates": dict(sorted(fates.items())),
        "missing": sums["missing"],
        "foreign": sums["foreign"],
        "revealed": sums["revealed"],
    }
