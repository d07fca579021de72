"""A job for any master: `python cluster_job.py MASTER MODULE:FUNCTION PLACE` prints what the function returns, as JSON.

The function gets a session and a folder that every worker sees. Those here go from source to sink; others can be given.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if __name__ == "__main__":
    # Only here: the workers must find antecede by other means.
    sys.path[:0] = [os.environ["ANTECEDE_SOURCE"], str(Path(__file__).resolve().parents[2])]

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS, RUNS, MAX_ROWS = 1_000, 2, 700


def digest(rows: list[Any]) -> str:
    return hashlib.sha256("\n".join(sorted(map(repr, rows))).encode()).hexdigest()[:16]


def tagged(frame: DataFrame) -> DataFrame:
    """A transformation that needs antecede in the workers: each row, and how many kinds of rows there are."""

    def tag(batches: Any) -> Any:
        import pyarrow as pa

        from antecede.trace.record import KINDS

        for batch in batches:
            yield pa.record_batch(
                [batch.column("run"), batch.column("step"), pa.array([len(KINDS)] * batch.num_rows, pa.int64())],
                names=["run", "step", "kinds"],
            )

    return frame.mapInArrow(tag, "run string, step bigint, kinds bigint")


def write_runs(place: Path) -> Path:
    from tests.spark.traces import write_parquet

    runs = place / "runs"
    for number in range(RUNS):
        write_parquet(runs / f"r{number}", ROWS, row_group=500)
    return runs


def batch(spark: SparkSession, place: Path) -> dict[str, Any]:
    """Source, transformation, shuffle, sink; read back by Spark and by the source."""
    from antecede.spark import sink

    runs, table = write_runs(place), str(place / "table")
    frame = tagged(spark.read.format("antecede").option("split_rows", 500).load(str(runs)))
    frame.repartition(4, "step").write.format("antecede").mode("append").option("partition_by", "run").save(table)
    rows = [tuple(row) for row in sink.read(spark, table).collect()]
    again = [tuple(row) for row in spark.read.format("antecede").load(table).collect()]
    return {"rows": len(rows), "digest": digest(rows), "again": digest(again)}


def stream(spark: SparkSession, place: Path) -> dict[str, Any]:
    """The same as a stream of several batches, with our stateful operator between: each row follows the one before."""
    from antecede.spark import sink
    from antecede.spark.order import causal_order

    runs, table = write_runs(place), str(place / "table")
    frame = spark.readStream.format("antecede").option("max_rows", MAX_ROWS).load(str(runs))
    names = ("concat(run, ':', step) as id", "if(step > 0, array(concat(run, ':', step - 1)), array()) as parents")
    frame = tagged(frame).selectExpr("*", *names)
    frame = frame.transform(causal_order(id="id", parents="parents", group="run", unknown="skip"))
    writer = frame.writeStream.format("antecede").option("checkpointLocation", str(place / "checkpoint"))
    query = writer.trigger(availableNow=True).start(table)
    query.awaitTermination()
    rows = [tuple(row) for row in sink.read(spark, table).collect()]
    return {
        "rows": len(rows),
        "digest": digest(rows),
        "batches": len([n for n in sink.table_rows(table).values() if n]),
    }


def both(spark: SparkSession, place: Path) -> dict[str, Any]:
    return {"batch": batch(spark, place / "batch"), "stream": stream(spark, place / "stream")}


def pipeline(spark: SparkSession, place: Path) -> dict[str, Any]:
    """All stages of the pipeline, in batch and continuously: every table, and whether its rows add up."""
    from antecede.spark.pipeline import run_pipeline as run
    from antecede.spark.sink import read
    from tests.spark.test_pipeline import settings, write_table

    write_table(place / "in", rows=6_000)
    said: dict[str, Any] = {}
    for kind in ("batch", "continuous"):
        told = settings(place, mode={"continuous": kind == "continuous"})
        told["output"]["path"] = str(place / kind)
        report = run(told, spark=spark)
        said[kind] = {"in": report.rows_in, "out": report.rows_out, "reconciled": report.reconciled}
        for table in ("quarantine", "ordered", "fused", "findings"):
            if (place / kind / table).exists():
                frame = read(spark, place / kind / table)
                said[kind][table] = digest([tuple(row) for row in frame.select(*sorted(frame.columns)).collect()])
    return said


def sweep(spark: SparkSession, place: Path) -> dict[str, Any]:
    """Claims of the lab, vectorised and event-driven, each without Spark, with one partition and with eight: the digest
    of all cells in their order, and of the tidy table a verdict is made from."""
    import time

    from antecede.lab.claim import Effort
    from antecede.lab.claims import claim_named
    from antecede.lab.run import ROOT
    from antecede.spark.sweep import Sweep

    said: dict[str, Any] = {}
    for name in ("convergence", "late"):
        claim = claim_named(name)
        cells = claim.cells(Effort(quick=True, seeds=3))
        said[name] = {"cells": len(cells)}
        for parts in (None, 1, 8):
            made = Sweep(place / f"{name}-{parts}", claim.measure, cells, root=ROOT)
            rows = made.run(spark if parts else None, clock=time.monotonic, partitions=parts).to_pylist()
            failed = sum(row["error"] is not None for row in rows)
            tidy = claim.table([row for row in rows if row["error"] is None])
            words = [hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16] for what in (rows, tidy)]
            said[name][f"{parts} partitions" if parts else "no Spark"] = [*words, f"{failed} failed"]
        tables = [value for key, value in said[name].items() if key != "cells"]
        said[name]["same"] = all(table == tables[0] for table in tables)
    return said


def everything(spark: SparkSession, place: Path) -> dict[str, Any]:
    """Batch, sink, source and stream in a session as people have it, with one line of ours: `register`."""
    from antecede.spark import register
    from antecede.spark.order import causal_order

    register(spark)
    spark.conf.set("spark.sql.shuffle.partitions", "2")  # Spark's 200 would take minutes for a stream
    rows = spark.createDataFrame([("b", ["a"]), ("a", [])], "id string, parents array<string>")
    step = causal_order(id="id", parents="parents", unknown="skip")

    def places(table: DataFrame) -> list[Any]:
        return sorted((row.id, row.causal_pos) for row in table.collect())

    rows.write.format("antecede").mode("append").save(str(place / "rows"))
    stream = spark.readStream.format("antecede").load(str(place / "rows")).transform(step)
    writer = stream.writeStream.format("antecede").option("checkpointLocation", str(place / "checkpoint"))
    writer.trigger(availableNow=True).start(str(place / "ordered")).awaitTermination()
    return {
        "batch": places(rows.transform(step)),
        "sink": len(list((place / "rows").glob("part-*.parquet"))),
        "source": spark.read.format("antecede").load(str(place / "rows")).count(),
        "stream": places(spark.read.format("antecede").load(str(place / "ordered"))),
    }


def plain_session(master: str) -> SparkSession:
    """As a user would make it, without a word of ours."""
    from pyspark.sql import SparkSession

    if master.startswith("sc://"):
        return SparkSession.builder.remote(master).getOrCreate()
    os.environ.pop("PYSPARK_PYTHON", None)
    return SparkSession.builder.master(master).getOrCreate()


def main() -> None:
    from antecede.spark.sessions import session
    from antecede.spark.ship import check_workers

    master, job, place = sys.argv[1:]
    plain, _, own = master.partition(":")
    if plain == "plain":
        spark = plain_session(own)
        said = globals()[job.partition(":")[2]](spark, Path(place))
        print(json.dumps({**said, "worker": check_workers(spark)._asdict()}))
        spark.stop()
        return
    settings = {"spark.executor.memory": "512m", "spark.sql.shuffle.partitions": 2}
    if master.startswith("local"):
        settings["spark.driver.memory"] = "768m"
    spark = session(master, settings=None if master.startswith("sc://") else settings)
    module, _, name = job.partition(":")
    said = getattr(importlib.import_module(module), name)(spark, Path(place))
    print(json.dumps({**said, "worker": check_workers(spark)._asdict()}))
    spark.stop()


if __name__ == "__main__":
    main()
