"""The comparison: on the same lossy runs windows of arrival time count effects without causes; causal cuts never do."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples import fusion

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "sensor_readings.csv"


def check(found: list[fusion.Compared]) -> None:
    for c in found:
        assert len(c.cuts) > 50 and len(c.windows) > 50
        assert c.wrong_cuts == 0, f"{c.wrong_cuts} of {len(c.cuts)} cuts count an effect without its cause"
        assert any(result.completeness == 1.0 for result in c.cuts)
        last = c.cuts[-1]
        assert set(last.latest) == set(fusion.SENDERS)
    calm, lossy = found
    assert lossy.arrived < lossy.sent, "messages really were lost"
    assert 0 < calm.wrong_windows < lossy.wrong_windows
    assert any(result.completeness < 1.0 for result in lossy.cuts), "and the cuts say what is missing"


def test_windows_count_effects_without_causes_and_cuts_do_not(spark: SparkSession, tmp_path: Path) -> None:
    found = fusion.compare(spark, fusion.draw_rounds(60), (0.0, 0.25))
    check(found)
    fusion.draw(found, found[1], tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"


def test_real_readings(spark: SparkSession) -> None:
    if not DATA.is_file():
        pytest.skip(f"{DATA} is not there: the readings are not part of the project")
    rounds = fusion.read_rounds(DATA, 2330, 80)
    assert max(map(max, rounds)) > 80, "the labelled event is among them"
    check(fusion.compare(spark, rounds, (0.0, 0.25)))


def test_a_table_that_is_not_four_motes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.csv").write_text("mote_id,humidity\n1,40.5\n", "utf-8")
    monkeypatch.setattr(sys, "argv", ["fusion.py", "--readings", str(tmp_path / "one.csv")])
    with pytest.raises(fusion.InputError, match="1 motes, not 4"):
        fusion.main()
