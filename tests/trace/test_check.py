"""The oracle as a whole: a clean trace is clean, inversions agree with an even dumber twin, and it says what it saw."""

from __future__ import annotations

from pathlib import Path

from antecede.trace.check import check
from antecede.trace.parquet import write_run
from tests.trace.tables import found, rows, verdict

CLEAN = """
p 0 join G1
q 0 join G1
r 0 join G1
p 10 publish p:1 G1 due=100
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=120
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 50 arrive p:1 from=p
r 50 deliver p:1
r 50 deliver q:1
p 200 end quiet
q 200 end quiet
r 200 end quiet
"""


def test_a_clean_trace_is_clean() -> None:
    report = verdict(CLEAN)
    assert report.clean and report.findings == [] and report.pairs == 4 and report.fates["delivered"] == 4


def test_from_a_directory(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN), scenario={"recipe": "solicit", "skew_ms": 0})
    assert check(tmp_path).to_json() == check(rows(CLEAN)).to_json()


def test_the_order_of_rows_in_the_file_does_not_matter() -> None:
    assert check(reversed(rows(CLEAN))).to_json() == check(rows(CLEAN)).to_json()


def test_inversion() -> None:
    swapped = CLEAN.replace("r 50 deliver p:1\nr 50 deliver q:1", "r 50 deliver q:1\nr 50 deliver p:1")
    assert ("inversion", "r", "p:1", "q:1") in found(swapped)
