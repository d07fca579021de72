"""What one process knows, who is in its view, and whose view weighs more."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from antecede.core.membership.news import ALIVE, DEAD, LEFT, STATES, SUSPECT, News
from antecede.core.membership.table import STONES, Claim, Table

A, B, C = (News(name, "broker", ("G1",)) for name in "ABC")
S = News("S1", "subscriber", ("G1",))


def table(*known: News, me: News = A) -> Table:
    made = Table(me)
    for news in known:
        made.merge(news)
    return made


def test_suspects_stay_in_the_view_the_dead_and_those_who_left_do_not() -> None:
    made = table(replace(B, state=SUSPECT), replace(C, state=DEAD), replace(S, state=LEFT))
    assert sorted(made.view()) == ["A", "B"]
    assert made.is_out("C") and made.is_out("S1") and not made.is_out("B")
    assert not made.is_out("X"), "who was never heard of is not out"


def test_whoever_is_out_stays_out() -> None:
    made = table(replace(B, state=DEAD))
    assert not made.merge(replace(B, number=7, state=ALIVE))
    assert made.is_out("B")


def test_a_later_incarnation_ends_the_earlier_ones() -> None:
    made = table(B)
    assert made.merge(replace(B, name="B.2"))
    assert sorted(made.view()) == ["A", "B.2"]
    assert made.is_out("B") and made.is_out("B.1")
    assert not made.merge(B) and not made.merge(replace(B, name="B.1"))
    assert "B" not in made.entries, "what is replaced is not kept"


def test_an_incarnation_far_ahead_is_taken_as_fast_as_the_next() -> None:
    made = table(B)
    for name in ("B.7", "B.800000000", "B.900000000"):
        assert made.merge(replace(B, name=name)) and sorted(made.entries) == ["A", name]


def test_a_subscriber_knows_brokers_only_and_mirrors_what_they_say() -> None:
    made = table(B, replace(C, state=DEAD), me=S)
    assert sorted(made.view()) == ["B", "S1"]
    assert made.merge(replace(C, state=ALIVE)), "the side it was on has yielded: the others are there again"
    assert not made.merge(replace(C, state=ALIVE))


def test_a_subscriber_forgets_whom_its_brokers_never_heard_of() -> None:
    made = table(B, C, me=replace(S, at=("C",)))
    made.merge(replace(B, name="D"))
    made.keep_only({"D"})
    assert sorted(made.view()) == ["C", "D", "S1"], "its own it keeps: it will see for itself"


def test_its_version_rises_with_every_change_and_only_then() -> None:
    made = table(B, me=S)
    before = made.version
    made.merge(B)
    made.keep_only({"B"})
    assert made.version == before
    made.merge(C)
    assert made.version == before + 1
    made.keep_only({"B"})
    assert made.version == before + 2


def test_what_a_subscriber_is_told() -> None:
    other = replace(S, name="S2")
    made = table(B, S, other)
    assert {news.name for news in made.told_to("subscriber", "S1")} == {"A", "B", "S1"}
    assert {news.name for news in made.told_to("broker", "B")} == {"A", "B", "S1", "S2"}


def test_the_larger_view_stays_then_the_smallest_name() -> None:
    assert Claim(3, "C", "C").stays_before(Claim(2, "A", "A"))
    assert Claim(2, "A", "B").stays_before(Claim(2, "C", "C"))
    assert not Claim(2, "A", "B").stays_before(Claim(2, "A", "B"))
    claims = [Claim(n, smallest, holder) for n in (1, 2) for smallest in "AB" for holder in "AB"]
    for one, two in permutations(claims, 2):
        assert one.stays_before(two) != two.stays_before(one), "exactly one yields"


def test_a_claim_counts_those_who_have_a_say() -> None:
    assert table(B, S, replace(C, state=DEAD)).claim() == Claim(2, "A", "A")
    assert table(A, S, me=B).claim() == Claim(2, "A", "B")


SAYINGS = st.lists(st.builds(News, st.sampled_from(["B", "B.1", "C"]), st.just("broker"), number=st.integers(0, 3),
                             state=st.sampled_from(STATES)), max_size=8)  # fmt: skip


@given(SAYINGS, st.randoms(use_true_random=False))
def test_the_order_in_which_news_comes_makes_no_difference_to_the_view(sayings: list[News], dice: object) -> None:
    mixed = list(sayings)
    dice.shuffle(mixed)  # type: ignore[attr-defined]
    one, two = table(*sayings), table(*mixed)
    assert set(one.view()) == set(two.view())
    assert {name for name in ("B", "B.1", "C") if one.is_out(name)} == {n for n in ("B", "B.1", "C") if two.is_out(n)}


@given(SAYINGS)
def test_hearing_it_again_is_nothing_new(sayings: list[News]) -> None:
    made = table(*sayings)
    assert not any(made.merge(news) for news in list(made.entries.values()))


def test_a_subscriber_that_is_out_is_told_for_a_while_and_remembered_longer() -> None:
    made = table(B, replace(C, state=DEAD), replace(S, state=LEFT))
    made.forget(1_000, told_us=100)
    assert "S1" in made.entries
    made.forget(1_100, told_us=100)
    assert "S1" not in made.entries and "C" in made.entries, "of brokers it stays known"
    assert made.is_out("S1") and not made.merge(S) and not made.merge(replace(S, state=LEFT))
    assert made.latest("S1") == 0 and made.floor == 0
    made.forget(1_100 + STONES * 100, told_us=100)
    assert made.latest("S1") is None and made.floor == 1, "who comes under that name is a later one"
    assert not made.is_out("S1")


def test_one_that_came_back_under_its_next_name_is_not_forgotten_with_the_earlier_one() -> None:
    made = table(replace(S, state=LEFT))
    made.forget(0, told_us=100)
    made.forget(100, told_us=100)
    assert made.merge(replace(S, name="S1.1"))
    made.forget(100_000, told_us=100)
    assert made.latest("S1") == 1 and made.is_out("S1") and not made.is_out("S1.1")
