"""Which columns of the data hold what a domain needs: the user's own wherever they do, so that nothing travels twice.

Decided in this file: the arrival sequence. Rows are sorted by group, time of arrival, id and then all that matters,
so that nothing is left to chance; what is null comes last, in Spark as in Arrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from antecede.spark.order.arrow import compute, lists, together
from antecede.spark.order.behind import BEGIN
from antecede.spark.order.columns import WORKING, Columns
from antecede.spark.tables.cells import is_plain
from antecede.spark.tables.making import from_numpy, to_numpy

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["AS_READ", "Work", "arranged", "times", "work_of"]

FIRST = BEGIN + 1
"""When a row came that does not say when: time does not pass with it."""


class Work(NamedTuple):
    """Names of columns; None: there is nothing of the kind."""

    group: str | None
    name: str
    other: str | None
    needs: str
    foreign: str | None
    at: str | None
    late: str | None
    due: str | None
    tie: str
    """Ids in their own order: numbers go by their value, not by their digits."""
    fault: str | None = None
    """Why a row is invalid: where more can be wrong with it than that it has no id."""

    def extra(self) -> list[str]:
        """Columns that travel besides the user's own."""
        return [name for name in WORKING if name in self]

    def sorted_by(self) -> list[str]:
        """What rows are sorted by; the names they need come last."""
        return list(dict.fromkeys(key for key in (self.group, self.at, self.tie, self.late, self.due) if key))

    def sort(self) -> list[Column]:
        from pyspark.sql import functions as f

        needs = f.coalesce(self.needs, f.array().cast("array<string>"))
        return [f.col(key).asc_nulls_last() for key in self.sorted_by()] + [needs.asc()]

    def narrow(self, read: DataFrame) -> DataFrame:
        return read.select(*(name for name in read.columns if name not in WORKING), *self.extra())


AS_READ = Work("_group", "_name", "_other", "_needs", "_foreign", "_at", "_late", "_due", "_name")


def work_of(columns: Columns, kinds: Mapping[str, pa.DataType | None], *, projected: bool = False) -> Work:
    """`kinds`: the columns of the user's table, in their order; `projected`: parents were replaced."""
    c = columns
    is_ = pa.types
    places = {name: f"c{number}" for number, name in enumerate(kinds)}

    def own(name: str | None, fitting: Callable[[pa.DataType], bool]) -> str | None:
        kind = None if name is None else kinds[name]
        return None if name is None or kind is None or not fitting(kind) else places[name]

    def plain_time(kind: pa.DataType) -> bool:
        return kind.equals(pa.int64()) or (is_.is_timestamp(kind) and kind.tz is not None)

    faulty = c.numbered or not all(is_plain(role, kinds[name] or pa.null()) for role, name in c.read.items())
    clock = c.arrived or c.time
    limited = c.remember_us is not None and c.time is not None
    in_time = None if c.deadline is None else own(c.deadline, plain_time) or "_late"
    by_number = own(c.id, is_.is_signed_integer)
    name = (None if faulty else own(c.id, is_.is_string)) or "_name"
    parents_alone = not c.numbered and c.group_of is None and not projected
    return Work(
        group=None if c.group is None else own(c.group, is_.is_string) or "_group",
        name=name,
        other="_other" if c.numbered and c.id is not None else None,
        needs=(own(c.parents, is_texts) if parents_alone else None) or "_needs",
        foreign="_foreign" if c.group_of is not None else None,
        at=None if clock is None else own(clock, plain_time) or "_at",
        late="_late" if limited else in_time,
        due="_due" if c.wait_us is not None or (limited and in_time == "_late") else in_time,
        tie=by_number or name,
        fault="_fault" if faulty else None,
    )


def is_texts(kind: pa.DataType) -> bool:
    return kind.equals(pa.list_(pa.string()))


def times(batch: pa.RecordBatch, name: str | None, otherwise: int) -> list[int]:
    """Microseconds; `otherwise` where there are none."""
    if name is None:
        return [otherwise] * batch.num_rows
    array: Any = batch[name].cast(pa.int64())
    if array.null_count:
        return [otherwise if one is None else one for one in array.to_pylist()]
    return to_numpy(array).tolist()  # type: ignore[no-any-return]


def arranged(chunks: list[pa.RecordBatch], work: Work) -> pa.RecordBatch:
    """The rows of a micro-batch in the order of arrival, group by group."""
    rows = together(chunks)
    order: Any = compute.sort_indices(rows, [(key, "ascending") for key in work.sorted_by()])
    rows = rows.take(order)
    names: Any = rows[work.tie]
    same = compute.equal(names.slice(1), names.slice(0, max(0, len(names) - 1)))
    again = to_numpy(compute.and_kleene(same, compute.is_valid(same)).cast(pa.int8())).astype(bool)
    return untied(rows, work, again) if again.any() else rows


def untied(rows: pa.RecordBatch, work: Work, again: Any) -> pa.RecordBatch:
    """Rows with one name, one after the other: those that are equal in time too go by what they need."""
    places = np.arange(rows.num_rows)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], again, [False]]).astype(np.int8)))
    for first, last in edges.reshape(-1, 2):
        run = rows.slice(first, last - first + 1)
        keys = enumerate(zip(*(run[key].to_pylist() for key in work.sorted_by()), strict=True))
        needs = [[need or "" for need in mine] for mine in lists(run[work.needs])]
        equals = [[place for place, _ in equal] for _, equal in groupby(keys, key=itemgetter(1))]
        places[first : last + 1] = first + np.array([p for mine in equals for p in sorted(mine, key=needs.__getitem__)])
    return rows.take(from_numpy(places, pa.int64()))
