"""Where things stand: time runs down, nothing of a lane overlaps, arrows leave where the message was."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from antecede.report.show.chosen import lane_of, window
from antecede.report.show.layout import AGAIN, BAND, STEP, Scene, _places, lay_out
from antecede.report.show.run import Run, run_of
from tests.report.show.stories import ANSWERED, MOVED, UNORDERED, shown
from tests.trace.causal import causal_run
from tests.trace.tables import rows


def scene(run: Run) -> Scene:
    findings = run.report.findings if run.report is not None else []
    return lay_out(run, window(run), findings)


def test_time_runs_down_and_steps_of_a_lane_do_not_overlap() -> None:
    made = scene(run_of(causal_run(5, messages=60), None))
    assert [mark.y for mark in made.marks] == sorted(mark.y for mark in made.marks)
    by_lane = defaultdict(list)
    for mark in made.marks:
        by_lane[lane_of(mark.line.process)].append(mark.y)
    assert all(after - before >= STEP for places in by_lane.values() for before, after in pairwise(places))
    assert made.marks[-1].y < made.height and max(x for x, _ in made.lanes) < made.width


def test_an_arrow_leaves_where_its_sender_had_the_message() -> None:
    made = scene(shown(MOVED))
    at = {(mark.line.process, mark.line.message): mark for mark in made.marks}
    arrow = next(a for a in made.arrows if a.message == "A:1" and a.x1 == at["s10", "A:1"].x)
    assert (arrow.x0, arrow.y0) == (at["B", "A:1"].x, at["B", "A:1"].y) and arrow.known


def test_an_arrow_from_nowhere_is_level_and_says_so() -> None:
    run = shown(ANSWERED)
    made = lay_out(run, window(run, start_us=35))
    arrow = next(a for a in made.arrows if a.message == "q:1")
    assert not arrow.known and arrow.y0 == arrow.y1


def test_what_waits_is_a_stretch_and_a_request_an_arrow_to_who_is_asked() -> None:
    made = scene(shown(ANSWERED))
    assert [wait.message for wait in made.waits] == ["q:1"] and made.waits[0].y0 < made.waits[0].y1
    asks = [arrow for arrow in made.arrows if arrow.asks]
    places = {lane: x for x, lane in made.lanes}
    assert [(arrow.message, arrow.x0, arrow.x1) for arrow in asks] == [("p:1", places["r"], places["q"])]


def test_findings_ring_their_deliveries() -> None:
    made = scene(run_of(rows(UNORDERED), None, order="causal"))
    ringed = {(mark.line.process, mark.line.message) for mark in made.marks if mark.findings}
    assert ("r", "p~:1") in ringed and ("p", "q~:1") not in ringed


def test_a_crashed_process_is_away_until_it_is_back() -> None:
    made = scene(shown(MOVED))
    x = {lane: x for x, lane in made.lanes}["A"]
    assert [away.x for away in made.absences] == [x]
    assert [note.text for note in made.notes] == ["crashes", "moves to B", "back as A.1", "joins G1 at B"]
    crash, back = made.notes[0], made.notes[2]
    assert (made.absences[0].y0, made.absences[0].y1) == (crash.y, back.y)


def test_who_has_not_begun_is_away_and_who_never_said_so_is_not() -> None:
    later = MOVED.replace("s10 1 join", "s10 29 join")
    x = {lane: x for x, lane in scene(shown(later)).lanes}
    assert x["s10"] in [away.x for away in scene(shown(later)).absences]
    early = "p 0 join G1\nq 30 publish q:1 G1\np 10 publish p:1 G1\np 90 end quiet\nq 90 end quiet"
    assert scene(shown(early)).absences == []


def test_long_pictures_repeat_the_names_of_their_lanes() -> None:
    made = scene(run_of(causal_run(5, messages=80), None))
    assert len(made.heads()) == 1 + int(made.height / 700 - 0.3) > 2


def test_no_step_stands_on_a_repeated_row_of_names() -> None:
    steps = [(n * 1000, "AB"[n % 2]) for n in range(400)]
    places = _places(steps)
    assert places == sorted(places) and places[-1] > 3 * AGAIN
    assert all(abs(y - row * AGAIN) >= BAND for y in places for row in range(1, 12))
