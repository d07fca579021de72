"""Rows of tables: which columns are needed, which rows can be read, and what of them travels."""

from __future__ import annotations

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.auditing.table_rows import distinct, keyed, plain, roles_of, sound, texts_of


def test_which_column_plays_which_part() -> None:
    columns: list[tuple[str, pa.DataType | None]] = [("msg", pa.string()), ("refs", pa.list_(pa.string()))]
    named = dict.fromkeys(("id", "parents", "clock", "receiver", "position"))
    assert roles_of(columns, {**named, "id": "msg", "parents": "refs"}) == {"id": 0, "parents": 1}
    for wrong, sentence in (
        ({"id": "msg"}, "one of the two"),
        ({"id": "nope", "parents": "refs"}, "the table has no column nope; it has msg, refs"),
        ({"id": "refs", "parents": "refs"}, "the id refs is array<string>: give text or a whole number"),
        ({"id": "msg", "clock": "refs"}, "the clock refs is array<string>: give a map"),
    ):
        with pytest.raises(InputError, match=sentence):
            roles_of(columns, {**named, **wrong})
    with pytest.raises(InputError, match="more than one column msg"):
        roles_of([*columns, ("msg", pa.string())], {**named, "id": "msg", "parents": "refs"})


def test_rows_that_can_be_read_and_those_that_cannot() -> None:
    table = pa.table({"id": ["a", None, "c"], "parents": ["x y", "", "[1"], "position": [1, 2, 3]})
    rows, bad, why = sound(table)
    assert rows.to_pylist() == [{"id": "a", "parents": ["x", "y"], "position": 1, "run": "", "receiver": "all"}]
    assert bad.column("position").to_pylist() == [2, 3]
    assert why.to_pylist() == ["id is null", "parents cannot be read: [1"]


def test_of_rows_that_say_the_same_one_is_told_at_its_first_position() -> None:
    table = pa.table(
        {"id": ["a", "a", "a", "b"], "parents": [["x", "y"], ["y", "x"], ["x"], []], "position": [5, 3, 4, 1]}
    )
    told = distinct(plain(keyed(sound(table)[0])))
    assert sorted(zip(told.column("id").to_pylist(), told.column("position").to_pylist(), strict=True)) == [
        ("a", 3), ("a", 4), ("b", 1),
    ]  # fmt: skip


def test_what_is_text_in_csv() -> None:
    assert texts_of({"id": "msg", "position": "n", "clock": None}) == {"msg", None}
