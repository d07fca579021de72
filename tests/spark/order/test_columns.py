"""What is refused before anything runs, and how columns of each kind are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark.order.behind import NEVER
from antecede.spark.order.columns import Columns, check, read, refuse, sequence

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = (
    "id string, p array<string>, s string, n bigint, g string, at timestamp, x double, b binary, c map<string,bigint>"
)


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


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"id": "nope", "parents": "p"}, "there is no column nope for id; the table has id, p, s"),
        ({"id": "x", "parents": "p"}, "column x is double; for id it must be text or a whole number"),
        ({"id": "id", "parents": "n"}, "column n is bigint; for parents"),
        ({"id": "id", "parents": "p", "group": "b"}, "column b is binary; for group"),
        ({"id": "id", "parents": "p", "arrived": "x"}, "a timestamp or whole microseconds"),
        ({"sender": "s", "clock": "p"}, "map of text to whole numbers"),
        ({"sender": "s", "seq": "x"}, "column x is double; for seq"),
    ],
)
def test_a_table_that_does_not_fit_is_one_sentence(spark: SparkSession, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        check(Columns(**options), spark.createDataFrame([], TABLE).schema)


def test_a_table_with_our_columns_is_refused(spark: SparkSession) -> None:
    plain = Columns(id="id", parents="p")
    with pytest.raises(InputError, match="already has a column fate"):
        check(plain, spark.createDataFrame([], TABLE + ", fate string").schema)
    with pytest.raises(InputError, match="same name"):
        check(plain, spark.createDataFrame([], "id string, p array<string>").selectExpr("*", "id").schema)


def test_columns_of_every_kind_are_read(spark: SparkSession) -> None:
    table = spark.createDataFrame(
        [(7, "1, 2;3 4", "s", 3, "g", 5, 9, '{"s": 3, "t": 2, "u": 0}'), (8, None, None, None, None, None, None, None)],
        "`the id` bigint, p string, s string, n int, g string, at bigint, due bigint, c string",
    )

    def told(**options: Any) -> list[Any]:
        columns = Columns(**options)
        check(columns, table.schema)
        return [
            row.asDict()
            for row in read(table, columns).select("_name", "_other", "_needs", "_at", "_late", "_due").collect()
        ]

    first, second = told(id="the id", parents="p", sender="s", seq="n", arrived="at", deadline="due")
    assert first == {
        "_name": "7",
        "_other": "s:3",
        "_needs": ["1", "2", "3", "4", "s:2"],
        "_at": 5,
        "_late": 9,
        "_due": 9,
    }
    assert second == {
        "_name": "8", "_other": None, "_needs": [], "_at": -(2**63) + 1, "_late": NEVER, "_due": NEVER,
    }  # fmt: skip
    first, second = told(sender="s", clock="c", time="at", wait_us=3, remember_us=100)
    assert first == {"_name": "s:3", "_other": None, "_needs": ["s:2", "t:2"], "_at": 5, "_late": 105, "_due": 8}
    assert second["_name"] is None
    assert sequence(Columns(id="the id", parents="p"), table.schema)[2] == "c0"
    assert sequence(Columns(sender="s", seq="n"), table.schema)[2] == "_name"
