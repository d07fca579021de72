"""What a page knows of a run: its verdict, what each message follows, and what became of it."""

from __future__ import annotations

from antecede.report.show.run import run_of
from tests.report.show.stories import ANSWERED, UNORDERED, shown
from tests.trace.tables import rows


def test_direct_causes_leave_out_what_another_cause_follows() -> None:
    run = shown(ANSWERED)
    assert run.causes("q:1") == ("p:1",) and run.causes("r:1") == ("q:1",) and run.causes("p:1") == ()
    assert run.causes("z:9") == ()


def test_fates_are_counted_by_message() -> None:
    run = shown(ANSWERED)
    assert dict(run.fates["p:1"]) == {"delivered": 1, "superseded": 1}
    assert run.report is not None and run.report.counts["inversion"] == 0


def test_rows_are_in_the_order_of_time_and_times_begin_with_the_first() -> None:
    run = run_of(reversed(rows(ANSWERED)), None)
    assert [row.at_us for row in run.rows] == sorted(row.at_us for row in run.rows) and run.begin_us == 0


def test_an_order_that_nobody_asked_for_may_be_asked_for_afterwards() -> None:
    assert shown(UNORDERED).causes("q~:1") == ()
    run = run_of(rows(UNORDERED), None, order="causal")
    assert run.causes("q~:1") == ("p~:1",)
    assert run.report is not None and run.report.counts["inversion"] == 1


def test_the_oracle_is_not_asked_about_too_many_messages() -> None:
    run = run_of(rows(ANSWERED), None, judged=2)
    assert run.report is None and dict(run.fates["p:1"]) == {"delivered": 1}
