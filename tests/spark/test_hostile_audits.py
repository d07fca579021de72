"""Tables as people have them, audited by both engines: what an independent count says, and no row without a reason."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from antecede.errors import InputError
from antecede.spark.audit_here import table_here
from antecede.spark.auditing.outcome import Audit
from tests.spark.auditing.places_twin import Place, Verdicts, judge_places, told
from tests.spark.hostile import CASES, Case

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ONLY_FOR_ORDER = ("a column of ours",)
"""An audit adds no column."""
TIMES = ("times that are none", "deadlines that are none")
"""An audit reads no times: nothing is wrong with these rows."""
AUDITED = [c for c in CASES if {"parents", "clock"} & set(c.columns) and c.name not in ONLY_FOR_ORDER]
SEVERAL = ("several files", "several files of csv", "an empty csv among others")
"""Where Spark may read another file first: the position is a column."""

ON_SPARK = (
    "floats of a data frame", "dotted and spaced names", "two circles that meet", "one id with other parents",
    "several files of csv", "circles and bad rows in csv", "json lines that are torn", "clocks that are none",
    "a torn file among good ones", "id and ID",
)  # fmt: skip
"""Those that are tried on Spark too, one of each sort: its steps are the same, and each costs a second."""


def named(case: Case) -> dict[str, str | None]:
    roles = ("id", "parents", "clock", "sender")
    told: dict[str, str | None] = {role: case.columns.get(role) for role in roles}
    return told | {"position": "at" if case.name in SEVERAL else None}


def wanted(case: Case) -> tuple[Verdicts, int]:
    """The verdicts on the rows that can be read, and how many cannot."""
    bad = [line for line in case.rows if not line.id or (line.wrong and case.name not in TIMES)]
    places = [
        Place("all", n, line.id or "", tuple(p for p in line.parents if p))
        for n, line in enumerate(case.rows)
        if line not in bad
    ]
    return judge_places(places), len(bad) + case.aside


def same(result: Audit, case: Case, rows: Any) -> None:
    want, unread = wanted(case)
    aside = [row for row in rows(result.quarantine) if row["step"] is None and row["message"] in want.aside]
    assert sorted(told(rows(result.findings)), key=str) == sorted(want.findings, key=str)
    assert {row["message"] for row in aside} == want.aside
    assert result.summary["quarantined"] == len(want.aside) + unread and all(r["text"] for r in rows(result.quarantine))
    assert result.summary["rows"] == case.rows_in
    assert result.summary["deliveries"] == case.rows_in - result.summary["rows_refused"]
    assert result.clean == (not want.findings and not want.aside and not unread)
    if "parents" in case.columns:
        assert result.summary["missing"] == len(want.missing)


@pytest.mark.parametrize("case", AUDITED, ids=lambda case: case.name)
def test_here(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    if case.refused:
        with pytest.raises(InputError, match=case.refused) as caught:
            table_here([tmp_path], named(case), encoding=case.encoding)
        assert "\n" not in str(caught.value)
        return
    same(table_here([tmp_path], named(case), encoding=case.encoding), case, lambda table: table.to_pylist())


def on_spark(spark: SparkSession, case: Case, folder: Path) -> None:
    """The same from both engines, finding by finding."""
    from antecede.spark.foreign import audit_files

    case.write(folder)
    if case.refused:
        with pytest.raises(InputError, match=case.refused):
            audit_files(spark, [folder], named(case), encoding=case.encoding)
        return
    here = table_here([folder], named(case), encoding=case.encoding).to_json()
    there = audit_files(spark, [folder], named(case), encoding=case.encoding).to_json()
    for name, value in here.items():
        if isinstance(value, list):
            assert sorted(map(str, value)) == sorted(map(str, there[name])), (case.name, name)
        else:
            assert value == there[name], (case.name, name)


def test_on_spark_it_is_the_same(spark: SparkSession, tmp_path: Path) -> None:
    chosen = [case for case in AUDITED if case.name in ON_SPARK]
    assert len(chosen) == len(ON_SPARK)
    for number, case in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        on_spark(spark, case, folder)
