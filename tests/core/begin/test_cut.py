"""Cuts by group: what lies behind in one group is not said of another."""

from __future__ import annotations

from antecede.core.begin.cut import Cuts


def rows(cuts: Cuts, *filters: str) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(join.filters, join.cut) for join in cuts.joins(filters, "B", 7)]


def test_one_row_where_all_groups_begin_alike() -> None:
    assert rows(Cuts(("p:3",)), "G1", "G2") == [(("G1", "G2"), ("p:3",))]
    assert rows(Cuts(), "G1") == [(("G1",), ())] and rows(Cuts(("p:3",))) == []
    join = Cuts().joins(("G1",), "B", 7)[0]
    assert join.peer == "B" and join.guard_us == 7


def test_a_row_of_its_own_where_more_lies_behind() -> None:
    cuts = Cuts(("p:3",), (("G2", ("p:1", "q:4")),))
    assert cuts.within("G1") == {"p": 3} and cuts.within("G2") == {"p": 3, "q": 4}
    assert rows(cuts, "G1", "G2") == [(("G1",), ("p:3",)), (("G2",), ("p:3", "q:4"))]
    assert rows(cuts, "#", "G1") == [(("#",), ("p:3", "q:4")), (("G1",), ("p:3",))], (
        "a filter begins where all it matches do"
    )


def test_however_many_groups_begin_elsewhere_the_common_cut_is_there_once() -> None:
    many = tuple(f"s{i}:1" for i in range(1000))
    cuts = Cuts(many, tuple((f"G{i}", ("q:1",)) for i in range(1000)))
    assert all(own == {"q": 1} for own in cuts._special.values())
    within = cuts.within("G7")
    assert len(within) == 1001 and within["s9"] == within["q"] == 1 and within.get("r", 0) == 0
    assert dict(within) == {**cuts.within("nowhere"), "q": 1}


def test_the_newer_of_two_group_by_group() -> None:
    cuts, other = Cuts(("p:3",), (("G2", ("q:4",)),)), Cuts(("p:2", "r:1"), (("G3", ("p:9",)),))
    cuts.widen(other)
    assert cuts.within("G1") == {"p": 3, "r": 1} and cuts.within("G2") == {"p": 3, "q": 4, "r": 1}
    assert cuts.within("G3") == {"p": 9, "r": 1}
    assert other.within("G1") == {"p": 2, "r": 1} and other.within("G3") == {"p": 9, "r": 1}, (
        "the other stays as it was"
    )
