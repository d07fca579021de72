"""What is refused before anything runs, and which cells are read."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.order.columns import Columns, check, refuse
from antecede.spark.tables.cells import CLOCK


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"id": "id"}, "name parents, or sender and seq, or clock"),
        ({"parents": "p"}, "name the column of the id"),
        ({"id": "id", "seq": "n"}, "name the column of the sender"),
        ({"id": "id", "clock": "c"}, "name the column of the sender"),
        ({"sender": "s", "seq": "n", "clock": "c"}, "clock or seq, not both"),
        ({"id": 3, "parents": "p"}, "name of a column"),
        ({"id": "id", "parents": "p", "unknown": "wait"}, "may be 'skip'"),
        ({"id": "id", "parents": "p", "foreign": "x"}, "'project'"),
        ({"id": "id", "parents": "p", "foreign": "project"}, "group="),
        ({"id": "id", "parents": "p", "wait_us": -1}, "not below 0"),
        ({"id": "id", "parents": "p", "wait_us": True, "time": "at"}, "whole number"),
        ({"id": "id", "parents": "p", "wait_us": 5}, "arrived="),
        ({"id": "id", "parents": "p", "remember_us": 5}, "arrived="),
        ({"id": "id", "parents": "p", "time": "at", "wait_us": 5, "remember_us": 5}, "longer than wait_us"),
        ({"id": "id", "parents": "p", "group_of": "parent"}, "group="),
    ],
)
def test_what_cannot_work_is_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        refuse(Columns(**options))


KINDS = {
    "id": pa.string(), "p": pa.list_(pa.string()), "s": pa.string(), "n": pa.int64(), "g": pa.string(),
    "at": pa.timestamp("us", "UTC"), "x": pa.bool_(), "b": pa.binary(), "c": CLOCK,
}  # fmt: skip


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"id": "nope", "parents": "p"}, "there is no column nope for id; the table has id, p, s"),
        ({"id": "x", "parents": "p"}, "column x is boolean; for id it must be text or a whole number"),
        ({"id": "id", "parents": "c"}, "column c is map<string,bigint>; for parents"),
        ({"id": "id", "parents": "p", "group": "b"}, "column b is binary; for group"),
        ({"id": "id", "parents": "p", "arrived": "x"}, "a timestamp, whole microseconds, or text"),
        ({"sender": "s", "clock": "p"}, "map of text to whole numbers"),
        ({"sender": "s", "seq": "x"}, "column x is boolean; for seq"),
    ],
)
def test_a_table_that_does_not_fit_is_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check(Columns(**options), list(KINDS), KINDS)


def test_a_table_with_our_columns_is_refused() -> None:
    plain = Columns(id="id", parents="p")
    with pytest.raises(InputError, match="already has a column fate"):
        check(plain, [*KINDS, "fate"], {**KINDS, "fate": pa.string()})
    with pytest.raises(InputError, match="same name"):
        check(plain, [*KINDS, "id"], KINDS)


def test_which_cells_are_read() -> None:
    assert Columns(id="a", parents="p", sender="s", group="g").read == {"id": "a", "parents": "p"}
    assert Columns(id="a", sender="s", seq="n", time="t").read == {"id": "a", "sender": "s", "seq": "n", "time": "t"}
