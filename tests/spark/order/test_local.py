"""Both engines, row by row: one list of small tables, ordered in this process and on Spark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.order.behind import NEVER
from antecede.spark.order.columns import ADDED, Columns
from antecede.spark.order.local import ORDERED, order_local, working
from antecede.spark.tables.cells import PLAIN
from antecede.spark.tables.kinds import arrow_type
from tests.spark.order.tables import history, in_sequence
from tests.spark.order.twin import Line, Outcome, Twin

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Small:
    """A table: its columns as Spark names their types, its rows, and what it is told."""

    name: str
    schema: str
    rows: list[tuple[Any, ...]]
    told: dict[str, Any]


def rooms(count: int, **kind: Any) -> list[tuple[Any, ...]]:
    rows = []
    for room in range(count):
        for line in history(40_000 + room, **kind):
            rows.append((f"room {room}", line.name, line.needs, line.at, None if line.late == NEVER else line.late))
    return [(number, *row) for number, row in enumerate(rows)]


ROOMS = "number bigint, room string, id string, parents array<string>, at bigint, due bigint"
TEXTS = "number bigint, `the id` string, `my.parents` string, at string"
WITH_CLOCK = "number bigint, id string, who string, clock {}, at bigint"
CLOCKS = ['{"p": 2, "q": 1}', '{"p": 1}', '{"q": 1}', "nonsense", '{"p": -1}', None, '{"q": 3, "p": 2}', "{}"]
MAPS = [{"p": 2, "q": 1}, {"p": 1}, {"q": 1}, {"p": -1}, None, {"q": 3, "p": 2}]
SEQS = [("p", 2), ("p", 1), ("q", 3), ("q", 1), (None, 1), ("p", None), ("", 4), ("p", 2)]
GROUPS = [
    ("x", "x:b", ["y:m"]),
    ("x", "x:a", []),
    ("y", "y:m", ["x:a", "y:n"]),
    ("y", "y:n", ["x:b"]),
    (None, "n", ["y:m"]),
]
MOMENTS = [None, "2024-01-01T10:00:00+01:00", "2024-01-01 08:59:59", "soon", "5", "", "2024-01-01T10:00:00Z"]
SMALL = [
    Small(
        "histories with deadlines",
        ROOMS,
        rooms(30),
        {"id": "id", "parents": "parents", "group": "room", "arrived": "at", "deadline": "due", "foreign": "none"},
    ),
    Small(
        "histories with cycles",
        ROOMS,
        rooms(20, cyclic=True, timed=False),
        {"id": "id", "parents": "parents", "group": "room", "arrived": "at", "unknown": "skip", "foreign": "none"},
    ),
    Small(
        "the same names in other groups",
        ROOMS,
        rooms(6, timed=False),
        {"id": "id", "parents": "parents", "group": "room", "unknown": "skip"},
    ),
    Small(
        "waiting",
        ROOMS,
        rooms(10),
        {"id": "id", "parents": "parents", "group": "room", "time": "at", "wait_us": 3, "foreign": "none"},
    ),
    Small(
        "remembering",
        ROOMS,
        rooms(10),
        {
            "id": "id",
            "parents": "parents",
            "group": "room",
            "arrived": "at",
            "time": "due",
            "wait_us": 2,
            "remember_us": 4,
            "foreign": "none",
        },
    ),
    Small(
        "parents in other groups",
        "number bigint, room string, id string, parents array<string>",
        [(n, *row) for n, row in enumerate(GROUPS)],
        {"id": "id", "parents": "parents", "group": "room", "unknown": "skip"},
    ),
    Small(
        "parents as text",
        TEXTS,
        [
            (0, "b", '["a"]', "0"),
            (1, "c", "a, b;d", "1"),
            (2, "a", None, "2"),
            (3, "x", "{a}", "3"),
            (4, "", "a", "4"),
            (5, "y", '["a"', "5"),
            (6, "d", "", "6"),
        ],
        {"id": "the id", "parents": "my.parents", "arrived": "at", "unknown": "skip"},
    ),
    Small(
        "times as text",
        TEXTS,
        [(n, f"m{n}", f"m{n + 1}", at) for n, at in enumerate(MOMENTS)],
        {"id": "the id", "parents": "my.parents", "arrived": "at", "wait_us": 3_600_000_000},
    ),
    Small(
        "whole numbers",
        "number bigint, id bigint, parents array<int>, at timestamp",
        [
            (0, 10, [9, 2], None),
            (1, 9, [], None),
            (2, 2, None, None),
            (3, None, [2], None),
            (4, 1, [10, None], None),
            (5, 9, [1], None),
        ],
        {"id": "id", "parents": "parents", "arrived": "at", "unknown": "skip"},
    ),
    Small(
        "floats",
        "number bigint, id double, parents double",
        [(0, 2.0, 1.0), (1, 1.0, None), (2, 1.5, None), (3, 3.0, 2.5), (4, float("nan"), 1.0)],
        {"id": "id", "parents": "parents", "unknown": "skip"},
    ),
    Small(
        "clocks as text",
        WITH_CLOCK.format("string"),
        [(n, f"m{n}", "p" if n % 3 else "q", c, n) for n, c in enumerate(CLOCKS)],
        {"id": "id", "sender": "who", "clock": "clock", "arrived": "at", "unknown": "skip"},
    ),
    Small(
        "clocks as maps, no ids",
        WITH_CLOCK.format("map<string,bigint>"),
        [(n, None, "p" if n != 2 else "q", c, n) for n, c in enumerate(MAPS)],
        {"sender": "who", "clock": "clock", "arrived": "at", "unknown": "skip"},
    ),
    Small(
        "clocks as structs",
        WITH_CLOCK.format("struct<p:int,q:int>"),
        [(0, "b", "p", (2, 1), 0), (1, "a", "p", (1, None), 1), (2, "c", "q", (None, 1), 2)],
        {"id": "id", "sender": "who", "clock": "clock", "arrived": "at", "unknown": "skip"},
    ),
    Small(
        "running numbers and parents",
        "number bigint, id string, who string, n int, refs string",
        [(n, f"m{n}", who, seq, "m1" if n == 3 else None) for n, (who, seq) in enumerate(SEQS)],
        {"id": "id", "sender": "who", "seq": "n", "parents": "refs", "unknown": "skip"},
    ),
    Small(
        "running numbers as text, no ids",
        "number bigint, who bigint, n string",
        [(0, 7, "2"), (1, 7, "1"), (2, 7, "x"), (3, 8, "4"), (4, None, "1"), (5, 7, "3")],
        {"sender": "who", "seq": "n", "unknown": "skip"},
    ),
    Small(
        "rows no order can be given to",
        ROOMS,
        [
            (0, "x", None, [], 1, None),
            (1, "x", "self", ["self"], 2, None),
            (2, "x", "a", ["b"], 3, None),
            (3, "x", "b", ["a"], 4, None),
            (4, "x", "c", ["b", None, ""], 5, None),
            (5, None, "d", None, 6, None),
            (6, "x", "c", ["d"], 7, None),
            (7, "x", "", [], 8, None),
        ],
        {"id": "id", "parents": "parents", "group": "room", "unknown": "skip", "foreign": "none"},
    ),
    Small("no rows", ROOMS, [], {"id": "id", "parents": "parents"}),
]


def local_table(small: Small) -> pa.Table:
    """The rows as Arrow has them."""
    from pyspark.sql.types import StructType

    fields = StructType.fromDDL(small.schema).fields
    kinds: Any = [arrow_type(field.dataType.jsonValue()) for field in fields]
    columns = list(zip(*small.rows, strict=True)) if small.rows else [()] * len(fields)
    arrays = []
    for kind, cells in zip(kinds, columns, strict=True):
        struct, plain = pa.types.is_struct(kind), list(cells)
        if pa.types.is_map(kind):
            plain = [None if cell is None else list(cell.items()) for cell in plain]
        elif struct:
            plain = [dict(zip(("p", "q"), cell, strict=True)) for cell in plain]
        arrays.append(pa.array(plain, kind))
    return pa.Table.from_arrays(arrays, names=[field.name for field in fields])


def outcomes(rows: list[dict[str, Any]], told: list[str]) -> list[str]:
    """Every row with what became of it. Rows that are equal in what the operator reads may stand in for each other."""
    return sorted(repr([row[name] for name in (*told, *ADDED)]) for row in rows)


@pytest.mark.parametrize("small", SMALL, ids=lambda small: small.name)
def test_both_engines_give_every_row_the_same_place_and_fate(spark: SparkSession, small: Small) -> None:
    from antecede.spark.order import causal_order

    here = order_local(local_table(small), Columns(**small.told))
    assert here.num_rows == len(small.rows)
    table = spark.createDataFrame(small.rows, small.schema)
    there = table.repartition(2).transform(causal_order(**small.told))
    assert here.column_names == there.columns
    told = [small.told[role] for role in (*PLAIN, "group") if role in small.told and role != "clock"]
    assert outcomes(here.to_pylist(), told) == outcomes([row.asDict(recursive=True) for row in there.collect()], told)


def test_the_local_engine_is_the_twin() -> None:
    rows = rooms(60)
    number, text = pa.int64(), pa.string()  # spelled out: reading ROOMS needs a session, and this engine none
    kinds = (number, text, text, pa.list_(text), number, number)
    arrays = [pa.array(cells, kind) for cells, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
    table = pa.Table.from_arrays(arrays, names=["number", "room", "id", "parents", "at", "due"])
    told = Columns(id="id", parents="parents", group="room", arrived="at", deadline="due", foreign="none")
    found = sorted(
        f"{row['room']} {row['id']} {row['at']} "
        f"{Outcome(row['fate'], row['causal_pos'], row['released_by'], tuple(row['missing']), row['revealed'])}"
        for row in order_local(table, told).to_pylist()
    )
    expected = []
    for room in sorted({row[1] for row in rows}):
        mine = [Line(r[2], r[3], r[4], *[NEVER if r[5] is None else r[5]] * 2) for r in rows if r[1] == room]
        lines = in_sequence(mine)
        expected += [f"{room} {lines[i].name} {lines[i].at} {outcome}" for i, outcome in Twin(lines).run().items()]
    assert found == sorted(expected)


def test_what_a_domain_needs_of_every_row() -> None:
    table = pa.table({"c0": ["7", None], "c1": ["1, 2", None], "c2": ["s", "s"], "c3": [3, 1], "c4": [5, None]})
    told = Columns(id="id", parents="p", sender="s", seq="n", time="at", wait_us=3, remember_us=100)
    places = {"id": "c0", "p": "c1", "s": "c2", "n": "c3", "at": "c4"}
    first, second = working(table, told, places).to_pylist()
    assert [first[name] for name in ("_name", "_other", "_needs", "_at", "_late", "_due")] == [
        "7", "s:3", ["1", "2", "s:2"], 5, 105, 8,
    ]  # fmt: skip
    assert (second["_name"], second["_fault"], second["_at"], second["_due"]) == (None, "id is null", None, NEVER)


def test_what_cannot_work_is_one_sentence() -> None:
    table = pa.table({"id": ["b"], "p": [["a"]], "g": ["x"]})
    with pytest.raises(InputError, match="b comes after a, which is not in the table"):
        order_local(table, Columns(id="id", parents="p"))
    with pytest.raises(InputError, match="there is no column nope"):
        order_local(table, Columns(id="nope", parents="p"))
    with pytest.raises(InputError, match="group_of is a matter of Spark"):
        order_local(table, Columns(id="id", parents="p", group="g", group_of="parent"))
    assert [name for name, _ in ORDERED] == list(ADDED)
