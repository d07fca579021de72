"""What the knobs of a small scenario mean, and what is refused."""

from __future__ import annotations

import pytest

from antecede.errors import InputError
from antecede.sim.small import Small, cast_of, parse_script


def steps(small: Small) -> list[str]:
    return [str(step) for mine in cast_of(small).steps for step in mine]


def test_a_flat_recipe_has_members_that_publish_in_turn() -> None:
    cast = cast_of(Small(recipe="solicit", members=3, messages=4))
    assert cast.names == ("A", "B", "C") and set(cast.roles) == {"member"} and cast.at == {}
    assert [len(mine) for mine in cast.steps] == [2, 1, 1]


def test_brokers_carry_two_groups_and_publish_to_both_and_to_one() -> None:
    cast = cast_of(Small(recipe="graph"))
    assert cast.names == ("A", "B", "S1", "S2")
    assert cast.groups == (("G1", "G2"), ("G1", "G2"), ("G1",), ("G2",))
    assert cast.at == {"S1": ("A",), "S2": ("B",)}
    assert steps(Small(recipe="graph")) == ["A G1,G2", "A G1,G2", "B G2"]


def test_where_clients_publish_the_first_one_moves() -> None:
    assert steps(Small(recipe="home", messages=2)) == ["S1 -> B", "S1 G1,G2", "S2 G2"]
    assert steps(Small(recipe="home", messages=1, brokers=1)) == ["S1 G1,G2"]


def test_without_a_script_what_follows_is_due_first() -> None:
    within = [step.within_ms for mine in cast_of(Small(deadline_ms=100)).steps for step in mine]
    assert within == sorted((w for w in within if w is not None), reverse=True) and within[0] == 100


def test_groups_and_attachments_can_be_said() -> None:
    cast = cast_of(Small(recipe="graph", brokers=3, groups="G1=A,B;G2=B,C", at="S1=G1,G2@B;S7=G2@C,B"))
    assert cast.groups == (("G1",), ("G1", "G2"), ("G2",), ("G1", "G2"), ("G2",))
    assert cast.at == {"S1": ("B",), "S7": ("C", "B")}
    assert cast.places_for(3, ("A", "C")) == ()
    assert cast.places_for(4, ("A", "C")) == ("C",)


def test_a_script_is_read_in_order() -> None:
    read = parse_script(" A G1 ;B G1,G2 within 7.5 after A:1,A:2;S1 -> A after B:1; ", ["A", "B", "S1"], ("G1", "G2"))
    assert [str(step) for step in read] == ["A G1", "B G1,G2 within 7.5 after A:1,A:2", "S1 -> A after B:1"]


@pytest.mark.parametrize(
    ("knobs", "word"),
    [
        ({"members": 0}, "members is 0"),
        ({"losses": -1}, "losses is -1"),
        ({"messages": 99}, "messages is 99"),
        ({"clock": "two"}, "clock is 'two'"),
        ({"clock": "own", "deadline_ms": 5.0}, "one clock"),
        ({"deadline_ms": 0.0}, "greater than 0"),
        ({"recipe": "dcco"}, "needs deadlines"),
        ({"recipe": "cbcast", "deadline_ms": 5.0}, "has no deadlines"),
        ({"recipe": "nothing"}, "no recipe"),
        ({"recipe": "home", "subscribers": 0}, "the subscribers publish"),
        ({"script": "A"}, "--script has 'A'"),
        ({"script": "A G9"}, "groups are G1"),
        ({"script": "Z G1"}, "names Z"),
        ({"script": "A -> Z"}, "--script has"),
        ({"script": "A G1 within 5"}, "--deadline-ms"),
        ({"recipe": "graph", "at": "S1"}, "--at has"),
        ({"recipe": "graph", "at": "S1=G1@Z"}, "brokers are A, B"),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(knobs: dict[str, object], word: str) -> None:
    with pytest.raises(InputError, match=word):
        cast_of(Small(**knobs))  # type: ignore[arg-type]


def test_own_clocks_unless_something_expires() -> None:
    assert Small().own_clocks and not Small(clock="one").own_clocks and not Small(deadline_ms=5).own_clocks
    assert Small().start_us > 0 == Small(clock="one").start_us


def test_only_what_differs_is_said() -> None:
    assert Small(losses=2).knobs() == {"recipe": "solicit", "losses": 2}
