"""The sweep draws sizes and faults as it says."""

from __future__ import annotations

from statistics import median

from antecede.sim.draw import draw
from antecede.sim.layout import lay_out
from tests.sim.echo import TWO_TIERS, Facts


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


def test_the_same_index_is_the_same_scenario() -> None:
    assert draw(1, "echo", 7, facts=TWO_TIERS) == draw(1, "echo", 7, facts=TWO_TIERS)
