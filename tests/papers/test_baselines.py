"""The baselines, judged by what their sources claim: what each does that its neighbour does not, and what it costs."""

from __future__ import annotations

import statistics
from math import comb
from typing import Any

import pytest

from antecede.core.recipes import RECIPES
from antecede.sim.layout import broker_names
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from antecede.trace.report import Report


def run_of(recipe: str, seed: int, **knobs: Any) -> tuple[Run, Report]:
    run = simulate(Scenario(recipe=recipe, seed=seed, **knobs))
    report = check(run.rows, scenario=run.body())
    assert report.clean and run.quiet, report.findings[:2]
    return run, report


def sent(run: Run, *kinds: str, what: str = "frames") -> int:
    return sum(total[kind][what] for total in run.totals.values() for kind in kinds if kind in total)


def delivered(reports: list[Report]) -> float:
    return sum(r.fates["delivered"] for r in reports) / sum(r.pairs for r in reports)


def delays_ms(run: Run) -> list[float]:
    published = {row[6]: row[14] for row in run.rows if row[5] == "publish"}
    return [(row[14] - published[row[6]]) / 1000 for row in run.rows if row[5] == "deliver"]


# -- psync -----------------------------------------------------------------------------------------------------------


def test_psync_sends_the_graph_to_subscribers_too_and_graph_does_not() -> None:
    """001 s1: "only the immediate predecessors are disseminated instead of all ancestors"."""
    stamps = {}
    for recipe in ("psync", "graph"):
        run, report = run_of(recipe, 1, loss=0.05, messages=80)
        assert delivered([report]) == 1.0
        stamps[recipe] = sum(row[17] or 0 for row in run.rows if row[5] == "arrive" and row[2] == "subscriber")
    assert stamps["psync"] > 3 * stamps["graph"]


def test_psync_orders_through_messages_of_other_groups() -> None:
    for seed in range(8):
        run_of("psync", seed, groups="G1=A,B;G2=B,C;G3=A,C", loss=0.2, messages=60, reply=0.9, choice="one")


# -- delta, dcco -----------------------------------------------------------------------------------------------------


def test_delta_stops_waiting_when_a_cause_has_expired_and_dcco_only_at_its_own_deadline() -> None:
    """Both lose the same messages; what follows a lost one is held for less."""
    knobs: dict[str, Any] = {"loss": 0.05, "deadline_ms": (250, 250), "messages": 100}
    slow: dict[str, list[float]] = {"delta": [], "dcco-vector": []}
    for seed in range(6):
        for recipe, delays in slow.items():
            delays += delays_ms(run_of(recipe, seed, **knobs)[0])
    assert statistics.fmean(slow["delta"]) < 0.95 * statistics.fmean(slow["dcco-vector"])


def test_without_loss_delta_and_dcco_are_the_same() -> None:
    for seed in range(3):
        found = [delays_ms(run_of(recipe, seed, deadline_ms=(250, 250))[0]) for recipe in ("delta", "dcco-vector")]
        assert found[0] == found[1]


@pytest.mark.parametrize("recipe", ["delta", "dcco-vector"])
def test_they_never_ask(recipe: str) -> None:
    run, _ = run_of(recipe, 1, loss=0.2, deadline_ms=(200, 200))
    assert not sent(run, "request", "digest")


# -- piggyback -------------------------------------------------------------------------------------------------------


def test_piggyback_waits_less_and_asks_less_than_solicit_and_sends_more_bytes() -> None:
    """002 s3A: "reduce the delivery time ... by piggybacking all of its predecessors on each sent message"."""
    found: dict[str, tuple[list[float], int, int]] = {}
    for recipe in ("piggyback", "solicit"):
        delays: list[float] = []
        asked = size = 0
        for seed in range(6):
            run, _ = run_of(recipe, seed, loss=0.1, deadline_ms=None, messages=60)
            delays += delays_ms(run)
            asked += sent(run, "request")
            size += sent(run, "data", what="bytes")
        found[recipe] = (delays, asked, size)
    towed, asking = found["piggyback"], found["solicit"]
    assert statistics.fmean(towed[0]) < 0.95 * statistics.fmean(asking[0])
    assert towed[1] < 0.5 * asking[1]
    assert towed[2] > 4 * asking[2]


# -- fifo, ackcast ---------------------------------------------------------------------------------------------------


def test_fifo_keeps_the_order_of_each_sender_and_no_other() -> None:
    crossed = 0
    for seed in range(5):
        run, report = run_of("fifo", seed, loss=0.1, messages=60)
        assert delivered([report]) == 1.0
        causal = [(*row[:10], None, *row[11:]) if row[5] == "publish" else row for row in run.rows]
        crossed += check(causal).counts["inversion"]
    assert crossed > 0, "judged as causal order it inverts, so it is not by accident that it does not"


def test_ackcast_delivers_everything_and_every_copy_costs_an_acknowledgement() -> None:
    for seed in range(5):
        run, report = run_of("ackcast", seed, loss=0.1, crash=0.1, messages=60)
        assert report.fates["delivered"] + report.fates["departed"] == report.pairs
        assert sent(run, "received") >= 0.8 * report.fates["delivered"]


# -- gossip ----------------------------------------------------------------------------------------------------------


def infected(recipe: str, members: int, fanout: int, loss: float, runs: int, **knobs: Any) -> list[float]:
    """How many have one message after each round, on average. Rounds are told from the clock: delays are short."""
    counts: list[list[int]] = []
    for seed in range(runs):
        run = simulate(
            Scenario(recipe=recipe, seed=seed, brokers=members, subscribers=0, groups=one_group(members), messages=1,
                     fanout=fanout, loss=loss, round_ms=100, delay_ms=(1, 2), reply=0, **knobs)
        )  # fmt: skip
        at_us = [row[14] for row in run.rows if row[5] in ("publish", "deliver")]
        first = at_us[0] // 100_000
        counts.append([sum(at // 100_000 - first <= r for at in at_us) for r in range(9)])
    return [statistics.fmean(count[r] for count in counts) for r in range(9)]


def one_group(members: int) -> str:
    return f"G1={','.join(broker_names(members))}"


def chain(members: int, fanout: int, loss: float, rounds: int) -> list[float]:
    """Eugster et al. 2001: P(j | i) = C(n - i, j - i) (1 - q**i)**(j - i) q**(i (n - j)), q = 1 - F(1 - e)/(n - 1)."""
    q = 1 - fanout / (members - 1) * (1 - loss)
    now = {1: 1.0}
    expected = [1.0]
    for _ in range(rounds):
        then: dict[int, float] = {}
        for i, p in now.items():
            for j in range(i, members + 1):
                step = comb(members - i, j - i) * (1 - q**i) ** (j - i) * q ** (i * (members - j))
                then[j] = then.get(j, 0.0) + p * step
        now = {i: p for i, p in then.items() if p > 1e-12}
        expected.append(sum(i * p for i, p in now.items()))
    return expected


def test_the_chain_infects_as_the_analysis_says() -> None:
    measured = infected("lpbcast-chain", 30, 3, 0.05, 120)
    for r, expected in enumerate(chain(30, 3, 0.05, 8)):
        assert abs(measured[r] - expected) < 0.07 * expected + 0.4, (r, measured[r], expected)


def test_the_three_variants_differ() -> None:
    """Why "lpbcast" alone is ambiguous: forwarding once without asking leaves some out; asking brings most of them in,
    later; forwarding all the time reaches all and costs several times the copies."""
    found = {}
    for recipe in ("lpbcast-once", "lpbcast-unlimited", "lpbcast-chain"):
        reports, copies = [], 0
        for seed in range(10):
            run, report = run_of(recipe, seed, brokers=30, subscribers=0, groups=one_group(30), messages=10, loss=0.05)
            reports.append(report)
            copies += sum(row[5] == "arrive" for row in run.rows)
        found[recipe] = (delivered(reports), copies)
    assert found["lpbcast-unlimited"][0] > 0.999 and found["lpbcast-chain"][0] > 0.999
    assert 0.97 < found["lpbcast-once"][0] <= 1.0
    assert found["lpbcast-unlimited"][1] > 4 * found["lpbcast-once"][1]


def test_bimodal_nearly_all_by_the_multicast_and_the_rest_by_gossip() -> None:
    reports, early, late = [], 0, 0
    for seed in range(10):
        run, report = run_of("pbcast", seed, messages=40, loss=0.1)
        reports.append(report)
        delays = delays_ms(run)
        early += sum(delay <= 20 for delay in delays)
        late += sum(delay > 20 for delay in delays)
    assert delivered(reports) > 0.998
    assert 0.08 < late / (early + late) < 0.12, "what the multicast lost"


@pytest.mark.parametrize("recipe", [name for name, recipe in RECIPES.items() if recipe.chance])
def test_what_gossip_does_not_reach_is_lost_and_said_so(recipe: str) -> None:
    knobs = {"brokers": 30, "subscribers": 0, "groups": one_group(30)}
    report = run_of(recipe, 3, messages=5, loss=0.5, fanout=1, **knobs)[1]
    assert report.fates["lost"] > 0 and report.fates["delivered"] + report.fates["lost"] == report.pairs


# -- local views, near members ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [6, 10])
def test_local_views_spread_nearly_as_well_as_all(view: int) -> None:
    """lpbcast's point, and 001 s1: the size of the view hardly matters."""
    share = {}
    for size in (0, view):
        found = [
            run_of("lpbcast-unlimited", seed, brokers=30, subscribers=0, groups=one_group(30), messages=10, loss=0.05,
                   view=size)[1]
            for seed in range(6)
        ]  # fmt: skip
        share[size] = delivered(found)
    assert share[view] > share[0] - 0.01


@pytest.mark.parametrize("recipe", ["solicit", "fifo", "cbcast", "psync"])
def test_with_views_of_one_everything_is_still_delivered(recipe: str) -> None:
    for seed in range(4):
        assert delivered([run_of(recipe, seed, loss=0.3, view=1, messages=60)[1]]) == 1.0


def test_preference_for_near_members_saves_long_links() -> None:
    """004 s1: "giving preferences to local members to significantly reduce the number of messages traversing the
    long-distance network links"."""
    crossed: dict[float, int] = {}
    share = {}
    for near in (0.0, 0.8):
        reports = []
        for seed in range(4):
            run, report = run_of("lpbcast-unlimited", seed, brokers=24, subscribers=0, groups=one_group(24),
                                 messages=15, sites=3, near=near)  # fmt: skip
            reports.append(report)
            site = {name: place % 3 for place, name in enumerate(broker_names(24))}
            crossed[near] = crossed.get(near, 0) + sum(
                site[row[1]] != site[row[15]] for row in run.rows if row[5] == "arrive"
            )
        share[near] = delivered(reports)
    assert crossed[0.8] < 0.5 * crossed[0.0]
    assert share[0.8] > 0.99


# -- mixed orders ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [name for name, recipe in RECIPES.items() if "none" in recipe.orders[1:]])
def test_an_unordered_message_is_handed_over_as_it_comes_and_an_ordered_one_waits(recipe: str) -> None:
    waits: dict[bool, list[float]] = {True: [], False: []}
    timed = RECIPES[recipe].deadlines in ("yes", "same")
    for seed in range(4):
        mix = f"{RECIPES[recipe].orders[0]}=1,none=1"
        deadline_ms = (250, 250) if timed else None
        run, report = run_of(recipe, seed, mix=mix, loss=0.1, messages=100, deadline_ms=deadline_ms)
        assert timed or delivered([report]) == 1.0
        came: dict[tuple[str, str], int] = {}
        for row in run.rows:
            if row[5] == "arrive":
                came.setdefault((row[1], row[6]), row[14])
            elif row[5] == "deliver" and row[2] != "subscriber":  # what comes before a subscriber begins comes again
                waits["~" in row[6]].append(row[14] - came[row[1], row[6]])
    assert max(waits[True]) == 0
    assert max(waits[False]) > 0 or recipe == "piggyback", "it brings along what it would wait for"
