"""Links and processors that take time: one queue each, and frames that find no room are counted."""

from __future__ import annotations

from antecede.sim.costs import Costs
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check


def test_copies_leave_one_after_the_other() -> None:
    costs = Costs(Scenario(link_kbytes_s=1000))  # one byte per microsecond
    assert [costs.leaves_us("A", 100, 0) for _ in range(3)] == [100, 200, 300]
    assert costs.leaves_us("B", 100, 0) == 100 and costs.leaves_us("A", 100, 1000) == 1100
    assert Costs(Scenario(cpu_us=1)).leaves_us("A", 100, 7) == 7


def test_frames_wait_while_a_receiver_is_busy_and_are_lost_when_there_is_no_room() -> None:
    costs = Costs(Scenario(cpu_us=10, buffer=2))
    assert [costs.done_us("A", 0) for _ in range(4)] == [10, 20, 30, None]
    assert costs.overflowed == {"A": 1} and costs.done_us("B", 0) == 10
    costs.done("A")
    assert costs.done_us("A", 10) == 40


def run(**knobs: object) -> tuple[float, dict[str, int], list[str]]:
    """When the last delivery was, what was counted, and what was found."""
    scenario = Scenario(recipe="graph", messages=60, rate=200, **knobs)  # type: ignore[arg-type]
    done = simulate(scenario)
    report = check(done.rows, scenario=done.body())
    last_us = max(row[14] for row in done.rows if row[5] == "deliver")
    return last_us / 1000, dict(done.notes), [f.verdict for f in report.findings]


def test_a_slow_link_and_a_slow_processor_make_deliveries_late_and_nothing_else() -> None:
    free_ms, _, _ = run()
    for knobs in ({"link_kbytes_s": 20.0}, {"cpu_us": 3000.0}):
        slow_ms, notes, found = run(**knobs)
        assert slow_ms > 1.2 * free_ms and not notes.get("overflowed") and found == []


def test_what_finds_no_room_is_counted_and_repaired() -> None:
    scenario = Scenario(recipe="graph", messages=60, rate=200, cpu_us=3000, buffer=3)
    done = simulate(scenario)
    lost = done.notes["overflowed"]
    assert lost > 0 and sum(done.overflowed.values()) == lost and done.summary()["overflowed"] == done.overflowed
    report = check(done.rows, scenario=done.body())
    assert report.fates["delivered"] == report.pairs and "gap" in report.exempt and "inversion" not in report.exempt


def test_without_costs_nothing_changes() -> None:
    assert Scenario().costs is False and "overflowed" not in simulate(Scenario(messages=5)).summary()


def test_who_sleeps_deals_with_what_came_when_it_wakes_up() -> None:
    done = simulate(Scenario(recipe="graph", messages=40, cpu_us=200, perturb="some:0.5", nap_ms=40))
    report = check(done.rows, scenario=done.body())
    assert done.naps and report.fates["delivered"] == report.pairs
