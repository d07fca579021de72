"""Every knob is checked, says what is wrong in one sentence, and survives a file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.sim.scenario import Scenario
from tests.sim.echo import FLAT, HOME, TWO_TIERS, Facts

chance = st.floats(0, 1)
milliseconds = st.floats(0, 900)
spans = st.tuples(milliseconds, milliseconds).map(lambda pair: (min(pair), max(pair)))
scenarios = st.builds(
    Scenario,
    recipe=st.text(max_size=8),
    seed=st.integers(0, 2**53),
    brokers=st.integers(1, 70),
    subscribers=st.integers(0, 300),
    groups=st.text(max_size=12),
    messages=st.none() | st.integers(0, 10**6),
    rate=st.floats(0.001, 10**6),
    reply=chance,
    loss=chance,
    duplicate=chance,
    spike=chance,
    crash=chance,
    delay_ms=spans,
    deadline_ms=st.none() | spans,
    skew_ms=milliseconds,
    guard_ms=st.none() | milliseconds,
    choice=st.sampled_from(["one", "some", "all"]),
    mix=st.sampled_from(["", "causal=1", "causal=0.5,none=0.25"]),
    view=st.integers(0, 9),
    near=chance,
    sites=st.integers(1, 4),
    join=chance,
    leave=chance,
    jump_ms=milliseconds,
    perturb=st.sampled_from(["", "one:0.3", "some:0.5", "all:0.2"]),
    membership=st.sampled_from(["told", "swim"]),
    witness=st.booleans(),
)


@given(scenarios)
def test_a_scenario_survives_its_file(scenario: Scenario) -> None:
    assert Scenario.from_json(scenario.to_json()) == scenario


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"loss": 1.5}, "loss is 1.5: a probability lies between 0 and 1."),
        ({"crash": -0.1}, "crash is -0.1: a probability lies between 0 and 1."),
        ({"loss": float("nan")}, "loss is nan: a probability lies between 0 and 1."),
        ({"join": -0.1}, "join is -0.1: it must be at least 0."),
        ({"jump_ms": -1}, "jump_ms is -1: it must be at least 0."),
        ({"nap_ms": 0}, "nap_ms is 0: it must be greater than 0."),
        ({"membership": "asked"}, "membership is 'asked': it is told or swim."),
        ({"perturb": "all"}, "perturb is 'all': write one:0.3, some:0.3 or all:0.3 (a share between 0 and 1)."),
        ({"perturb": "some:1"}, "perturb is 'some:1': write one:0.3, some:0.3 or all:0.3 (a share between 0 and 1)."),
        ({"brokers": 0}, "brokers is 0: it must be at least 1."),
        ({"messages": -1}, "messages is -1: it must be at least 0."),
        ({"rate": 0.0}, "rate is 0.0: it must be greater than 0."),
        ({"delay_ms": (20, 5)}, "delay_ms is 20:5: give LO:HI with 0 <= LO <= HI."),
        ({"deadline_ms": (-1, 5)}, "deadline_ms is -1:5: give LO:HI with 0 <= LO <= HI."),
        ({"choice": "any"}, "choice is 'any': it is one, some or all."),
        ({"guard_ms": -2.0}, "guard_ms is -2.0: it must be at least 0."),
        ({"near": 1.2}, "near is 1.2: a probability lies between 0 and 1."),
        ({"view": -1}, "view is -1: it must be at least 0."),
        ({"sites": 0}, "sites is 0: it must be at least 1."),
        ({"mix": "casual=1"}, "mix has 'casual=1': write causal=0.6,fifo=0.3,none=0.1 (shares above 0)."),
        ({"mix": "fifo"}, "mix has 'fifo': write causal=0.6,fifo=0.3,none=0.1 (shares above 0)."),
        ({"mix": "fifo=0"}, "mix has 'fifo=0': write causal=0.6,fifo=0.3,none=0.1 (shares above 0)."),
    ],
)
def test_bad_knobs_are_refused_in_one_sentence(knobs: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario(**knobs)
    assert str(caught.value) == says


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not a scenario"),
        ("[]", "is not a scenario"),
        (json.dumps({"format": 9}), "has format 9"),
        (json.dumps({"format": 1, "los": 0.1}), "did you mean loss"),
        (json.dumps({"format": 1, "loss": "much"}), "wrong type"),
        (json.dumps({"loss": 0.1}), "is not a scenario"),
    ],
)
def test_bad_files_are_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        Scenario.from_json(text)


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        Scenario.load(tmp_path / "none.json")


def test_machines_are_told_what_follows_from_the_delays() -> None:
    scenario = Scenario(delay_ms=(10, 30), skew_ms=4, deadline_ms=(100, 200))
    told = scenario.settings(TWO_TIERS)
    assert (told.guard_us, told.clock_bound_us, told.hop_us) == (4_000, 4_000, 45_000)
    assert (told.trip_us, told.patience_us) == (20_000, 20_000)
    assert told.deadlines and told.retry_us >= 60_000
    assert scenario.settings(FLAT).hop_us == 0


def test_what_a_recipe_cannot_do_is_refused() -> None:
    with pytest.raises(InputError, match="has no deadlines: use --deadline-ms none"):
        Scenario(deadline_ms=(1, 2)).fits(Facts(deadlines="none"))
    with pytest.raises(InputError, match="the subscribers publish"):
        Scenario(subscribers=0).fits(HOME)
    with pytest.raises(InputError, match=r"all messages live 250 ms \(5 rounds\): a deadline cannot end sooner"):
        Scenario(subscribers=6, alpha=2, deadline_ms=(249, 900)).fits(Facts(deadlines="lifetime", uniform=True))
    Scenario(subscribers=6, alpha=2, deadline_ms=(250, 900)).fits(Facts(deadlines="lifetime", uniform=True))
    with pytest.raises(InputError, match=r"live 250 ms \(5 rounds\) from the beginning of a round.* at most 200 ms"):
        Scenario(subscribers=6, alpha=2, deadline_ms=(100, 201)).fits(Facts(deadlines="lifetime"))
    Scenario(subscribers=6, alpha=2, deadline_ms=(100, 200)).fits(Facts(deadlines="lifetime"))
    Scenario(deadline_ms=(1, 2)).fits(Facts(deadlines="lifetime"))
    with pytest.raises(InputError, match="all messages live equally long: give --deadline-ms X:X"):
        Scenario(deadline_ms=(1, 2)).fits(Facts(deadlines="same"))
    with pytest.raises(InputError, match="needs deadlines"):
        Scenario().fits(Facts(deadlines="same"))
    Scenario(deadline_ms=(2, 2)).fits(Facts(deadlines="same"))
    with pytest.raises(InputError, match="has no order none: it has causal and fifo"):
        Scenario(mix="causal=1,none=1").fits(Facts(orders=("causal", "fifo")))


def test_a_lifetime_is_log_n_rounds_and_alpha_more() -> None:
    scenario = Scenario(brokers=4, subscribers=3, alpha=1)
    assert scenario.colours == 3 and replace(scenario, subscribers=6).colours == 4  # 001 Fig 2, 004 Fig 2
    told = scenario.settings(Facts(deadlines="lifetime"))
    assert told.colours == 3 and told.deadlines and scenario.settings(TWO_TIERS).colours == 0


def test_another_way_to_spread_is_part_of_what_is_built() -> None:
    assert Scenario(recipe="graph").builds == "graph" and Scenario(recipe="graph", spread="lazy").builds == "graph+lazy"


def test_the_guard_covers_skew_leap_and_nap() -> None:
    scenario = Scenario(skew_ms=3, jump_ms=20, perturb="all:0.3", nap_ms=7)
    told = scenario.settings(TWO_TIERS)
    assert (told.guard_us, told.clock_bound_us, scenario.start_us) == (30_000, 23_000, 23_000)
    assert replace(scenario, guard_ms=1).settings(TWO_TIERS).guard_us == 1_000
    assert replace(scenario, perturb="").settings(TWO_TIERS).guard_us == 23_000


def test_pings_leave_time_for_a_round_trip_through_another_and_grace_for_finding_out() -> None:
    scenario = Scenario(membership="swim", delay_ms=(5, 40), detect_ms=100)
    probing = scenario.probing()
    assert (probing.timeout_us, probing.period_us) == (82_000, 246_000)
    assert replace(scenario, detect_ms=2000).probing().period_us == 500_000
    assert replace(scenario, perturb="one:0.1", nap_ms=10).probing().timeout_us == 92_000
    assert scenario.settings(TWO_TIERS).grace_us > probing.found_us(10) + 40 * 40_000
