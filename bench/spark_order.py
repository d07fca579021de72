"""What causal order costs on Spark: streaming over dropDuplicatesWithinWatermark, batch over a sort of the same rows.

    python bench/spark_order.py                     # all questions, small sizes
    python bench/spark_order.py stream --groups 1,10,10000 --rows 200000 --batches 8
    python bench/spark_order.py batch --total 2000000
    python bench/spark_order.py growth              # 1, 2 and 4 times the input: rate, and state per held row
    python bench/spark_order.py giant --total 10000000
    python bench/spark_order.py git --data ../shared/data

stream  The same files, one a micro-batch, through Spark's own `dropDuplicatesWithinWatermark` and through
        `causal_order` with deadlines and timers, in one session, one after the other; both keep 30 batches of ids. The
        first batches warm up and do not count. Rows per second of the micro-batches, as Spark reports them.
        Wanted, causal_order over dropDuplicatesWithinWatermark: 0.8 at 10 groups, 0.6 at 1, 0.4 at 10,000.
batch   All columns of the rows, `repartition(group)` and `sortWithinPartitions(group, arrived)`, against
        `causal_order`. Wanted: 0.4. With foreign="none" the user promises that no parent is in another group; without
        it a batch looks first, which the second figure shows.
growth  The stream of 10 groups at 1, 2 and 4 times the length. Wanted: the same rate. State: what is saved, over rows
        held at the end, with one message in 100 lost.
giant   One group, completes or not, and how fast.
git     A real history, shuffled: in batch, and as a stream of 50 files. Edges that come out inverted (wanted: 0), rows
        that differ between the two (wanted: 0), and the edges that a sort by the commits' own times inverts.

A row has an id, a group, two or three parents among the last 50 of its group, two times, a sender and a payload of 40
bytes; rows arrive out of order by up to 20 places, and one in 1,000 is a duplicate.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from bench.tables import Table, numbers, show

from antecede.spark.order import causal_order, drain, held
from antecede.spark.sessions import session

STEP_US = 10
"""Between two rows of all groups: 100,000 rows are a second."""


def history(first: int, count: int, groups: int, *, loss: float, seed: int) -> pa.Table:
    """Rows `first` to `first + count` of an endless history, as they arrive."""
    dice = np.random.default_rng((seed, first))
    number = np.arange(first, first + count)
    group = number % groups
    place = number // groups
    back = dice.integers(1, 51, (count, 3))
    parent = place[:, None] - back
    width = 2 + (number % 2)
    valid = (parent >= 0) & (np.arange(3) < width[:, None])
    names = np.char.add(np.char.add("g", group.astype(str)), "-")
    ids = np.char.add(names, place.astype(str))
    texts = np.char.add(np.repeat(names, 3), parent.ravel().clip(0).astype(str)).reshape(count, 3)
    flat = pa.array(texts.ravel()[valid.ravel()])
    parents = pa.ListArray.from_arrays(pa.array(np.concatenate([[0], valid.sum(1).cumsum()]), pa.int32()), flat)
    sent_us = 1_700_000_000_000_000 + number * STEP_US
    table = pa.table({
        "id": pa.array(ids),
        "room": pa.array(np.char.add("room ", group.astype(str))),
        "parents": parents,
        "sender": pa.array(np.char.add("sender ", (number % 97).astype(str))),
        "sent": pa.array(sent_us, pa.timestamp("us", "UTC")),
        "due": pa.array(sent_us + 2_000_000, pa.timestamp("us", "UTC")),
        "value": pa.array(dice.random(count)),
        "payload": pa.array(np.char.add("payload ", dice.integers(10**15, 10**16, count).astype(str))),
    })  # fmt: skip
    order = np.argsort(number + dice.random(count) * 20, kind="stable")
    order = order[dice.random(count) >= loss]
    again = order[dice.random(len(order)) < 0.001]
    order = np.concatenate([order, again])
    at_us = 1_700_000_000_000_000 + (first + 20) * STEP_US + np.sort(dice.integers(0, count * STEP_US, len(order)))
    return table.take(pa.array(order)).append_column("arrived", pa.array(at_us, pa.timestamp("us", "UTC")))


def write(folder: Path, files: int, rows: int, groups: int, *, loss: float = 0.0) -> None:
    folder.mkdir(parents=True)
    for number in range(files):
        pq.write_table(history(number * rows, rows, groups, loss=loss, seed=1), folder / f"{number:05}.parquet")
        time.sleep(0.01)  # file sources go by modification time


def noop(df: Any) -> None:
    df.write.format("noop").mode("overwrite").save()


def run_stream(spark: Any, folder: Path, through: Callable[[Any], Any], warm: int) -> tuple[float, Path]:
    """Rows per second after `warm` batches."""
    source = spark.readStream.schema(spark.read.parquet(str(folder)).schema).option("maxFilesPerTrigger", 1)
    checkpoint = Path(tempfile.mkdtemp(dir=folder.parent))
    query = (
        through(source.parquet(str(folder)))
        .writeStream.format("noop")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    told = [p for p in query.recentProgress if p["numInputRows"]][warm:]
    rows = sum(p["numInputRows"] for p in told)
    return rows / (sum(p["durationMs"]["triggerExecution"] for p in told) / 1000), checkpoint


def deduplicate(horizon_us: int) -> Callable[[Any], Any]:
    def through(df: Any) -> Any:
        return df.withWatermark("arrived", f"{horizon_us} microseconds").dropDuplicatesWithinWatermark(["id"])

    return through


def ordered(horizon_us: int) -> Callable[[Any], Any]:
    return causal_order(
        id="id", parents="parents", group="room", arrived="arrived", deadline="due", remember_us=horizon_us
    )  # type: ignore[no-any-return]


def stream(spark: Any, options: argparse.Namespace, place: Path) -> Table:
    table: Table = []
    for groups in options.groups:
        folder = place / f"stream-{groups}"
        write(folder, options.batches, options.rows, groups)
        horizon_us = options.horizon * options.rows * STEP_US
        ours, theirs = [], []
        for _ in range(options.repeats):
            theirs.append(run_stream(spark, folder, deduplicate(horizon_us), options.warm)[0])
            ours.append(run_stream(spark, folder, ordered(horizon_us), options.warm)[0])
        table.append({
            "groups": groups, "rows": options.rows * options.batches,
            "dropDuplicates/s": statistics.median(theirs), "causal_order/s": statistics.median(ours),
            "over": statistics.median(a / b for a, b in zip(ours, theirs, strict=True)),
        })  # fmt: skip
        shutil.rmtree(folder)
    return table


def timed(work: Callable[[], None], repeats: int) -> float:
    spent = []
    for _ in range(repeats):
        start_s = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start_s)
    return statistics.median(spent)


def batch(spark: Any, options: argparse.Namespace, place: Path) -> Table:
    table: Table = []
    for groups in options.groups:
        folder = place / f"batch-{groups}"
        write(folder, max(1, options.total // 500_000), min(500_000, options.total), groups)
        df = spark.read.parquet(str(folder))
        rows = df.count()

        def order(df: Any = df, **more: Any) -> None:
            noop(df.transform(causal_order(id="id", parents="parents", group="room", arrived="arrived", **more)))

        def sort(df: Any = df) -> None:
            noop(df.repartition("room").sortWithinPartitions("room", "arrived"))

        sort()
        sort_s = timed(sort, options.repeats)
        order_s = timed(lambda: order(foreign="none"), options.repeats)
        look_s = timed(order, 1)
        table.append({
            "groups": groups, "rows": rows, "sort/s": rows / sort_s, "causal_order/s": rows / order_s,
            "over": sort_s / order_s, "over, looking for foreign parents": sort_s / look_s,
        })  # fmt: skip
        shutil.rmtree(folder)
    return table


def growth(spark: Any, options: argparse.Namespace, place: Path) -> Table:
    table: Table = []
    for times in (1, 2, 4):
        folder = place / f"growth-{times}"
        write(folder, options.warm + options.batches * times, options.rows, 10, loss=0.01)
        horizon_us = options.horizon * options.rows * STEP_US
        rate, checkpoint = run_stream(spark, folder, ordered(horizon_us), options.warm)
        waiting, names = held(spark, str(checkpoint)).groupBy().sum("waiting", "remembered").first()
        state = spark.read.format("statestore").option("stateVarName", "domains").load(str(checkpoint))
        saved, rows = state.selectExpr("sum(length(value.saved))", "sum(length(value.waiting))").first()
        table.append({
            "input": f"{times}x", "rows": options.rows * options.batches * times, "rows/s": rate, "held": waiting,
            "names": names, "bytes per held row": (rows or 0) / max(1, waiting), "bytes per name": saved / names,
        })  # fmt: skip
        shutil.rmtree(folder)
    return table


def giant(spark: Any, options: argparse.Namespace, place: Path) -> Table:
    folder = place / "giant"
    write(folder, max(1, options.total // 500_000), min(500_000, options.total), 1)
    df = spark.read.parquet(str(folder))
    start_s = time.perf_counter()
    noop(df.transform(causal_order(id="id", parents="parents", arrived="arrived", unknown="skip")))
    spent_s = time.perf_counter() - start_s
    rows = df.count()
    shutil.rmtree(folder)
    return [{"rows of one group": rows, "seconds": spent_s, "rows/s": rows / spent_s}]


def git(spark: Any, options: argparse.Namespace, place: Path) -> Table:
    from pyspark.sql import functions as f

    names = {"id": "message", "parents": "parents", "sender": "sender", "seq": "seq", "unknown": "skip"}
    source = options.data / "git_history.parquet"
    if not source.is_file():
        print(f"\n{source} is not there: no answer about git")
        return []
    shuffled = spark.read.parquet(str(source)).orderBy(f.rand(7)).repartition(50)
    shuffled.write.parquet(str(place / "git"))
    table = spark.read.parquet(str(place / "git"))
    schema = table.schema
    start_s = time.perf_counter()
    table.transform(causal_order(**names)).write.parquet(str(place / "batch"))
    batch_s = time.perf_counter() - start_s
    files = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(place / "git"))
    ordered = files.transform(causal_order(**names))
    started = ordered.writeStream.format("parquet").option("checkpointLocation", str(place / "checkpoint"))
    query = started.option("path", str(place / "stream")).trigger(availableNow=True).start()
    start_s = time.perf_counter()
    query.awaitTermination()
    stream_s = time.perf_counter() - start_s

    def inverted(df: Any, by: str) -> tuple[int, int]:
        above = df.select(f.col("message").alias("parent"), f.col(by).alias("above"))
        edges = df.select(by, f.explode("parents").alias("parent")).join(above, "parent")
        return edges.count(), edges.where(f.col("above") > f.col(by)).count()

    done = {kind: spark.read.parquet(str(place / kind)) for kind in ("batch", "stream")}
    done["stream"] = done["stream"].unionByName(drain(spark, str(place / "checkpoint"), ordered.schema))
    fates = {kind: df.select("message", "fate", f.array_sort("missing").alias("m")) for kind, df in done.items()}
    differ = fates["batch"].exceptAll(fates["stream"]).count() + fates["stream"].exceptAll(fates["batch"]).count()
    edges, by_time = inverted(table, "sent_at_us")
    return [{
        "rows": table.count(), "edges": edges, "inverted, batch": inverted(done["batch"], "causal_pos")[1],
        "inverted, stream": inverted(done["stream"], "causal_pos")[1], "fates that differ": differ,
        "inverted by a sort by time": by_time, "batch s": batch_s, "stream s": stream_s,
        "files": len(query.recentProgress),
    }]  # fmt: skip


QUESTIONS: dict[str, tuple[str, Callable[..., Table]]] = {
    "stream": ("causal_order over dropDuplicatesWithinWatermark, streaming", stream),
    "batch": ("causal_order over repartition and sortWithinPartitions, batch", batch),
    "growth": ("streaming as the input grows, one row in 100 lost", growth),
    "giant": ("one group", giant),
    "git": ("the history of git, shuffled", git),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", help=f"any of {', '.join(QUESTIONS)}; none: all of them")
    parser.add_argument("--groups", type=numbers, default=[10, 1, 10_000], help="stream, batch: (10,1,10000)")
    parser.add_argument("--rows", type=int, default=200_000, help="rows in a micro-batch (200,000)")
    parser.add_argument("--batches", type=int, default=8, help="micro-batches (8)")
    parser.add_argument("--warm", type=int, default=2, help="of which so many do not count (2)")
    parser.add_argument("--horizon", type=int, default=4, help="batches of which ids are remembered (4)")
    parser.add_argument("--total", type=int, default=2_000_000, help="batch, giant: rows (2,000,000)")
    parser.add_argument("--repeats", type=int, default=1, help="runs, the median counts (1)")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="git: where the histories are")
    parser.add_argument("--master", default="local[*]")
    parser.add_argument("--memory", default="2g", help="of the driver (2g)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables to this file too")
    options = parser.parse_args()
    for question in options.questions:
        if question not in QUESTIONS:
            parser.error(f"there is no question {question!r}; there are {', '.join(QUESTIONS)}")
    spark = session(options.master, app="bench", settings={"spark.driver.memory": options.memory})
    tables: dict[str, Table] = {}
    with tempfile.TemporaryDirectory() as place:
        for question in options.questions or QUESTIONS:
            title, ask = QUESTIONS[question]
            tables[title] = ask(spark, options, Path(place))
            if tables[title]:
                show(title, tables[title])
    spark.stop()
    if options.json:
        options.json.write_text(json.dumps(tables, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
