"""Crashes, restarts, moves and partitions happen as often as asked, and machines are told in time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from antecede.core.message import Message
from antecede.sim.driver import Driver
from antecede.sim.process import Process
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from tests.sim.echo import FLAT, HOME, TWO_TIERS, Echo, Facts


def watched(facts: Facts, **knobs: Any) -> tuple[Run, list[tuple[int, str, frozenset[str]]]]:
    """A run, and every view anybody was told: when (true time where there is no skew), to whom, which names."""
    told: list[tuple[int, str, frozenset[str]]] = []

    class Watched(Echo):
        def view(self, members: Any, now_us: int) -> list[Any]:
            told.append((now_us, self.name, frozenset(members)))
            return super().view(members, now_us)

    def build(recipe: str, reading: str, *, name: str, role: str, groups: tuple[str, ...], settings: Any,
              dice: Any) -> Echo:  # fmt: skip
        return Watched(name, role, groups, settings)

    return simulate(Scenario(recipe=facts.name, **knobs), build=build, facts=facts), told


def test_all_crash_and_all_come_back() -> None:
    run, told = watched(FLAT, crash=1.0, restart=1.0, detect_ms=100, messages=100)
    crashed = {row[1]: row[14] for row in run.rows if row[5] == "crash"}
    restarted = {row[1]: row[14] for row in run.rows if row[5] == "restart"}
    assert len(crashed) == len(restarted) == 10
    for name, at_us in crashed.items():
        assert 0 <= at_us <= restarted[f"{name}.1"]
        for when_us, who, names in told:
            if when_us >= at_us + 100_000 and who != name:
                assert name not in names
        assert not any(row[1] == name and row[14] > at_us for row in run.rows)
    for name, at_us in restarted.items():
        assert (at_us, name) in {(when_us, who) for when_us, who, names in told if name in names}
        assert not any(name in names and who != name for when_us, who, names in told if when_us < at_us + 100_000)


def test_without_restart_the_dead_stay_dead() -> None:
    run, _ = watched(FLAT, crash=1.0, restart=0.0, messages=100)
    assert {row[1] for row in run.rows if row[5] == "crash"} == {row[1] for row in run.rows}
    assert run.notes["unpublished"] > 0


def test_subscribers_leave_a_crashed_broker_for_one_that_carries_what_they_want() -> None:
    for facts in (TWO_TIERS, HOME):
        moved = 0
        for seed in range(10):
            run, _ = watched(facts, seed=seed, crash=0.5, restart=0.0, groups="G1=A,B,C;G2=A,B,D", detect_ms=50)
            crashed = {row[1]: row[14] for row in run.rows if row[5] == "crash"}
            for row in run.rows:
                if row[5] == "move":
                    moved += 1
                    assert crashed.get(row[15], row[14]) + 50_000 >= row[14]
        assert moved > 5


def test_moves_have_the_rate_that_was_asked_for() -> None:
    run, _ = watched(HOME, move=2.0, messages=500, subscribers=10, groups="G1=A,B,C,D")
    moves = sum(row[5] == "move" for row in run.rows)
    assert 70 <= moves <= 130  # 10 subscribers, 5 seconds, 2 a second


def test_flat_members_do_not_move() -> None:
    run, _ = watched(FLAT, move=2.0)
    assert not any(row[5] == "move" for row in run.rows)


def test_nothing_crosses_a_partition() -> None:
    split = "A,B|C,D@500-900"
    run, _ = watched(FLAT, subscribers=0, partition=split, messages=200, delay_ms=(5, 5))
    crossed = [row[14] for row in run.rows if row[5] == "arrive" and (row[1] in "AB") != (row[15] in "AB")]
    assert crossed and not [at for at in crossed if 505_000 < at < 905_000]


def test_several_partitions_may_stand_at_once() -> None:
    split = "A|B,C,D@300-900;A,B|C,D@500-700"
    run, _ = watched(FLAT, subscribers=0, partition=split, messages=300, rate=300, delay_ms=(5, 5))

    def heard(low_ms: int, high_ms: int) -> set[str]:
        return {
            "".join(sorted((row[1], row[15]))) for row in run.rows
            if row[5] == "arrive" and 1000 * low_ms + 6_000 < row[14] < 1000 * high_ms
        }  # fmt: skip

    assert heard(300, 500) == {"BC", "BD", "CD"}
    assert heard(500, 700) == {"CD"}
    assert heard(700, 900) == {"BC", "BD", "CD"}
    assert heard(900, 1300) == {"AB", "AC", "AD", "BC", "BD", "CD"}
    assert run.body()["partition"] == split


def test_the_written_scenario_names_everybody_and_runs_the_same() -> None:
    run, _ = watched(TWO_TIERS, partition="A|B@300-900")
    written = {k: v for k, v in run.body().items() if k not in ("format", "antecede")}
    assert "S1" in written["partition"] and "D" in written["partition"]
    again, _ = watched(TWO_TIERS, **{k: v for k, v in written.items() if k != "recipe"})
    assert again.digest() == run.digest()


def sleepy(perturb: str, nap_ms: float = 40, **knobs: Any) -> dict[str, list[int]]:
    """Process -> how much later than the network took each message came to it."""
    run, _ = watched(FLAT, perturb=perturb, nap_ms=nap_ms, delay_ms=(5, 5), messages=300, rate=300, reply=0.0, **knobs)
    published = {row[6]: row[14] for row in run.rows if row[5] == "publish"}
    late: dict[str, list[int]] = {}
    for row in run.rows:
        if row[5] == "arrive":
            late.setdefault(row[1], []).append(row[14] - published[row[6]] - 5_000)
    return late


def test_perturbation_has_three_readings() -> None:
    for perturb, sleepers in (("one:0.4", 1), ("some:0.3", 3), ("all:0.4", 10)):
        late = sleepy(perturb)
        slow = {name for name, times in late.items() if any(times)}
        assert len(slow) == sleepers, perturb
        assert all(0 <= late_us <= 40_000 for times in late.values() for late_us in times)


def test_a_process_sleeps_the_share_of_its_time_that_was_asked_for() -> None:
    times = [late_us for times in sleepy("all:0.4").values() for late_us in times]
    assert 0.3 < sum(late_us > 0 for late_us in times) / len(times) < 0.5
    times = [t for times in sleepy("some:0.9").values() for t in times if any(times)]
    assert 0.4 < sum(late_us > 0 for late_us in times) / len(times) < 0.6, "half of it, where a share of all sleep"


def test_nobody_publishes_asleep(monkeypatch: pytest.MonkeyPatch) -> None:
    publish = Driver.publish
    put_off = 0

    def awake(driver: Driver, process: Process, topics: Any, now_us: int, *more: Any) -> Message:
        nonlocal put_off
        assert now_us >= process.off_until_us
        put_off += now_us == process.off_until_us
        return publish(driver, process, topics, now_us, *more)

    monkeypatch.setattr(Driver, "publish", awake)
    run, _ = watched(FLAT, perturb="all:0.5", nap_ms=30, messages=200, rate=200)
    assert put_off > 20 and sum(row[5] == "publish" for row in run.rows) == 200


def test_clocks_leap_once_within_their_bound() -> None:
    run, _ = watched(FLAT, jump_ms=50, skew_ms=5, messages=200)
    leapt = 0
    for name in {row[1] for row in run.rows}:
        offsets = [row[4] - row[14] for row in run.rows if row[1] == name]
        changes = [two - one for one, two in pairwise(offsets) if one != two]
        assert len(changes) <= 1 and all(abs(change) <= 50_000 for change in changes)
        assert all(abs(offset) <= 55_000 for offset in offsets) and min(row[4] for row in run.rows) >= 0
        leapt += len(changes)
    assert leapt >= 8


JUDGED = {"recipe": "solicit", "loss": 0.1, "deadline_ms": (150, 400), "messages": 150, "jump_ms": 60}


def test_leaps_that_the_guard_covers_break_nothing() -> None:
    for recipe in ("solicit", "graph", "home"):
        for membership in ("told", "swim"):
            run = simulate(Scenario(**{**JUDGED, "recipe": recipe}, membership=membership, seed=2))
            assert run.quiet and check(run.rows, scenario=run.body()).clean


def test_a_leap_beyond_the_guard_costs_deadlines_never_order() -> None:
    found: set[str] = set()
    for seed in range(4):
        run = simulate(Scenario(**JUDGED, guard_ms=0, seed=seed))
        found |= {finding.verdict for finding in check(run.rows, scenario=run.body()).findings}
    assert "overdue" in found, "the promise holds within the bound of the clocks only"
    assert not found & {"inversion", "duplicate"}


def test_a_process_comes_back_once_and_never_after_it_left() -> None:
    run, _ = watched(FLAT, crash=1.0, restart=1.0, leave=1.0, messages=200)
    left = {row[1] for row in run.rows if row[5] == "leave"}
    restarted = [row[1] for row in run.rows if row[5] == "restart"]
    assert left and restarted and not {f"{name}.1" for name in left} & set(restarted)
    assert len(restarted) == len(set(restarted))
    assert all(row[9] == ("left" if row[1] in left else None) for row in run.rows if row[5] == "crash")


def test_brokers_stay_while_subscribers_leave() -> None:  # 004 s4
    scenario = Scenario(recipe="graph", messages=100, leave=3.0)
    gone = {
        stay: {row[2] for row in simulate(replace(scenario, brokers_stay=stay)).rows if row[9] == "left"}
        for stay in (False, True)
    }
    assert gone == {False: {"broker", "subscriber"}, True: {"subscriber"}}
    flat = simulate(Scenario(recipe="solicit", messages=100, leave=3.0, brokers_stay=True))
    assert {row[2] for row in flat.rows if row[9] == "left"} == {"member"}


def test_only_brokers_crash_and_none_comes_back() -> None:  # 001 s3
    crashed = set()
    for seed in range(4):
        run = simulate(Scenario(recipe="graph", seed=seed, messages=30, crash=0.5, restart=1.0, crash_brokers=True))
        crashed |= {(row[1], row[2]) for row in run.rows if row[5] == "crash"}
        assert not [row for row in run.rows if row[5] == "restart"]
    assert crashed and {role for _, role in crashed} == {"broker"}
