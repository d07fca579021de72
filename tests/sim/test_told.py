"""Members that are told the view: when, and what becomes of those who come and go meanwhile."""

from __future__ import annotations

from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from tests.sim.echo import FLAT, TWO_TIERS
from tests.sim.test_faults import watched


def test_of_a_newcomer_others_are_told_after_a_while_of_a_leaver_at_once() -> None:
    run, told = watched(FLAT, join=0.5, leave=0.3, detect_ms=300, delay_ms=(5, 20), messages=200)
    came = {row[1]: row[14] for row in run.rows if row[5] == "join" and row[14] > 100_000}
    left = {row[1]: row[14] for row in run.rows if row[5] == "leave"}
    assert len(came) > 5 and len(left) > 3
    for name, at_us in came.items():
        if left.get(name, at_us + 300_000) >= at_us + 300_000:
            hears = min(when_us for when_us, who, names in told if name in names and who != name)
            assert hears == at_us + 300_000
    for name, at_us in left.items():
        later = [names for when_us, who, names in told if when_us >= at_us + 20_000 and who != name]
        if came.get(name, 0) + 300_000 <= at_us:
            assert later and not any(name in names for names in later)


def test_who_came_and_went_before_anybody_was_told_was_there_too() -> None:
    """Or a broker that it had attached to would compare with it for ever."""
    quiet = 0
    for seed in range(6):
        scenario = Scenario(
            recipe="cbcast", seed=seed, join=1.0, leave=3.0, detect_ms=900, messages=60, subscribers=8, brokers=3
        )
        run = simulate(scenario)
        report = check(run.rows, scenario=run.body())
        assert report.clean, report.findings[:3]
        quiet += run.quiet
    assert quiet == 6


def test_a_sleeper_is_told_when_it_wakes_up() -> None:
    run, told = watched(TWO_TIERS, perturb="all:0.5", nap_ms=40, crash=0.5, restart=0.0, detect_ms=50, seed=3)
    crashed = {row[1]: row[14] for row in run.rows if row[5] == "crash"}
    heard = [when_us - at_us for name, at_us in crashed.items() for when_us, who, names in told
             if when_us >= at_us + 50_000 and name not in names][:200]  # fmt: skip
    assert heard and any(late_us % 50_000 for late_us in heard)
    first = {name: min(w for w, _, names in told if w > at_us and name not in names) for name, at_us in crashed.items()}
    assert all(50_000 <= first[name] - at_us <= 90_000 for name, at_us in crashed.items())
