"""The audit on Spark beside others that look for the same, on the same data, in one run.

    python bench/spark_audit.py plant                      # 20 million deliveries with faults: are exactly they named?
    python bench/spark_audit.py rates                      # deliveries per second, beside Polars and Spark SQL
    python bench/spark_audit.py table                      # a table of another system: 2 million rows, 200 groups
    python bench/spark_audit.py big                        # 200 million, the whole process tree held below 4 GB
    python bench/spark_audit.py big --receivers 20         # the same with 10 million messages in one history
    python bench/spark_audit.py rates --deliveries 2000000 --repeats 1 --json out.json

plant   Each kind of fault 1 in 100,000 deliveries (bench/spark_data.py says which and how). Wanted: what is found is
        what was planted, with process, message, other and step.
rates   The audit of the run directory (read inside the tasks), of the same files as a DataFrame (which is only files,
        and so read inside the tasks too), of a DataFrame derived from that (whose rows come out of Java), Polars doing
        the explode-and-join audit (each delivery joined with its message's parents, each parent with its delivery
        there: direct parents only, of which it finds no more than that), and Spark SQL doing the same join. One after
        the other, each in a process of its own after a few small runs to warm it up; times are from the call to the
        counts, and beside them the processor time of all processes, which says more where others use the machine too.
        Wanted, over Polars: 1.0 for run directories, 0.6 for a DataFrame of files, 0.25 for a derived one; over
        Spark SQL: 8 and 4.
table   Each group is a receiver with a history of its own, all in one table and without `run=`. Beside `audit_table`
        (of files, and of a derived DataFrame) and the same without Spark stands a transitive count in plain Python: one
        pass over each group, with ids numbered in causal order beforehand. Wanted: the same inversions, at most 30 s of
        processor where plain Python takes 15.
big     Memory is the proportional set size of the driver, the JVM and all workers together, looked at five times a
        second; above 4 GB the run is ended and counts as failed.

Data is kept in --data (removed with it) and made once for each size. Absolute figures depend on the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.spark_data import Shape, Verdict, write, write_table
from bench.tables import show

from tests.spark.killing import family

GIB = 2**30
WARM = 4
"""Small runs before the one that counts: a JVM gets quicker for that long."""
WANTED = {("directories", "polars"): 1.0, ("dataframe", "polars"): 0.6,
          ("derived", "polars"): 0.25,
          ("directories", "sql"): 8.0, ("dataframe", "sql"): 4.0, ("derived", "sql"): 4.0}  # fmt: skip


def data(options: argparse.Namespace, deliveries: int, receivers: int) -> tuple[Path, list[Verdict]]:
    """The run of that size: made now, or before."""
    place = Path(options.data) / f"{deliveries}-{receivers}-{options.seed}"
    told = place / "expected.json"
    if not told.exists():
        shutil.rmtree(place, ignore_errors=True)
        began_s = time.monotonic()
        expected = write(Shape(deliveries, receivers, options.one_in, options.seed), place / "run")
        told.write_text(json.dumps(expected))
        print(f"wrote {deliveries:,} deliveries to {place} in {time.monotonic() - began_s:.0f} s", file=sys.stderr)
    return place / "run", [tuple(v) for v in json.loads(told.read_text())]


# --- what is measured, each in a process of its own


def cpu_s() -> float:
    """Seconds of processor that this process and all it started have used so far."""
    ticks = 0
    for process in family(os.getpid()):
        with contextlib.suppress(OSError, IndexError):
            ticks += sum(map(int, Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Timed:
    """Seconds on the wall and of processor between entering and leaving."""

    def __enter__(self) -> Timed:
        self._cpu_s, self._wall_s = cpu_s(), time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self.told = {"seconds": time.monotonic() - self._wall_s, "cpu_s": cpu_s() - self._cpu_s}


def spark_session(options: argparse.Namespace) -> Any:
    from antecede.spark.sessions import session

    settings = {"spark.driver.memory": options.jvm_memory, "spark.local.dir": str(Path(options.data) / "spark")}
    return session(f"local[{options.cores}]", app="bench", settings=settings)


def run_directories(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    from antecede.spark.trace_audit import records

    spark = spark_session(options)
    for _ in range(WARM):
        records(spark, warm)
    with Timed() as timed:
        result = records(spark, run, scratch=Path(options.data) / "scratch")
    found = [tuple(row) for row in result.findings.select("verdict", "process", "message", "other", "step").collect()]
    return {**timed.told, "deliveries": result.summary["deliveries"], "counts": result.counts, "found": found}


def run_dataframe(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    from antecede.spark.trace_audit import audit

    spark = spark_session(options)
    for _ in range(WARM):
        audit(spark.read.parquet(f"{warm}/records-*.parquet"))
    with Timed() as timed:
        result = audit(spark.read.parquet(f"{run}/records-*.parquet"), scratch=Path(options.data) / "scratch")
    return {**timed.told, "deliveries": result.summary["deliveries"], "counts": result.counts}


def run_derived(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    from antecede.spark.trace_audit import audit

    spark = spark_session(options)
    for _ in range(WARM):
        audit(spark.read.parquet(f"{warm}/records-*.parquet").where("step >= 0"))
    with Timed() as timed:
        frame = spark.read.parquet(f"{run}/records-*.parquet").where("step >= 0")
        result = audit(frame, scratch=Path(options.data) / "scratch")
    return {**timed.told, "deliveries": result.summary["deliveries"], "counts": result.counts}


def run_polars(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    import polars as pl

    def inverted(place: Path) -> int:
        rows = pl.scan_parquet(str(place / "records-*.parquet"))
        out = rows.filter(pl.col("kind") == "deliver").select("process", "message", "step")
        parents = rows.filter(pl.col("kind") == "publish").select("message", pl.col("after").alias("parent"))
        edges = out.join(parents.explode("parent"), on="message")
        above = out.rename({"message": "parent", "step": "before"})
        pairs = edges.join(above, on=["process", "parent"]).filter(pl.col("before") > pl.col("step"))
        return int(pairs.select(pl.len()).collect(engine=options.polars_engine).item())

    for _ in range(WARM):
        inverted(warm)
    with Timed() as timed:
        found = inverted(run)
    return {**timed.told, "pairs": found}


SQL = """
select count(*) from (
  select d.process, d.step, explode(p.after) as parent
  from deliveries d join publications p on d.message = p.message
) e join deliveries a on a.process = e.process and a.message = e.parent
where a.step > e.step
"""


def run_sql(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    spark = spark_session(options)

    def inverted(place: Path) -> int:
        rows = spark.read.parquet(f"{place}/records-*.parquet")
        rows.where("kind = 'deliver'").select("process", "message", "step").createOrReplaceTempView("deliveries")
        rows.where("kind = 'publish'").select("message", "after").createOrReplaceTempView("publications")
        return int(spark.sql(SQL).collect()[0][0])

    for _ in range(WARM):
        inverted(warm)
    with Timed() as timed:
        found = inverted(run)
    return {**timed.told, "pairs": found}


COLUMNS = {"id": "msg", "parents": "refs", "receiver": "room", "position": "n"}


def run_table(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    return table_on_spark(options, run, warm, derived=False)


def run_table_derived(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    return table_on_spark(options, run, warm, derived=True)


def table_on_spark(options: argparse.Namespace, run: Path, warm: Path, derived: bool) -> dict[str, Any]:
    from antecede.spark.foreign import audit_table

    spark = spark_session(options)

    def frame(place: Path) -> Any:
        rows = spark.read.parquet(str(place))
        return rows.where("n >= 0") if derived else rows

    for _ in range(WARM):
        audit_table(frame(warm), **COLUMNS)
    with Timed() as timed:
        result = audit_table(frame(run), scratch=Path(options.data) / "scratch", **COLUMNS)
    return {**timed.told, "rows": result.summary["rows"], "inversions": result.counts["inversion"]}


def run_table_local(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    from antecede.spark.audit_here import table_here

    table_here([warm], COLUMNS)
    with Timed() as timed:
        result = table_here([run], COLUMNS)
    return {**timed.told, "rows": result.summary["rows"], "inversions": result.counts["inversion"]}


def run_table_python(options: argparse.Namespace, run: Path, warm: Path) -> dict[str, Any]:
    import pyarrow.parquet as pq

    with Timed() as timed:
        columns = [pq.read_table(run).column(name).to_pylist() for name in ("room", "n", "msg", "refs")]
        rooms: dict[str, list[tuple[int, str, list[str]]]] = {}
        for room, n, msg, refs in zip(*columns, strict=True):
            rooms.setdefault(room, []).append((n, msg, refs))
        found = 0
        for mine in rooms.values():
            place = {msg: n for n, msg, _ in mine}
            mine.sort(key=lambda row: row[1])  # ids are numbered in causal order
            cover = dict.fromkeys(place, len(mine))
            for n, msg, refs in reversed(mine):
                first = min(n, cover[msg])
                found += cover[msg] < n
                for parent in refs:
                    if first < cover[parent]:
                        cover[parent] = first
    return {**timed.told, "rows": len(columns[0]), "inversions": found}


MEASURED = {
    "table": run_table,
    "table derived": run_table_derived,
    "table here": run_table_local,
    "plain python": run_table_python,
    "directories": run_directories,
    "dataframe": run_dataframe,
    "derived": run_derived,
    "polars": run_polars,
    "sql": run_sql,
}


# --- memory of a process and all it started


def memory(processes: list[int]) -> int:
    """Bytes: what is shared counts once, in parts."""
    total = 0
    for process in processes:
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
            total += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) * 1024
        except (OSError, StopIteration):
            continue
    return total


def alone(options: argparse.Namespace, what: str, run: Path, warm: Path, cap: int | None = None) -> dict[str, Any]:
    """One measurement in a process of its own; ended when it and all it started need more than `cap` bytes."""
    place = Path(options.data) / f"result-{os.getpid()}.json"
    told = ["--only", what, "--run", str(run), "--warm", str(warm), "--result", str(place)]
    same = ["--data", options.data, "--cores", str(options.cores), "--jvm-memory", options.jvm_memory]
    same += ["--polars-engine", options.polars_engine]
    child = subprocess.Popen([sys.executable, __file__, "rates", *told, *same], start_new_session=True)
    peak, over, done = 0, False, threading.Event()

    def watch() -> None:
        nonlocal peak, over
        while not done.wait(0.2):
            used = memory(family(child.pid))
            peak = max(peak, used)
            if cap is not None and used > cap:
                over = True
                os.killpg(child.pid, signal.SIGKILL)
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    code = child.wait()
    done.set()
    watcher.join()
    result: dict[str, Any] = {"peak_gib": peak / GIB, "over": over, "code": code}
    if code == 0:
        result |= json.loads(place.read_text())
        place.unlink()
    return result


# --- the questions


def plant(options: argparse.Namespace) -> list[dict[str, Any]]:
    run, expected = data(options, options.deliveries, options.receivers)
    warm, _ = data(options, 100_000, 10)
    result = alone(options, "directories", run, warm)
    found = {tuple(row) for row in result.get("found", ())}
    planted = set(expected)
    table = []
    for verdict in ("inversion", "gap", "overdue", "duplicate", "stuck"):
        mine, theirs = ({f for f in these if f[0] == verdict} for these in (planted, found))
        table.append({"verdict": verdict, "planted": len(mine), "found": len(theirs), "missed": len(mine - theirs),
                      "made up": len(theirs - mine)})  # fmt: skip
    table.append({"verdict": "all", "planted": len(planted), "found": len(found), "missed": len(planted - found),
                  "made up": len(found - planted), "deliveries": result.get("deliveries"),
                  "seconds": result.get("seconds"), "peak GiB": result["peak_gib"]})  # fmt: skip
    return table


def rates(options: argparse.Namespace) -> list[dict[str, Any]]:
    run, _ = data(options, options.deliveries, options.receivers)
    warm, _ = data(options, 100_000, 10)
    best: dict[str, dict[str, Any]] = {}
    for repeat in range(options.repeats):
        for what in options.what:
            result = alone(options, what, run, warm)
            said = {k: v for k, v in result.items() if k not in ("found", "counts")}
            print(f"{what} {repeat + 1}: {said}", file=sys.stderr)
            if "seconds" in result and result["seconds"] < best.get(what, {"seconds": 1e9})["seconds"]:
                best[what] = result
    table = []
    for what, result in best.items():
        row: dict[str, Any] = {
            "what": what, "seconds": result["seconds"], "CPU s": result["cpu_s"], "peak GiB": result["peak_gib"],
            "deliveries/s": options.deliveries / result["seconds"],
        }  # fmt: skip
        for other in ("polars", "sql"):
            if other in best and (what, other) in WANTED:
                row[f"over {other}"] = best[other]["seconds"] / result["seconds"]
                row[f"CPU over {other}"] = best[other]["cpu_s"] / result["cpu_s"]
                row[f"wanted over {other}"] = WANTED[what, other]
        table.append(row)
    return table


TABLES = ("table", "table derived", "table here", "plain python")


def table(options: argparse.Namespace) -> list[dict[str, Any]]:
    place = Path(options.data) / f"table-{options.deliveries}.parquet"
    warm = Path(options.data) / "table-20000.parquet"
    for file, rows, rooms in ((place, options.deliveries, 200), (warm, 20_000, 20)):
        if not file.exists():
            write_table(file, rows, rooms, options.seed)
    wanted = [what for what in TABLES if what in options.what] or TABLES
    found = [{"what": what, **alone(options, what, place, warm)} for what in wanted]
    names = ("what", "rows", "inversions", "seconds", "cpu_s", "peak_gib")
    return [{name: row.get(name) for name in names} for row in found]


def big(options: argparse.Namespace) -> list[dict[str, Any]]:
    deliveries = options.deliveries
    run, expected = data(options, deliveries, options.receivers)
    warm, _ = data(options, 100_000, 10)
    result = alone(options, "directories", run, warm, cap=options.cap_gib * GIB)
    found = {tuple(row) for row in result.get("found", ())}
    messages = Shape(deliveries, options.receivers).messages
    return [{
        "deliveries": deliveries, "receivers": options.receivers, "messages": messages,
        "completed": result["code"] == 0 and not result["over"], "peak GiB": result["peak_gib"],
        "cap GiB": options.cap_gib, "seconds": result.get("seconds"), "as planted": found == set(expected),
    }]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=["plant", "rates", "table", "big"])
    parser.add_argument("--deliveries", type=int, help="20,000,000; table: 2,000,000; big: 200,000,000")
    parser.add_argument("--receivers", type=int, default=50)
    parser.add_argument("--one-in", type=int, default=100_000, help="each kind of fault, once in so many deliveries")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--what", type=lambda text: text.split(","), default=[m for m in MEASURED if m not in TABLES])
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--jvm-memory", default="1g")
    parser.add_argument("--cap-gib", type=float, default=4.0)
    parser.add_argument("--polars-engine", default="auto", help="auto, in-memory or streaming")
    parser.add_argument("--data", default="/tmp/antecede-bench-audit")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", choices=list(MEASURED), help=argparse.SUPPRESS)
    for name in ("--run", "--warm", "--result"):
        parser.add_argument(name, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    Path(options.data).mkdir(parents=True, exist_ok=True)
    if options.only:
        result = MEASURED[options.only](options, options.run, options.warm)
        options.result.write_text(json.dumps(result))
        return 0
    options.deliveries = options.deliveries or {"big": 200_000_000, "table": 2_000_000}.get(
        options.question, 20_000_000
    )
    found = {"plant": plant, "rates": rates, "table": table, "big": big}[options.question](options)
    show("", found)
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
