"""Readings of 001: which are better decides, one by one and count by count."""

from __future__ import annotations

import doctest

import pytest

from antecede.lab import readings
from antecede.lab.figures import figure, series_of
from antecede.lab.models import chain
from antecede.lab.readings import (
    BASELINE,
    BROKERS,
    OURS,
    READINGS,
    base_of,
    counted,
    counts_of,
    draw_readings,
    judge_readings,
    reading_cells,
    strictest,
)  # fmt: skip
from antecede.sim.epidemic import Epidemic

FORWARD, PULL = "001: subscribers forward without limit", "001: subscribers pull from brokers"


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(readings)
    assert tried and not failed


def test_every_reading_can_be_run() -> None:
    cells = reading_cells((50,), 2)
    assert len(cells) == 2 * len(READINGS) and BASELINE in READINGS and len(OURS) == 5
    for cell in cells:
        Epidemic(**{k: v for k, v in cell.knobs.items() if k != "reading"})


def test_the_brokers_own_phase_takes_more_than_the_step_that_is_counted() -> None:
    assert chain(BROKERS, 3, loss=0.05, crash=0.01).rounds_to_all == pytest.approx(1.17, abs=0.01)
    assert [count.steps(3) for count in counts_of(PULL).values()] == [3, 4, 7]
    assert [count.steps(5) for count in counts_of(FORWARD).values()] == [5, 6]
    assert [count.steps(6) for count in counts_of(BASELINE).values()] == [6], "a publisher among its equals has none"


def test_rows_are_counted_in_every_way() -> None:
    row = {"reading": PULL, "seed": 1, "to_all": 3, "to_most": None, "curve": [0.0, 0.5, 0.9, 1.0, 1.0]}
    best, phase, answers = counted([row])
    assert best == row and (phase["to_all"], answers["to_all"], answers["to_most"]) == (4, 7, None)
    assert phase["curve"] == [0.0, 0.0, 0.5, 0.9, 1.0] and answers["curve"] == [0.0, 0.0, 0.0, 0.5, 0.5]
    assert {base_of(one["reading"]) for one in (best, phase, answers)} == {PULL}


def test_the_verdict_follows_the_readings() -> None:
    def judged(*better: bool | None) -> str:
        found = dict(zip(OURS, better, strict=True))
        return judge_readings([], lambda line: found[base_of(line)], "numbers").word

    assert judged(True, True, True, True, True) == "holds"
    assert judged(False, None, True, False, False) == "holds only if"
    assert judged(False, None, False, False, False) == "undecided"
    assert judged(False, False, False, False, False) == "does not hold"


def test_the_verdict_names_the_count_that_a_reading_needs() -> None:
    def said(*better: str) -> str:
        return judge_readings([], lambda line: line in better, "numbers").why

    assert said(FORWARD).startswith("subscribers forward without limit and the brokers' own phase is not counted: ")
    lines = list(counts_of(PULL))
    assert "pull from brokers and the brokers' own phase is not" in said(lines[0])
    assert "pull from brokers and a request with its answer is one step" in said(*lines[:2])
    assert said(*lines).startswith("subscribers pull from brokers: ")


def test_a_panel_shows_a_line_per_reading_in_one_count() -> None:
    rows = [{"reading": line, "n": n, "v": n} for name in READINGS for line in counts_of(name) for n in (1, 2)]

    def draw(drawing: object, strict: bool) -> None:
        ax = drawing.subplots()  # type: ignore[attr-defined]
        draw_readings(ax, rows, "n", "v", strict=strict)

    for strict in (False, True):
        made = figure((4.0, 3.0), lambda drawing, strict=strict: draw(drawing, strict))  # type: ignore[misc]
        assert [line.get_label() for line in made.axes[0].lines] == list(READINGS)
    assert strictest(PULL) in series_of(rows, "reading")
