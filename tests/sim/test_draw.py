"""The sweep draws sizes and faults as it says."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import Any

import pytest

from antecede.errors import InputError
from antecede.sim.draw import draw
from antecede.sim.layout import lay_out
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import judge
from antecede.trace.check import check
from tests.sim.echo import TWO_TIERS, Facts

NO_CHANGES: dict[str, Any] = {
    "join": 0.0, "leave": 0.0, "perturb": "", "nap_ms": Scenario().nap_ms, "membership": "told",
}  # fmt: skip


def test_sizes_and_faults() -> None:
    drawn = [draw(1, "echo", i, facts=TWO_TIERS) for i in range(500)]
    usual = [s for i, s in enumerate(drawn) if i % 50 != 49]
    assert median(s.brokers for s in usual) == 4
    assert 5 <= median(s.subscribers for s in usual) <= 7
    assert 30 <= median(s.count for s in usual) <= 50
    assert all((s.brokers, s.subscribers, s.count) == (8, 64, 400) for s in drawn[49::50])
    for knob in ("loss", "duplicate", "spike", "crash", "skew_ms", "move", "partition", "declare"):
        assert 0.2 < sum(bool(getattr(s, knob)) for s in drawn) / 500 < 0.9
    assert max(s.loss for s in drawn) > 0.25
    assert 0.6 < sum(s.deadline_ms is not None for s in drawn) / 500 < 0.9
    assert len({s.seed for s in drawn}) == 500
    for scenario in drawn[:50]:
        lay_out(scenario, TWO_TIERS)


def test_deadlines_only_where_a_recipe_has_them() -> None:
    assert all(draw(1, "echo", i, facts=Facts(deadlines="none")).deadline_ms is None for i in range(50))
    assert all(draw(1, "echo", i, facts=Facts(deadlines="yes")).deadline_ms is not None for i in range(50))


def test_lifetimes_are_of_a_few_delays_and_fit_the_clocks() -> None:
    for uniform in (False, True):
        facts = Facts(deadlines="lifetime", uniform=uniform)
        drawn = [draw(1, "echo", i, facts=facts) for i in range(200)]
        for scenario in drawn:
            scenario.fits(facts)
            assert scenario.round_ms > scenario.skew_ms
            assert scenario.colours * scenario.round_ms > 3 * scenario.delay_ms[1] + scenario.skew_ms
        assert 50 < sum(s.deadline_ms is not None for s in drawn) < 150
        assert len({s.colours for s in drawn}) > 10


def test_all_live_equally_long_where_they_must() -> None:
    for index in range(50):
        scenario = draw(1, "echo", index, facts=Facts(deadlines="same"))
        scenario.fits(Facts(deadlines="same"))


def test_what_came_later_changes_nothing_else() -> None:
    facts = Facts(orders=("causal", "none"))
    mixed = viewed = placed = grows = undated = 0
    for index in range(300):
        early, drawn = (draw(1, "echo", index, facts=facts, early=early) for early in (True, False))
        split = {"partition": early.partition} if drawn.membership == "swim" else {}
        assert replace(drawn, mix="", view=0, near=0.0, sites=1, grow=0.0, undated=0.0, **NO_CHANGES, **split) == early
        drawn.fits(facts)
        grows, undated = grows + bool(drawn.grow), undated + bool(drawn.undated)
        mixed, viewed, placed = mixed + bool(drawn.mix), viewed + bool(drawn.view), placed + (drawn.sites > 1)
    assert 60 < mixed < 120 and 60 < viewed < 120 and 20 < placed < 80 and 50 < grows < 100
    assert 30 < undated < 90
    assert not any(draw(1, "echo", i, facts=TWO_TIERS).mix for i in range(50)), "there is one order"
    assert not any(draw(1, "echo", i, "printed", facts=facts).mix for i in range(50)), "the papers have one"
    assert not any(draw(1, "echo", i, "printed", facts=facts).grow for i in range(50)), "nobody changes in the papers"


def test_members_come_and_go_in_some() -> None:
    drawn = [draw(1, "echo", index, facts=TWO_TIERS) for index in range(500)]
    assert 120 < sum(bool(s.join and s.leave) for s in drawn) < 180
    assert 70 < sum(bool(s.perturb) for s in drawn) < 130
    assert {s.perturb.partition(":")[0] for s in drawn} == {"", "one", "some", "all"}
    finding = [s for s in drawn if s.membership == "swim"]
    assert 100 < len(finding) < 150
    lengths = [split.end_us - split.begin_us for s in finding for split in lay_out(s, TWO_TIERS).partitions]
    assert sum(length > 2_000_000 for length in lengths) > 20, "some are taken for dead"
    assert all(draw(1, "echo", i, "printed", facts=TWO_TIERS).membership == "told" for i in range(50))


def test_the_same_index_is_the_same_scenario() -> None:
    assert draw(1, "echo", 7, facts=TWO_TIERS) == draw(1, "echo", 7, facts=TWO_TIERS)


def test_harsh_ones_leave_nobody_in_peace() -> None:
    drawn = [draw(1, "echo", index, facts=TWO_TIERS, harsh=True) for index in range(200)]
    for scenario in drawn:
        lay_out(scenario, TWO_TIERS)
        assert min(scenario.loss, scenario.crash, scenario.restart, scenario.join, scenario.leave, scenario.move) > 0
        assert scenario.deadline_ms is None and scenario.homes <= scenario.brokers
    assert all(draw(1, "echo", i, facts=Facts(deadlines="yes"), harsh=True).deadline_ms for i in range(50))
    with pytest.raises(InputError, match="knows nothing of churn"):
        draw(1, "echo", 0, "printed", facts=TWO_TIERS, harsh=True)


def test_leavers_come_and_go_for_long_enough_to_be_forgotten() -> None:
    drawn = [draw(1, "home", index, leavers=True) for index in range(50)]
    assert all(one.leave and one.remember_ms and not one.partition for one in drawn)
    assert all(bool(one.join) == (one.deadline_ms is None) for one in drawn)
    assert all(one.busy_us(one.count) >= 16_000_000 for one in drawn)
    assert {one.deadline_ms is None for one in drawn} == {True, False}
    with pytest.raises(InputError, match="--recipe home"):
        draw(1, "graph", 0, leavers=True)


@pytest.mark.parametrize("index", [8, 73, 235])
def test_senders_that_are_forgotten_keep_nobody_waiting(index: int) -> None:
    """Brokers waited for senders they had forgotten, since clients went on naming them as needs alone."""
    judged = judge(3, "home", "repaired", index, leavers=True)
    assert not judged.what, f"antecede simulate --recipe home --seed 3 --draw {index} --leavers: {judged.what}"


def test_where_all_brokers_are_lost_only_brokers_lack_what_was_retired() -> None:
    """Not promised (`core/home/retiring.py`): F begins with nobody left, and delivers S15:4 without S10:1, of which
    nobody knows any more. No subscriber lacks anything by that."""
    found = check(simulate(draw(3, "home", 144, leavers=True)).rows).findings
    assert {finding.process for finding in found} <= {"F", "G"} and {finding.verdict for finding in found} <= {"gap"}


def test_what_one_donor_let_go_of_and_another_kept_is_sent_and_not_called_gone() -> None:
    """G had let go of S9:10, J still kept it; both gave K what they had, and K told S4 that S9:10 is gone."""
    judged = judge(4, "home", "repaired", 48, leavers=True)
    assert not judged.what, f"antecede simulate --recipe home --seed 4 --draw 48 --leavers: {judged.what}"


def test_who_adds_a_group_begins_there_behind_what_its_broker_never_had() -> None:
    """S9 added G2 at M, which began behind S8:1 there, and was not told so. When nobody remembered S8:1 as gone any
    more, S9 delivered S8:2 without it."""
    judged = judge(5, "home", "repaired", 102, leavers=True)
    assert not judged.what, f"antecede simulate --recipe home --seed 5 --draw 102 --leavers: {judged.what}"
