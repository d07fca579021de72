"""docs/columns.md is what the code writes: every table, every column, every type, in their order."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "columns.md"

Told = list[tuple[str, str]]


def page() -> dict[str, Told]:
    found: dict[str, Told] = {}
    for section in re.split(r"^## ", PAGE.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        rows = re.findall(r"^\| (\w+) \| ([^|]+?) \| ?[^|]*\|$", section, flags=re.MULTILINE)
        found[section.splitlines()[0]] = [row for row in rows if row[0] not in ("column", "key")]
    return found


def of_arrow(schema: pa.Schema) -> Told:
    from antecede.spark.tables.kinds import shown_type

    return [(name, shown_type(kind)) for name, kind in zip(schema.names, schema.types, strict=True)]


def of_ddl(text: str) -> Told:
    return [(part.split()[0], part.split()[1]) for part in text.split(", ")]


def written() -> dict[str, Any]:
    from antecede.spark.auditing.outcome import FINDING
    from antecede.spark.auditing.pieces import RESULT
    from antecede.spark.intake import QUARANTINE
    from antecede.spark.manifest import Manifest
    from antecede.spark.order.local import ORDERED
    from antecede.spark.order.saved import HELD
    from antecede.spark.order.written import ASIDE
    from antecede.spark.readings import Interest, Plan
    from antecede.spark.tables import frames
    from antecede.spark.topics.reading import live_schema
    from antecede.trace.record import arrow_schema

    results: Any = RESULT if isinstance(RESULT, pa.Schema) else pa.schema(RESULT)
    fused = Plan({"all": Interest(("#",))}, ("VALUE",), by="BY").schema()
    assert of_ddl(QUARANTINE) == of_arrow(ASIDE) == of_ddl(frames.ASIDE)
    return {
        "ordered": of_arrow(pa.schema(ORDERED)),
        "quarantine": of_arrow(ASIDE),
        "fused": of_arrow(fused),
        "findings": [(name, dict(of_arrow(results))[name]) for name in FINDING],
        "trace": of_arrow(arrow_schema()),
        "live": [(field.name, field.dataType.simpleString()) for field in live_schema()],
        "held": of_ddl(HELD),
        "manifest": [field.name for field in fields(Manifest)],
    }


@pytest.mark.parametrize("name", ["ordered", "quarantine", "fused", "findings", "trace", "live", "held", "manifest"])
def test_the_page_says_what_is_written(name: str) -> None:
    told: Any = page()[name]
    if name == "manifest":
        told = [key for key, _ in told]
    assert told == written()[name]


def test_reconcile_counts_what_the_page_says(spark: Any) -> None:
    from pyspark.sql.types import StructType

    from antecede.spark.order import reconcile
    from antecede.spark.order.local import ORDERED
    from antecede.spark.tables.kinds import spark_schema

    ordered = spark.createDataFrame([], StructType.fromJson(spark_schema(pa.schema(ORDERED))))
    told = [(field.name, field.dataType.simpleString()) for field in reconcile(ordered).schema.fields]
    assert told == page()["reconcile"]
    assert set(page()) == {*written(), "reconcile"}
