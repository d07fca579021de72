"""kill -9 of a streaming query at many moments of one life, early and late, aimed and at random; then the count.

    python bench/kills.py [--operator MODULE:FUNCTION] [--seed S] [--only N]

The query reads growing traces, applies the operator (a function from DataFrame to DataFrame; `without_duplicates` of
tests/spark/killing.py, which keeps state, unless another is given) and writes a table. After each kill what counts in
the table is read through its manifest, without Spark: no row may be there twice or be unknown; the query then goes on
from its checkpoint into the next kill. At the end nothing may be missing, and nothing a kill left behind may matter.
Prints one line a kill; exit 1 where anything is lost or doubled. Takes about five minutes on an idle machine.
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from antecede.spark import sink
from tests.spark.killing import Place, finish, held, kill_at, wound
from tests.spark.traces import rows, write_parquet, write_stream
from tests.spark.victim import MAX_ROWS

KEY = ["run", "process", "step"]

# Where, and how many batches after the start: 0 is the batch that the kill before cut off.
MOMENTS: list[tuple[str, int]] = [
    ("start", 0),  # before the first batch
    ("offset", 0), ("file", 0), ("data", 0), ("data", 0), ("manifest", 0), ("manifest", 0), ("next", 0),
    ("random", 0), ("random", 1), ("random", 2), ("random", 3), ("random", 1),
    ("file", 2), ("data", 1), ("data", 3), ("manifest", 1), ("manifest", 3), ("offset", 2), ("next", 2),
]  # fmt: skip
RUNS, ROWS = 3, 7_000


def after(place: Place, batches: int, delay_s: float) -> Callable[[], bool]:
    """A moment: so long after so many more batches count."""
    there = wound(place, "").batches
    reached: list[float] = []

    def now() -> bool:
        if not reached and len(list(place.table.glob("_manifest/0*.json"))) >= min(there + batches, 40):
            reached.append(time.monotonic())
        return bool(reached) and time.monotonic() >= reached[0] + delay_s

    return now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operator", default="tests.spark.killing:without_duplicates")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, default=len(MOMENTS), help="the first N moments")
    options = parser.parse_args()
    module, _, name = options.operator.partition(":")
    getattr(importlib.import_module(module), name)
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="antecede-kills-") as directory:
        place = Place(Path(directory))
        wanted = {(f"r{n}", "p", step) for n in range(RUNS) for step in range(ROWS)}
        write_parquet(place.runs / "r0", ROWS, row_group=1000)
        write_parquet(place.runs / "r1", ROWS, row_group=300)
        live = write_stream(place.runs / "r2" / "n.arrow", 500, 500)
        print(f"{len(wanted)} rows, at most {MAX_ROWS} a batch, {options.operator}")
        heads = "batches", "noted", "rows", "orphans", "doubled", "unknown", "s"
        print("kill  at      " + "".join(f"{head:>9}" for head in heads))
        good, written = True, 1000
        for number, (point, batch) in enumerate(MOMENTS[: options.only], 1):
            begun = time.monotonic()
            if point == "start":
                moment: Callable[[], bool] | None = after(place, 0, 8.0)
            elif point == "random":
                moment = after(place, batch, dice.uniform(0.0, 2.0) if batch else dice.uniform(3.0, 15.0))
            else:
                moment = None
            left = kill_at(place, options.operator, "never" if moment else point, batch, moment)
            seen = held(place, KEY)
            doubled, unknown = sum(seen.values()) - len(seen), len(set(seen) - wanted)
            good &= not doubled and not unknown and (moment is not None or left.point == point)
            figures = left.batches, left.noted, left.rows, left.orphans, doubled, unknown, time.monotonic() - begun
            print(f"{number:>4}  {point:<8}" + "".join(f"{figure:>9.0f}" for figure in figures), flush=True)
            live.append(rows("r2", 300, written))
            written += 300
        live.append(rows("r2", ROWS - written, written))
        live.close()
        finish(place, options.operator)
        seen = held(place, KEY)
        lost, doubled = len(wanted - set(seen)), sum(seen.values()) - len(seen)
        counted = sum(sink.table_rows(place.table).values())
        removed = len(sink.clean(place.table, idle=True))
        good &= not lost and not doubled and counted == len(wanted) and held(place, KEY) == seen
        print(f"end: {len(seen)} rows, {lost} lost, {doubled} doubled; {counted} by the manifests; {removed} orphans")
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
