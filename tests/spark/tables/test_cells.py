"""How ids, parents, clocks, numbers and times may be written; what is none of these says why."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pytest

from antecede.spark.tables.cells import CLOCK, fits, is_plain, read_cells, read_role

US = 1_704_103_200_000_000
"""2024-01-01 10:00 UTC."""


def read(role: str, cells: list[Any], kind: Any = None) -> list[Any]:
    """Values; where a cell cannot be read, the reason as a set."""
    found = read_role(role, pa.array(cells, kind))
    wrong = [None] * len(cells) if found.wrong is None else found.wrong.to_pylist()
    return [{why} if why else value for value, why in zip(found.values.to_pylist(), wrong, strict=True)]


def test_ids_are_text_or_whole_numbers() -> None:
    assert read("id", ["001", "", None, " a"]) == ["001", {"id is null"}, {"id is null"}, " a"]
    assert read("id", [1, None, -3]) == ["1", {"id is null"}, "-3"]
    assert read("sender", [1.0, float("nan"), 1.5]) == [
        "1", {"sender is null"}, {"sender is neither text nor a whole number: 1.5"},
    ]  # fmt: skip
    assert read("run", ["a", None, ""]) == ["a", None, None]
    assert read("id", ["b", "a", "b"], pa.dictionary(pa.int8(), pa.string())) == ["b", "a", "b"]


@pytest.mark.parametrize(
    ("cell", "means"),
    [
        (None, []),
        ("", []),
        ("  ", []),
        ("a", ["a"]),
        ("a, b;c d", ["a", "b", "c", "d"]),
        ('["a", "b"]', ["a", "b"]),
        (' ["a", null, "", 7, 2.0] ', ["a", "7", "2"]),
        ("[]", []),
        ('["a", ["b"]]', None),
        ('["a", {"b": 1}]', None),
        ('["a", true]', None),
        ('["a"', None),
        ("['a', 'b']", None),
        ("{a,b}", None),
        ("{a}", None),
        ("{3F2504E0-4F89-11D3-9A0C-0305E82C3301}", ["{3F2504E0-4F89-11D3-9A0C-0305E82C3301}"]),
        ('"a", "b', None),
        ("(a", None),
        ("room(1)", ["room(1)"]),
    ],
)
def test_parents_as_text(cell: str | None, means: list[str] | None) -> None:
    assert read("parents", [cell], pa.string()) == ([{f"parents cannot be read: {cell}"}] if means is None else [means])


def test_parents_as_arrays_and_single_values() -> None:
    assert read("parents", [["a", None, ""], None, []], pa.list_(pa.string())) == [["a"], [], []]
    assert read("parents", [[1, 2], None], pa.list_(pa.int32())) == [["1", "2"], []]
    assert read("parents", [[1.0, float("nan")]], pa.list_(pa.float64())) == [["1"]]
    assert read("parents", [4, None]) == [["4"], []]
    assert read("parents", [None, None]) == [[], []]


@pytest.mark.parametrize(
    ("cell", "means"),
    [
        ('{"p": 3, "q": 0, "r": null}', [("p", 3)]),
        ("{}", []),
        ('[["p", 3]]', [("p", 3)]),
        ('{"p": 3.0}', [("p", 3)]),
        ("p:3", None),
        ('{"p": -1}', None),
        ('{"p": "3"}', None),
        ('{"p": 1.5}', None),
        ('{"p": true}', None),
        ('{"p": 1, "p": 2}', None),
        ('{"p": 9223372036854775808}', None),
        ("3", None),
        ("null", None),
        ("[1, 2]", None),
        ("[" * 10_000, None),
    ],
)
def test_clocks_as_text(cell: str, means: list[Any] | None) -> None:
    (found,) = read("clock", [cell])
    assert isinstance(found, set) and "clock is not a vector clock" in found.pop() if means is None else found == means


def test_clocks_as_maps_and_structs_and_the_absent() -> None:
    assert read("clock", [[("p", 3), ("q", 0)], [("p", -1)]], CLOCK)[0] == [("p", 3)]
    assert "not a vector clock" in read("clock", [[("p", -1)]], CLOCK)[0].pop()
    assert read("clock", [{"p": 3, "q": None}]) == [[("p", 3)]]
    assert read("clock", [None, ""], pa.string()) == [{"clock is null"}, {"clock is null"}]


def test_whole_numbers() -> None:
    assert read("seq", [1, None]) == [1, {"seq is null"}]
    assert read("seq", ["1", " 2 ", "x", "1.0", "99999999999999999999"])[:2] == [1, 2]
    assert read("seq", ["x"]) == [{"seq is not a whole number: x"}]
    assert read("seq", ["99999999999999999999"]) == [{"seq is not a whole number: 99999999999999999999"}]
    assert read("position", [2.0, 2.5]) == [2, {"position is neither a whole number nor a time: 2.5"}]
    assert read("position", ["7", "1970-01-01T01:00:00.000002+01:00"]) == [7, 2]
    assert read("seq", [2**64 - 1], pa.uint64()) == [{"seq is not a whole number: 18446744073709551615"}]


@pytest.mark.parametrize(
    "cell",
    [
        "2024-01-01T10:00:00Z",
        "2024-01-01 10:00:00",
        "2024-01-01T12:00:00+02:00",
        "2024-01-01T05:00:00.000-05:00",
        "20240101T100000Z",
        str(US),
        f" {US} ",
    ],
)
def test_times_as_text_with_and_without_zones(cell: str) -> None:
    assert read("time", [cell]) == [US]


def test_times_of_other_types_and_none() -> None:
    moment = datetime(2024, 1, 1, 10, tzinfo=UTC)
    for unit in ("s", "ms", "us", "ns"):
        assert read("arrived", [moment, None], pa.timestamp(unit, "Europe/Paris")) == [US, None]
    assert read("deadline", [date(1970, 1, 2)]) == [86_400_000_000]
    assert read("deadline", [US, None]) == [US, None]
    assert read("deadline", ["soon", "", "1.5", None]) == [
        {"deadline is not a time: soon"}, None, {"deadline is not a time: 1.5"}, None,
    ]  # fmt: skip
    assert read("time", [5.0, 1.5]) == [5, {"time is not a time: 1.5"}]


def test_the_first_thing_wrong_with_a_row_is_told() -> None:
    read_columns, wrong = read_cells({"id": pa.array(["a", None, "c"]), "seq": pa.array(["1", "x", "x"])})
    assert wrong.to_pylist() == [None, "id is null", "seq is not a whole number: x"]
    assert read_columns["seq"].to_pylist() == [1, None, None]


def test_a_long_cell_is_cut_in_the_reason() -> None:
    (why,) = read("seq", ["x" * 1000])
    assert len(why.pop()) < 100


def test_types_that_fit_and_types_that_need_no_reading() -> None:
    texts = pa.list_(pa.string())
    assert fits("parents", texts) and fits("parents", pa.string()) and fits("parents", pa.int64())
    assert not fits("parents", CLOCK) and not fits("parents", pa.list_(texts))
    assert fits("clock", CLOCK) and fits("clock", pa.struct([("p", pa.int32())])) and not fits("clock", texts)
    assert not fits("id", pa.binary()) and not fits("id", pa.bool_()) and not fits("id", None)
    assert fits("group", pa.bool_()) and not fits("group", pa.binary()) and not fits("time", pa.bool_())
    assert is_plain("parents", texts) and not is_plain("parents", pa.string()) and not is_plain("clock", CLOCK)
    assert is_plain("time", pa.timestamp("us")) and not is_plain("time", pa.string()) and is_plain("id", pa.int32())
