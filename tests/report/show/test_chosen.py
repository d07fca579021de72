"""Which steps and lanes a picture holds, and what it says of the others."""

from __future__ import annotations

import pytest

from antecede.errors import InputError
from antecede.report.show.chosen import LANES, MOST, about, around, window
from antecede.report.show.run import run_of
from antecede.trace.record import Row
from tests.report.show.stories import ANSWERED, MOVED, UNORDERED, shown
from tests.trace.causal import causal_run
from tests.trace.tables import rows


def test_lives_share_a_lane_and_brokers_stand_left_of_subscribers_by_number() -> None:
    chosen = window(shown(MOVED))
    assert chosen.lanes == ["A", "B", "s2", "s10"]
    assert [row.kind for row in chosen.life] == ["crash", "move", "restart", "join"] and chosen.left_out == ""


def test_a_window_begins_with_the_first_publication_unless_it_is_said() -> None:
    run = shown(MOVED)
    assert window(run).lines[0].message == "A:1"
    assert {line.message for line in window(run, start_us=50).lines} == {"B:1"}
    assert {line.message for line in window(run, end_us=50).lines} == {"A:1"}
    assert [line.process for line in window(run, processes=["s2"]).lines] == ["s2", "s2"]
    assert {line.process for line in window(run, processes=["A.1"]).lines} == {"A", "A.1"}, "all lives of a name"


def test_about_a_message_shows_its_nearest_causes_too() -> None:
    run = shown(ANSWERED)
    assert {line.message for line in about(run, "r:1").lines} == {"q:1", "r:1"}
    with pytest.raises(InputError, match=r"Nobody published 'q:7' in this run; there is, for example, q:1\."):
        about(run, "q:7")
    with pytest.raises(InputError, match=r"No process of this run is called 'x'; there are p, q, r\."):
        about(run, "q:1", processes=["x"])


def test_around_a_finding_stand_its_messages_at_who_had_a_part_in_it() -> None:
    run = run_of(rows(UNORDERED), None, order="causal")
    assert run.report is not None
    finding = next(one for one in run.report.findings if one.verdict == "inversion")
    chosen = around(run, finding)
    assert chosen.lanes == ["p", "q", "r"] and {line.message for line in chosen.lines} == {"p~:1", "q~:1"}


def test_what_does_not_fit_is_left_out_and_said() -> None:
    run = run_of(causal_run(3, messages=400, members=20), None)
    chosen = window(run)
    assert len(chosen.lines) <= MOST and len(chosen.lanes) == LANES
    assert "later steps (--from " in chosen.left_out and "6 processes that do less here (--process " in chosen.left_out
    assert {line.process for line in chosen.lines} <= set(chosen.lanes)


def test_a_part_without_steps_is_empty() -> None:
    chosen = window(run_of([Row("x", "p", "member", 0, 5, "end", reason="quiet")], None))
    assert (chosen.lanes, chosen.lines, chosen.life) == ([], [], [])
