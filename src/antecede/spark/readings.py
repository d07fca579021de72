"""Between tables and the fold of `fuse`: columns to readings, cuts to rows of results; Arrow in, Arrow out, no Spark.

Decided in this file: what an interest is and which rows it takes; which number a message has among its sender's; what
is aggregated (numbers that are not finite are no readings and are left out like nulls; sums are exact, so that no order
of adding shows); what a user's own function is handed; and what completeness means.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from antecede.core.fold.counting import PATIENCE, named
from antecede.core.fold.cuts import HOLD, Cut, CutRule, Fold, Reading
from antecede.core.fold.results import as_row, check_over, counted_in, result_of
from antecede.core.topics import matches
from antecede.errors import InputError

__all__ = [
    "SEPARATOR",
    "Bounds",
    "Function",
    "Interest",
    "Plan",
    "folded",
    "fuse_table",
    "interest_of",
    "named",
    "plan_of",
]

SEPARATOR = "\n"
"""Lists of names cross into Python as one string each: a list column costs several times as much."""
compute: Any = pc  # its functions are made at import; the stubs know some of them only


@dataclass(frozen=True, slots=True)
class Interest:
    """What one subscriber wants: topics that match one of `filters`, as in MQTT, and rows of which `where` is true.

    `where` is a condition in SQL over the columns of the ordered rows; None: all rows.
    """

    filters: tuple[str, ...] = ("#",)
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A user's own aggregate: called once per cut and interest with the counted readings, one row each.

    `call` gets a pandas DataFrame, or with `frame="arrow"` an Arrow table, with the columns `sender`, `id`,
    `causal_pos`, `time_us` and the values by their names; what it returns is of type `returns` (an Arrow type's name).
    """

    call: Callable[[Any], Any]
    returns: str = "double"
    frame: str = "pandas"

    def __post_init__(self) -> None:
        if self.frame not in ("pandas", "arrow"):
            raise InputError(f"A function over {self.frame!r}: it is pandas or arrow.")
        try:
            _arrow(self.returns)
        except ValueError:
            raise InputError(f"A function returns {self.returns!r}, which is no Arrow type: try double.") from None


def interest_of(wanted: object) -> Interest:
    """An Interest, a filter, several filters, or None for everything."""
    if isinstance(wanted, Interest):
        return wanted
    if wanted is None:
        return Interest()
    filters = (wanted,) if isinstance(wanted, str) else wanted
    if isinstance(filters, Sequence) and filters and all(isinstance(f, str) and f for f in filters):
        return Interest(tuple(filters))
    raise InputError(f"An interest is {wanted!r}: give a topic filter, a list of them, or an Interest.")


@dataclass(frozen=True, slots=True)
class Plan:
    """What to fuse and how, for all groups. Plain data (and the user's functions): it travels to every task."""

    interests: Mapping[str, Interest]
    values: tuple[str, ...] = ()
    functions: Mapping[str, Function] | None = None
    senders: Mapping[str, frozenset[str]] | None = None
    """Interest -> who is expected; None: whoever was ever heard."""
    over: str = "latest"
    told: bool = True
    """Whether ids are `sender:seq`; else a column says who sent a row."""
    numbered: bool = False
    """Whether a column says which of its sender's messages a row is; it may then be missed as `sender:seq` too."""
    by: str | None = None
    """The column that divides interests, which results have too."""

    def __post_init__(self) -> None:
        check_over(self.over)
        if self.by is not None and self.senders is not None:
            raise InputError(f"by={self.by!r} divides senders as they are heard: leave out senders=.")

    def split(self, id: str) -> tuple[str, int] | None:
        return named(id) if self.told or self.numbered else None

    # -- columns to readings ---------------------------------------------------------------------------------------

    def readings(self, table: pa.Table) -> list[Reading]:
        """Rows of the columns `pos`, `id`, `sender`, `seq`, `parents`, `missing`, `clock`, `time_us`, `mark`, `topics`,
        `where_i` and `value_i` (see `fuse.prepare`); lists are joined by SEPARATOR."""
        count = table.num_rows
        nothing: list[Any] = [None] * count
        column: dict[str, list[Any]] = {}
        for name in table.column_names:
            values = table.column(name)
            column[name] = nothing if values.null_count == count else values.to_pylist()
        wheres = [column.get(f"where_{i}") for i in range(len(self.interests))]
        conditions = any(where is not None for where in wheres)
        taken: dict[str | None, tuple[int, ...]] = {}
        filters = list(enumerate(interest.filters for interest in self.interests.values()))
        numbers = [[_finite(v) for v in column[f"value_{i}"]] for i in range(len(self.values))]
        rows = zip(
            *(
                column[name]
                for name in ("pos", "id", "sender", "seq", "parents", "missing", "clock", "time_us", "mark")
            ),
            column.get("topics", nothing),
            column.get("by", nothing),
            zip(*numbers, strict=True) if numbers else [()] * count,
            strict=True,
        )
        found = []
        for row, (pos, id, sender, seq, parents, missing, clock, time_us, mark, topic, by, reading) in enumerate(rows):
            interests = taken.get(topic)
            if interests is None:
                have = topic.split(SEPARATOR) if topic is not None else None
                interests = taken[topic] = tuple(i for i, wanted in filters if _wants(wanted, have))
            if conditions:
                interests = tuple(i for i in interests if (where := wheres[i]) is None or where[row])
            if self.told:
                place = named(id)
                if place is None:
                    raise InputError(
                        f"The id {id!r} is not sender:seq: name the column of the senders (sender=..., in a pipeline's "
                        "file `sender` below [columns])."
                    )
                sender, number = place
            else:
                number = pos if seq is None else seq
            vector = _clock(clock) if clock else ()
            if vector:
                number = dict(vector).get(sender, pos)
            parents = tuple(parents.split(SEPARATOR)) if parents else ()
            missing = tuple(missing.split(SEPARATOR)) if missing else ()
            found.append(
                Reading(pos, id, sender, number, parents, missing, vector, time_us, bool(mark), interests, reading, by)
            )
        return found

    # -- cuts to results -------------------------------------------------------------------------------------------

    def schema(self) -> pa.Schema:
        """Of the results, without the group."""
        names = pa.list_(pa.string())
        latest: list[Any] = [
            ("sender", pa.string()),
            ("id", pa.string()),
            ("causal_pos", pa.int64()),
            ("time_us", pa.int64()),
        ]
        latest += [(name, pa.float64()) for name in self.values]
        fields: list[Any] = [("interest", pa.string()), *([] if self.by is None else [(self.by, pa.string())])]
        fields += [(name, pa.int64()) for name in ("cut", "cut_pos", "cut_us", "rows", "count")]
        for name in self.values:
            fields += [(f"{name}_count", pa.int64())]
            fields += [(f"{name}_{what}", pa.float64()) for what in ("mean", "min", "max")]
        fields += [(name, _arrow(f.returns)) for name, f in (self.functions or {}).items()]
        fields += [("latest", pa.list_(pa.struct(latest))), ("completeness", pa.float64()), ("absent", names),
                   ("held", pa.int64()), ("incomplete", names), ("missing", names), ("dropped", pa.int64()),
                   ("given_up", pa.int64()), ("causes", names)]  # fmt: skip
        return pa.schema(fields)

    def results(self, cuts: Iterable[Cut]) -> pa.Table:
        """One row per cut and interest, and value of `by`."""
        names = list(self.interests)
        rows = [
            self._result(cut, place, names[interest], by)
            for cut in cuts
            for place, (interest, by) in sorted(enumerate(cut.places), key=_by_name)
        ]
        return pa.Table.from_pylist(rows, self.schema())

    def _result(self, cut: Cut, place: int, name: str, by: str | None) -> dict[str, Any]:
        expected = (self.senders or {}).get(name, frozenset())
        row = {"interest": name, **result_of(cut, place, values=self.values, over=self.over, senders=expected)}
        if self.by is not None:
            row[self.by] = by
        if self.functions:
            frames = self._frames(counted_in(cut, place, self.over))
            row.update({name: _plain(f.call(frames[f.frame])) for name, f in self.functions.items()})
        return row

    def _frames(self, counted: list[Reading]) -> dict[str, Any]:
        latest = self.schema().field("latest").type.value_type
        table = pa.Table.from_pylist([as_row(r, self.values) for r in counted], pa.schema(list(latest)))
        wanted = {f.frame for f in (self.functions or {}).values()}
        return {"arrow": table, "pandas": table.to_pandas() if "pandas" in wanted else None}


def _by_name(entry: tuple[int, tuple[int, str | None]]) -> tuple[int, bool, str]:
    interest, by = entry[1]
    return interest, by is None, by or ""


def _wants(filters: tuple[str, ...], topics: list[str] | None) -> bool:
    if topics is None:
        return "#" in filters
    return any(matches(filter, topic) for filter in filters for topic in topics)


def _arrow(alias: str) -> Any:
    find: Any = pa.type_for_alias  # its stub knows each alias one by one
    return find(alias)


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _clock(text: str) -> tuple[tuple[str, int], ...]:
    return tuple(place for name in text.split(SEPARATOR) if (place := named(name)) is not None)


def _plain(value: Any) -> Any:
    """A user's function may well return a numpy or Arrow scalar."""
    if isinstance(value, pa.Scalar):
        return value.as_py()
    return value.item() if hasattr(value, "item") and not isinstance(value, str | bytes) else value


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much and how long is held; see `counting`."""

    hold: int = HOLD
    patience: int | None = None
    """None: PATIENCE rows for a sender that is known, and to the second cut for a cause of nobody known."""

    def __post_init__(self) -> None:
        for name in ("hold", "patience"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least 1.")

    def fold(self, plan: Plan, rule: CutRule) -> Fold:
        patience = PATIENCE if self.patience is None else self.patience
        brief, by = self.patience is None, plan.by is not None
        return Fold(rule, len(plan.interests), plan.split, self.hold, patience, brief=brief, by=by)


def plan_of(
    interests: Mapping[str, object] | None,
    values: Sequence[str],
    functions: Mapping[str, Function] | None,
    senders: Iterable[str] | Mapping[str, Iterable[str]] | None,
    over: str,
    told: bool,
    numbered: bool = False,
    by: str | None = None,
) -> Plan:
    wanted = {name: interest_of(interest) for name, interest in (interests or {"all": None}).items()}
    if isinstance(values, str):
        raise InputError(f"values is the string {values!r}: give a list of columns, [{values!r}].")
    expected = None
    if isinstance(senders, Mapping):
        unknown = sorted(set(senders) - set(wanted))
        if unknown:
            raise InputError(f"senders are given for {unknown[0]!r}, which is no interest: {', '.join(wanted)}.")
        expected = {name: frozenset(listed) for name, listed in senders.items()}
    elif senders is not None:
        everybody = frozenset(senders)
        expected = dict.fromkeys(wanted, everybody)
    plan = Plan(wanted, tuple(values), dict(functions or {}), expected, over, told, numbered, by)
    names = plan.schema().names
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"The results would have two columns {twice[0]!r}: rename the value or the function.")
    return plan


def fuse_table(
    table: pa.Table,
    *,
    id: str = "id",
    parents: str | None = None,
    sender: str | None = None,
    seq: str | None = None,
    topic: str | None = None,
    time: str | None = None,
    values: Sequence[str] = (),
    interests: Mapping[str, object] | None = None,
    every: int | None = None,
    every_us: int | None = None,
    marks: str | None = None,
    over: str = "latest",
    functions: Mapping[str, Function] | None = None,
    senders: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    hold: int = HOLD,
    patience: int | None = None,
    last: bool = False,
    by: str | None = None,
) -> pa.Table:
    """What `fuse` does, for one group in memory and without Spark: no conditions in SQL, times in microseconds."""
    plan = plan_of(interests, values, functions, senders, over, sender is None, seq is not None, by)
    if any(interest.where for interest in plan.interests.values()):
        raise InputError("A condition in SQL needs Spark: filter the table, or use fuse.")
    if "fate" in table.column_names:
        table = table.filter(compute.equal(table["fate"], "delivered"))
    nulls = pa.nulls(len(table), pa.string())

    def joined(name: str | None) -> Any:
        if name is None or name not in table.column_names:
            return nulls
        column = table[name]
        return compute.binary_join(column, SEPARATOR) if pa.types.is_list(column.type) else column

    plain: dict[str, Any] = {
        "pos": table["causal_pos"],
        "id": table[id],
        "sender": nulls if sender is None else table[sender],
        "seq": nulls.cast(pa.int64()) if seq is None else table[seq],
        "parents": joined(parents),
        "missing": joined("missing"),
        "clock": nulls,
        "time_us": nulls.cast(pa.int64()) if time is None else table[time],
        "mark": nulls.cast(pa.bool_()) if marks is None else table[marks],
        "topics": joined(topic),
        "by": nulls if by is None else table[by].cast(pa.string()),
    }
    plain |= {f"value_{i}": table[name].cast(pa.float64()) for i, name in enumerate(plan.values)}
    return folded(pa.table(plain), plan, CutRule(every, every_us, marks), Bounds(hold, patience), last)


def folded(table: pa.Table, plan: Plan, rule: CutRule, bounds: Bounds, last: bool) -> pa.Table:
    """All the rows of a group to all its results."""
    fold = bounds.fold(plan, rule)
    cuts = list(fold.push(plan.readings(table)))
    rest = list(fold.close())  # also says when positions are not contiguous
    return plan.results(cuts + rest if last else cuts)
