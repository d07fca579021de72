"""Publications come at the rate, from the processes and to the groups that were asked for."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from tests.sim.echo import FLAT, HOME, TWO_TIERS, Facts, build


def published(facts: Facts = TWO_TIERS, **knobs: Any) -> list[tuple[Any, ...]]:
    rows = simulate(Scenario(recipe=facts.name, **knobs), build=build, facts=facts).rows
    return [row for row in rows if row[5] == "publish"]


@pytest.mark.parametrize("reply", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("burst", [1, 5])
def test_count_and_rate(reply: float, burst: int) -> None:
    rows = published(messages=400, rate=200, reply=reply, burst=burst)
    span_us = max(row[14] for row in rows) - min(row[14] for row in rows)
    assert len(rows) == 400 and 1_500_000 < span_us < 2_600_000


def test_replies_follow_a_delivery_at_once() -> None:
    rows = simulate(Scenario(recipe="echo-flat", reply=1.0, rate=50), build=build, facts=FLAT).rows
    delivered = {(row[1], row[14]) for row in rows if row[5] == "deliver"}
    replies = [row for row in rows if row[5] == "publish" and (row[1], row[14]) in delivered]
    assert len(replies) > 50


def test_who_publishes() -> None:
    assert {row[2] for row in published(TWO_TIERS)} == {"broker"}
    assert {row[2] for row in published(HOME)} == {"subscriber"}
    assert {row[2] for row in published(FLAT)} == {"member"}


def test_to_which_groups() -> None:
    groups = {"A": {"G1", "G2"}, "B": {"G1", "G2"}, "C": {"G1"}, "D": {"G2"}}
    for choice in ("one", "some", "all"):
        for row in published(groups="G1=A,B,C;G2=A,B,D", choice=choice):
            assert row[7] and set(row[7]) <= groups[row[1]]
            assert choice != "one" or len(row[7]) == 1
            assert choice != "all" or set(row[7]) == groups[row[1]]


def test_deadlines_are_drawn_from_their_range() -> None:
    spans = [row[8] - row[4] for row in published(deadline_ms=(100, 300), skew_ms=5)]
    assert min(spans) >= 100_000 and max(spans) <= 300_000 and max(spans) - min(spans) > 100_000
    assert {row[8] for row in published()} == {None}


def test_declared_causes_were_delivered_there() -> None:
    rows = simulate(Scenario(recipe="echo", declare=0.5, seed=4), build=build, facts=TWO_TIERS).rows
    seen: set[tuple[str, str]] = set()
    declared = 0
    for row in rows:
        if row[5] == "deliver":
            seen.add((row[1], row[6]))
        if row[5] == "publish" and row[10] is not None:
            declared += 1
            assert all((row[1], cause) in seen for cause in row[10])
    assert 25 < declared < 75


def test_orders_are_asked_for_in_the_shares_given_and_told_by_the_rows() -> None:
    scenario = Scenario(recipe="solicit", messages=600, rate=1000, mix="causal=2,fifo=1,none=1", seed=3)
    rows = [row for row in simulate(scenario).rows if row[5] == "publish"]
    told = Counter("none" if row[10] == ("-",) else "fifo" if row[10] == () else "causal" for row in rows)
    assert 250 < told["causal"] < 350 and 110 < told["fifo"] < 190 and 110 < told["none"] < 190
    assert all(("~" in row[6]) == (row[10] == ("-",)) for row in rows)


def test_without_a_mix_the_recipe_decides() -> None:
    for recipe, after in (("solicit", None), ("fifo", ()), ("ackcast", ("-",))):
        rows = simulate(Scenario(recipe=recipe, messages=10)).rows
        assert {row[10] for row in rows if row[5] == "publish"} == {after}


def test_causes_are_declared_only_by_those_that_have_an_order_for_them() -> None:
    rows = simulate(Scenario(recipe="fifo", messages=50, declare=1.0)).rows
    assert {row[10] for row in rows if row[5] == "publish"} == {()}
