"""Groups, attachments and partitions mean what was written, or are refused in one sentence."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.sim.layout import broker_names, lay_out, parse_groups, parse_partitions
from antecede.sim.scenario import Scenario
from tests.sim.echo import FLAT, HOME, TWO_TIERS, Facts


def test_names_are_all_different() -> None:
    names = broker_names(300)
    assert names[:3] == ["A", "B", "C"] and names[26] == "A1"
    assert len(set(names) | {f"S{i}" for i in range(1, 300)}) == 300 + 299


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("G1=A,X", "puts X into G1, but the brokers are A, B, C"),
        ("G1", "write a group as NAME=A,B,C"),
        ("G1=", "no brokers"),
        ("G1=A;G1=B", "twice"),
        ("G@=A", "write a group as"),
    ],
)
def test_bad_groups(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_groups(text, ["A", "B", "C"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("A|B", "write A,B|C,D@1000-2000".replace("|", r"\|")),
        ("A,B@1-2", "write A,B"),
        ("A|X@1-2", "names X, which is no process"),
        ("A|A@1-2", "on two sides"),
        ("A|B@2-1", "must end after it begins"),
        ("A|B@x-1", "write A,B"),
    ],
)
def test_bad_partitions(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_partitions(text, ["A", "B"], {})


def test_who_is_not_named_is_on_the_first_side_and_subscribers_follow_their_broker() -> None:
    (split,) = parse_partitions("A|B@1-2.5", ["A", "B", "C", "S1", "S2"], {"S1": "B", "S2": "C"})
    assert split.side == {"A": 0, "B": 1, "C": 0, "S1": 1, "S2": 0}
    assert (split.begin_us, split.end_us) == (1_000, 2_500)
    assert str(split) == "A,C,S2|B,S1@1-2.5"
    assert parse_partitions(str(split), list(split.side), {}) == (split,)
    (long,) = parse_partitions("A|B@1234567.891-2000000", ["A", "B"], {})
    assert str(long) == "A|B@1234567.891-2000000"


@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 8), st.integers(1, 3))
def test_drawn_layouts_make_sense(seed: int, brokers: int, subscribers: int, homes: int) -> None:
    scenario = Scenario(seed=seed, brokers=brokers, subscribers=subscribers, homes=homes)
    for facts in (TWO_TIERS, HOME):
        layout = lay_out(scenario, facts)
        assert all(layout.brokers.values())
        for name, filters in layout.filters.items():
            at = layout.at[name]
            assert filters and 1 <= len(set(at)) == len(at) <= (1 if facts is HOME else homes)
            assert all(set(filters) & set(layout.brokers[broker]) for broker in at)
            if facts is HOME:
                assert set(filters) <= set(layout.brokers[at[0]])
    flat = lay_out(scenario, FLAT)
    assert all(groups == flat.groups for groups in [*flat.brokers.values(), *flat.filters.values()])


def test_groups_as_given() -> None:
    layout = lay_out(Scenario(groups="G1=A,B,C; G2=A,B,D"), TWO_TIERS)
    assert layout.brokers == {"A": ("G1", "G2"), "B": ("G1", "G2"), "C": ("G1",), "D": ("G2",)}


def test_newcomers_come_at_the_rate_that_was_asked_for_and_have_a_side() -> None:
    scenario = Scenario(join=0.2, messages=1000, rate=100, partition="A|B,C,D@0-100", seed=3)
    layout = lay_out(scenario, TWO_TIERS)
    assert 10 <= len(layout.late) <= 32  # 10 processes, 10 seconds, 0.2 a second
    assert {"E", "S7"} <= set(layout.late) and not set(layout.late) & {*layout.brokers, *layout.filters}
    for name, late in layout.late.items():
        assert scenario.first_us <= late.when_us <= scenario.first_us + 10_000_000
        assert late.role == ("subscriber" if name.startswith("S") else "broker")
        if late.role == "subscriber":
            assert set(late.groups) <= set(layout.brokers[late.at[0]])
            assert layout.partitions[0].side[name] == layout.partitions[0].side[late.at[0]]
        assert layout.carried_by(f"{name}.1") == late.groups
    assert layout.carried_by("A.2") == layout.brokers["A"] and layout.carried_by("Z") == ()
    assert lay_out(replace(scenario, join=0.0), TWO_TIERS).brokers == layout.brokers


def test_no_broker_takes_a_new_place_where_places_are_fixed() -> None:
    scenario = Scenario(join=0.5, messages=1000)
    assert all(late.role == "subscriber" for late in lay_out(scenario, Facts(fixed=True)).late.values())
    assert all(late.groups == ("G1",) and late.role == "member" and not late.at
               for late in lay_out(replace(scenario, groups="G1=A,B"), FLAT).late.values())  # fmt: skip
