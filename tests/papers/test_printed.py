"""The papers' text, taken literally: each reading fails in the way that made the repair necessary, and here is how.

By hand in the papers' own figures, and in drawn runs: every line of SEEDS is a run that anybody can repeat.
"""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.recipes import RECIPES
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from antecede.trace.report import Report
from tests.papers import test_colour as colours
from tests.papers import test_graph as graphs
from tests.papers import test_rounds as rounds
from tests.papers.rig import Rig

SEEDS = [
    ("solicit", "printed", 0, {"inversion", "gap", "overdue", "duplicate", "stuck", "false"}),
    ("solicit", "printed", 2, {"inversion", "gap", "overdue", "duplicate", "idle"}),
    ("graph", "printed-a", 0, {"idle"}),
    ("solicit", "charitable", 0, {"inversion", "gap", "duplicate"}),
    ("graph", "printed-b", 7, {"inversion", "gap"}),
    ("pull", "printed-a", 0, {"undelivered"}),
    ("pull", "printed-b", 0, {"inversion", "gap"}),
    ("pull", "printed-c", 0, {"inversion", "gap", "duplicate"}),
    ("rounds", "printed", 0, {"stuck", "idle"}),
    ("rounds", "described", 0, {"stuck", "idle"}),
    ("colour", "printed", 0, {"gap", "stuck", "false"}),
    ("colour", "charitable", 0, {"gap", "stuck", "false"}),
]


def judged(recipe: str, reading: str, seed: int) -> Report:
    deadline_ms = (150.0, 300.0) if recipe == "solicit" else None
    scenario = Scenario(
        recipe=recipe, reading=reading, seed=seed, messages=60, loss=0.1, duplicate=0.05, limit_s=6,
        deadline_ms=deadline_ms,
    )  # fmt: skip
    run = simulate(scenario)
    return check(run.rows, scenario=run.body())


@pytest.mark.parametrize(("recipe", "reading", "seed", "fails"), SEEDS)
def test_a_literal_reading_fails_where_the_repaired_one_does_not(
    recipe: str, reading: str, seed: int, fails: set[str]
) -> None:
    found = {verdict for verdict, count in judged(recipe, reading, seed).counts.items() if count}
    assert fails <= found
    assert judged(recipe, "repaired", seed).clean


def test_every_literal_reading_is_shown() -> None:
    printed = {(name, reading) for name, recipe in RECIPES.items() for reading in recipe.readings[1:]}
    assert printed == {(recipe, reading) for recipe, reading, _, _ in SEEDS} and len(printed) == 11


# -- 000, 002 ----------------------------------------------------------------------------------------------------------


def figure_four(reading: str = "printed", **settings: Any) -> Rig:
    """002 Figs 3-5: p:m1, q:m2 after it, s:m3 after both; r gets m3 only."""
    rig = Rig("solicit", members="p q r s", reading=reading, **settings)
    rig.advance(1)
    for name in "pqs":
        message = rig.publish(name, deadline_ms=200)
        rig.spread(message, but=() if name == "s" else ("r",))
        rig.advance(1)
    rig.drop(to="r", what="p:1")
    rig.drop(to="r", what="q:1")
    return rig


def test_with_a_strict_upper_bound_the_papers_own_figure_gets_no_answer() -> None:  # SOLICIT-RECV: "<"
    rig = figure_four()
    rig.settle()
    assert rig.asks("r") == [("s", "")] and rig.answers("s") == [("r", "")]
    rig.report()
    assert "p:1" not in rig.delivered("r") and "q:1" not in rig.delivered("r")


def test_every_deadline_is_met_for_the_interval_is_a_tick_of_the_clock() -> None:  # "Every time interval"
    rig = figure_four(round_us=7_001)
    rig.report()
    assert rig.delivered("r") == ["s:1"] and rig.delivered_at_ms("r", "s:1") == 3 + 200


def test_with_vectors_compared_as_vectors_the_papers_own_figure_comes_out() -> None:  # charitable: "<" of vectors
    rig = figure_four("charitable")
    rig.settle()
    assert rig.answers("s") == [("r", "p:1"), ("r", "q:1")] or rig.answers("s") == [("r", "p:1 q:1")]
    rig.report()
    assert rig.delivered("r") == ["p:1", "q:1", "s:1"]


def test_an_answer_that_comes_twice_is_delivered_twice() -> None:  # RPY-RECV, charitable or not
    rig = figure_four("charitable")
    rig.deliver("r", "s", "request")
    rig.duplicate("s", "r", "p:1")
    assert rig.report().counts["duplicate"]


def test_two_messages_of_one_instant_are_one() -> None:  # B-SEND: "<- current time value"
    rig = Rig("solicit", members="p q", reading="printed")
    rig.advance(1)
    rig.publish("p", deadline_ms=100)
    rig.publish("p", deadline_ms=100)
    rig.settle()
    assert rig.delivered("q") == ["p:1"] and rig.discarded("q") == [("p:2", "superseded")]
    assert rig.report().counts["stuck"]


def test_a_gap_in_a_senders_own_messages_is_not_seen() -> None:  # B-RECV: "MVector_sndr[sndr] > MVector_rcvr[sndr]"
    rig = Rig("solicit", members="p q", reading="printed")
    for _ in range(2):
        rig.advance(1)
        rig.publish("p", deadline_ms=100)
    rig.deliver("p", "q", "p:2")
    assert rig.delivered("q") == ["p:2"]
    rig.settle()
    assert rig.discarded("q") == [("p:1", "superseded")]
    assert rig.report().counts["gap"]


def test_a_sender_cannot_give_what_it_sent_itself() -> None:  # only what was delivered is in DLVD_Q
    rig = Rig("solicit", members="p q r", reading="printed")
    rig.advance(1)
    rig.publish("p", deadline_ms=100)
    rig.advance(1)
    rig.deliver("p", "q", "p:1")
    rig.drop("p", "r", "p:1")
    rig.publish("q", deadline_ms=100)
    rig.settle()
    assert rig.machine("p").kept and [e.message.id for e in rig.machine("p").kept] == ["q:1"]


# -- 001 s2.3 ----------------------------------------------------------------------------------------------------------


def chain(reading: str) -> Rig:
    """s3.3: A1(G1, G2) -> D1(G2) -> B1(G1, G2)."""
    rig = Rig("graph", brokers=graphs.BROKERS, subscribers=graphs.SUBSCRIBERS, reading=reading, deadlines=False)
    graphs.chain(rig)
    return rig


def test_waiting_for_messages_of_other_groups_never_ends() -> None:  # "verifies that all ancestor messages"
    rig = chain("printed-a")
    rig.deliver("A", "C", "A:1")
    rig.deliver("B", "C", "B:1")
    rig.advance(5_000)
    assert rig.delivered("C") == ["A:1"] and rig.held("C") == ["B:1"]  # D1 will never come to C


def test_a_broker_that_leaves_them_out_verifies_all_the_other_ancestors() -> None:  # "comparing its context graph"
    rig = chain("printed-b")
    rig.deliver("B", "C", "B:1")
    assert rig.held("C") == ["B:1"]  # D1 is not for C, A1 behind it is
    rig.deliver("A", "C", "A:1")
    assert rig.delivered("C") == ["A:1", "B:1"]


def test_a_subscriber_that_leaves_them_out_delivers_without_what_stands_behind_them() -> None:  # s3.3: "B1 without A1"
    rig = chain("printed-b")
    rig.deliver_to_brokers()
    rig.deliver("C", "S1", "B:1")
    assert rig.delivered("S1") == ["B:1"]  # D1, its only immediate predecessor, is not for S1
    rig.deliver("C", "S1", "A:1")
    assert rig.delivered("S1") == ["B:1", "A:1"]
    report = rig.report()
    assert report.counts["gap"] == report.counts["inversion"] == 1
    assert {finding.process for finding in report.findings} == {"S1"}


# -- 001 s2.2 ----------------------------------------------------------------------------------------------------------


def test_rule_1_rejects_the_papers_own_red_a2() -> None:  # 001 Fig 2: A sends in rounds 1, 2 and 4
    rig = Rig(
        "rounds", brokers=rounds.BROKERS, subscribers={"S2": ("G1 G2", "A")}, reading="printed", colours=3,
        round_us=rounds.ROUND_MS * 1000, fanout=9,
    )  # fmt: skip
    for number in (1, 2, 4):
        rounds.begin(rig, number)
        rig.publish("A", "G1 G2")
        rig.settle()
    assert rig.delivered("S2") == ["A:1", "A:2"] and rig.held("S2") == ["A:4"]
    report = rig.report()
    assert ("A:4", "late") in rig.discarded("S2") and report.counts["stuck"] and report.counts["idle"]


def test_rule_1_hears_nobody_who_did_not_send_in_the_first_round() -> None:  # "all 0 at the beginning"
    rig = Rig(
        "rounds", brokers=rounds.BROKERS, subscribers={"S2": ("G1 G2", "A")}, reading="printed", colours=3,
        round_us=rounds.ROUND_MS * 1000, fanout=9,
    )  # fmt: skip
    rounds.begin(rig, 2)
    rig.publish("A", "G1 G2")
    rig.settle()
    assert rig.held("S2") == ["A:2"]  # GT_s[A] is 0, GT_m[A] - 1 is 1


def test_by_rule_1_a_third_is_delivered_where_everybody_sends_in_every_round_and_nothing_out_of_order() -> None:
    owed = got = 0
    for seed in range(3):
        scenario = Scenario(
            recipe="rounds", reading="printed", seed=seed, messages=60, rate=200, loss=0.1, warmup_ms=40, round_ms=130,
            limit_s=6,
        )  # fmt: skip
        run = simulate(scenario)
        report = check(run.rows, scenario=run.body())
        assert not report.counts["inversion"] and not report.counts["gap"]
        fates = report.fates_by_role["subscriber"]
        owed, got = owed + sum(fates.values()), got + fates["delivered"]
    assert 0.2 < got / owed < 0.5


def test_the_vector_as_described_makes_a_subscriber_wait_for_the_other_group() -> None:  # "{yellow, blue, 0, yellow}"
    rig = Rig(
        "rounds", brokers=rounds.BROKERS, subscribers=rounds.SUBSCRIBERS, reading="described", colours=3,
        round_us=rounds.ROUND_MS * 1000, fanout=9,
    )  # fmt: skip
    rig.lose(what="digest")
    rounds.figure_two(rig)
    assert rounds.colours(rig, "C", "S1", "red_A2")["D"] == rounds.YELLOW  # S1 is not in G2
    rig.settle()
    assert "red_A2" in rig.held("S1") and "red_A2" in rig.delivered("S2")
    assert rig.report().counts["stuck"]


# -- 004 ---------------------------------------------------------------------------------------------------------------


def test_integer_colours_drop_the_papers_own_red_b3() -> None:  # 004 Fig 3
    rig = Rig(
        "colour", brokers=colours.BROKERS, subscribers=colours.SUBSCRIBERS, reading="printed", colours=3,
        round_us=colours.ROUND_MS * 1000,
    )  # fmt: skip
    for number, sender in ((1, "B"), (2, "A"), (3, "B"), (4, "B"), (5, "A"), (6, "B")):
        colours.begin(rig, number)
        rig.publish(sender, "G1 G2")
        rig.settle()
    assert rig.delivered("S3") == ["B:1", "A:2", "B:3"]  # red, yellow, blue; after blue nothing is ever greater
    assert list(dict.fromkeys(m for m, _ in rig.discarded("S3"))) == ["B:4", "A:5", "B:6"]
    assert rig.report().counts["stuck"]


def test_cyclic_colours_take_red_b3_and_lose_what_is_overtaken() -> None:  # charitable: newer than the last delivered
    rig = Rig(
        "colour", brokers=colours.BROKERS, subscribers=colours.SUBSCRIBERS, reading="charitable", colours=3,
        round_us=colours.ROUND_MS * 1000,
    )  # fmt: skip
    rig.lose(what="digest")
    for number, sender in ((1, "B"), (2, "A"), (3, "B"), (4, "B")):
        colours.begin(rig, number)
        rig.deliver_to_brokers(rig.publish(sender, "G1 G2"))
        if number > 1:
            rig.deliver("D", "S3", f"{sender}:{number}")
    assert rig.delivered("S3") == ["A:2", "B:3", "B:4"]  # at once, though red_B1 is missing: nothing is waited for
    rig.deliver("D", "S3", "B:1")
    assert rig.discarded("S3") == [("B:1", "superseded")]  # taken for a red of round 4, not newer than the last


def test_cyclic_colours_still_lose_half() -> None:
    owed = got = 0
    for seed in range(3):
        fates = judged("colour", "charitable", seed).fates_by_role["subscriber"]
        owed, got = owed + sum(fates.values()), got + fates["delivered"]
    assert 0.2 < got / owed < 0.5


def test_integer_colours_lose_most_of_what_subscribers_are_owed() -> None:  # s3.5
    owed = got = 0
    for seed in range(3):
        fates = judged("colour", "printed", seed).fates_by_role["subscriber"]
        owed += sum(fates.values())
        got += fates["delivered"]
    assert got / owed < 0.2
