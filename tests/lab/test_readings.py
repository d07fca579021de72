"""Readings of 001: which are better decides, one by one."""

from __future__ import annotations

from antecede.lab.readings import BASELINE, OURS, READINGS, judge_readings, reading_cells
from antecede.sim.epidemic import Epidemic


def test_every_reading_can_be_run() -> None:
    cells = reading_cells((50,), 2)
    assert len(cells) == 2 * len(READINGS) and BASELINE in READINGS and len(OURS) == 3
    for cell in cells:
        Epidemic(**{k: v for k, v in cell.knobs.items() if k != "reading"})


def test_the_verdict_follows_the_readings() -> None:
    def judged(*better: bool | None) -> str:
        found = dict(zip(OURS, better, strict=True))
        return judge_readings([], found.__getitem__, "numbers").word

    assert judged(True, True, True) == "holds"
    assert judged(False, None, True) == "holds only if"
    assert judged(False, None, False) == "undecided"
    assert judged(False, False, False) == "does not hold"
