"""Tables as people have them, all of them through one Spark session: what came of each, against an independent count.

    python bench/hostile.py

The tests put every such table through the engine without Spark, and one of each sort through Spark; this is the whole
list (tests/spark/hostile.py) through Spark, ordered and audited. Exit 1 if one came out otherwise than it must.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from antecede.errors import InputError
from antecede.spark.sessions import session
from tests.cli import test_order
from tests.spark import test_hostile_audits
from tests.spark.hostile import CASES


def main() -> int:
    spark = session("local[2]", app="hostile tables", settings={"spark.driver.memory": "1g"})
    failed: list[str] = []
    start_s = time.monotonic()
    for number, case in enumerate(CASES):
        for what, check in (("order", ordered), ("audit", audited)):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    check(spark, case, Path(folder))
                except InputError as refusal:
                    print(f"{what}, {case.name}: refused in one sentence: {refusal}")
                except Exception as error:
                    failed.append(f"{what}, {case.name}: {type(error).__name__}: {str(error).strip().splitlines()[:1]}")
        print(f"\r{number + 1} of {len(CASES)}, {len(failed)} wrong ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print("\n".join(failed) or "every row accounted for")
    rows = sum(case.rows_in for case in CASES if case.refused is None)
    print(f"{len(CASES)} tables, {rows:,} rows, {len(failed)} wrong, {time.monotonic() - start_s:.0f} s")
    spark.stop()
    return 1 if failed else 0


def ordered(spark: Any, case: Any, folder: Path) -> None:
    test_order.THROUGH_SPARK = (case.name,)
    test_order.test_hostile_tables_through_spark(spark, folder)


def audited(spark: Any, case: Any, folder: Path) -> None:
    if case in test_hostile_audits.AUDITED:
        test_hostile_audits.on_spark(spark, case, folder)


if __name__ == "__main__":
    sys.exit(main())
