"""No effect is counted without its cause; what is held is bounded, listed, and comes to count when it can."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from antecede.core.fold.counting import named
from antecede.core.fold.cuts import Cut, CutRule, Fold, Reading
from tests.core.fold.cuts_twin import fold_of, history, plain, reading, vector_of


def without_cause(cut: Cut, past: dict[str, set[str]]) -> list[tuple[str, str]]:
    """(effect, cause): counted though the cut holds neither the cause nor anything later of its sender."""
    front = {sender: int(number) for sender, number in (name.split(":") for name in cut.causes)}
    return [
        (row.id, cause)
        for row in (*cut.latest[0], *cut.fresh[0])
        for cause in past[row.id]
        if front.get(cause.split(":")[0], -1) < int(cause.split(":")[1])
    ]


@given(st.integers(0, 10_000), st.floats(0, 0.6), st.integers(1, 6))
def test_with_vectors_no_effect_is_counted_without_its_cause(seed: int, loss: float, hold: int) -> None:
    rows, past = history(seed, loss=loss)
    rows = [row._replace(clock=vector_of(row.id, past[row.id]), interests=(0,)) for row in rows]
    for cut in fold_of(CutRule(rows=1), hold).push(rows):
        assert without_cause(cut, past) == []


@given(st.integers(0, 10_000), st.floats(0, 0.6), st.integers(1, 6))
def test_with_parents_none_is_counted_without_a_cause_that_was_told(seed: int, loss: float, hold: int) -> None:
    """What only a lost message could have told of is not known here; with vectors it is."""
    rows, _ = history(seed, loss=loss)
    told: dict[str, set[str]] = {}
    for row in rows:
        told[row.id] = set(row.parents).union(*(told.get(p, set()) for p in row.parents))
        told[row.id].update(*(told[r.id] | {r.id} for r in rows[: row.pos] if r.sender == row.sender))
    rows = [row._replace(interests=(0,)) for row in rows]
    for cut in fold_of(CutRule(rows=1), hold).push(rows):
        assert without_cause(cut, told) == []


def test_an_effect_waits_for_a_later_message_of_the_cause_s_sender() -> None:
    rows = [
        reading("a:1", 0),
        reading("b:1", 1, ("a:2",), ("a:2",)),  # a:2 was skipped
        reading("b:2", 2, ("b:1",)),
        reading("c:1", 3, ("b:2",)),
        reading("a:3", 4, ("a:2",), ("a:2",)),  # its own gap does not hold it
        reading("c:2", 5, ("c:1",)),
    ]
    cuts = list(fold_of(CutRule(rows=1)).push(rows))
    assert [[r.id for r in cut.latest[0]] for cut in cuts] == [
        ["a:1"],
        ["a:1"],
        ["a:1"],
        ["a:1"],
        ["a:3", "b:2", "c:1"],
        ["a:3", "b:2", "c:2"],
    ]
    assert [plain(cut)["held"][0] for cut in cuts[1:5]] == [
        [("b:1", 1)],
        [("b:1", 2)],
        [("b:1", 2), ("c:1", 1)],
        [],
    ]
    assert cuts[1].missing == ["a:2"] and cuts[4].missing == []
    assert [r.id for r in cuts[4].fresh[0]] == ["b:1", "b:2", "c:1", "a:3"], "by their positions"
    assert cuts[4].causes == ["a:3", "b:2", "c:1"]


def test_two_that_each_lost_what_the_other_knows_of_come_to_count_together() -> None:
    rows = [reading("a:2", 0, ("a:1", "b:1"), ("a:1", "b:1")), reading("b:2", 1, ("a:1", "b:1"), ("a:1", "b:1"))]
    first, second = fold_of(CutRule(rows=1)).push(rows)
    assert (first.causes, first.missing) == ([], ["a:1", "b:1"]), "a:1 too, as long as a:2 itself waits"
    assert (second.causes, second.missing) == (["a:2", "b:2"], [])


def test_held_rows_are_bounded_and_what_they_waited_for_is_not_forgotten() -> None:
    rows = [reading("b:1", 0, ("a:5",), ("a:5",))]
    rows += [reading(f"b:{n}", n - 1, (f"b:{n - 1}",)) for n in range(2, 50)]
    rows += [reading("c:1", 49, ("b:3",)), reading("a:4", 50), reading("a:6", 51)]
    cuts = list(fold_of(CutRule(rows=1), hold=4).push(rows))
    assert plain(cuts[48])["held"] == [[("b:46", 4)]] and cuts[48].dropped == 45
    assert plain(cuts[49])["held"] == [[("b:46", 4), ("c:1", 1)]], "a row after one that was let go waits too"
    assert [r.id for r in cuts[50].latest[0]] == ["a:4"], "an earlier message of the sender is not enough"
    assert [r.id for r in cuts[51].latest[0]] == ["a:6", "b:49", "c:1"]


def test_with_patience_a_silent_sender_leaves_the_cut_until_it_is_heard_again() -> None:
    rows = [reading("a:1", 0), reading("b:1", 1, ("a:2",), ("a:2",))]
    rows += [reading(f"b:{n}", n, (f"b:{n - 1}",)) for n in range(2, 7)]
    rows += [reading("a:3", 7), reading("b:7", 8, ("a:3",))]
    cuts = list(Fold(CutRule(rows=1), 1, named, patience=3).push(rows))
    assert [[r.id for r in cut.latest[0]] for cut in cuts] == [
        *[["a:1"]] * 5,
        ["b:5"],  # a:2 was owed for more than three rows: what a said before it no longer counts either
        ["b:6"],
        ["a:3", "b:6"],
        ["a:3", "b:7"],
    ]
    assert [cut.causes for cut in cuts[4:8]] == [["a:1"], ["b:5"], ["b:6"], ["a:3", "b:6"]]
    assert cuts[6].missing == ["a:2"] and cuts[7].missing == []


@given(st.integers(0, 10_000), st.floats(0, 0.6), st.integers(1, 9))
def test_whatever_the_patience_no_reading_counts_beside_one_that_knows_better(
    seed: int, loss: float, patience: int
) -> None:
    rows, past = history(seed, loss=loss)
    rows = [row._replace(clock=vector_of(row.id, past[row.id]), interests=(0,)) for row in rows]
    for cut in Fold(CutRule(rows=1), 1, named, patience=patience).push(rows):
        have = {row.sender: row.number for row in cut.latest[0]}
        for row in cut.latest[0]:
            for sender, number in vector_of(row.id, past[row.id]):
                assert have.get(sender, number) >= number
        waits = [first.pos for first, _ in cut.held[0]]
        assert all(cut.pos - pos <= patience for pos in waits), "nothing is held for longer"


def test_where_ids_do_not_tell_the_sender_a_skipped_cause_is_never_made_up_for() -> None:
    fold = Fold(CutRule(rows=1), 1, lambda id: None, hold=2)
    rows = [
        Reading(0, "x", "a", 0, (), (), (), None, False, (0,), ()),
        Reading(1, "y", "b", 1, ("gone",), ("gone",), (), None, False, (0,), ()),
        Reading(2, "z", "a", 2, ("x",), (), (), None, False, (0,), ()),
        *(Reading(n, f"y{n}", "b", n, ("y",), (), (), None, False, (0,), ()) for n in range(3, 8)),
        Reading(8, "w", "a", 8, ("z", "y4"), (), (), None, False, (0,), ()),
    ]
    data = b""
    for row in rows:
        fold = Fold(CutRule(rows=1), 1, lambda id: None, hold=2)
        (cut,) = (fold.from_plain(data) if data else fold).push([row])
        data = fold.to_plain()
    assert [r.id for r in cut.latest[0]] == ["z"] and cut.missing == ["gone"] and cut.dropped == 4
    assert plain(cut)["held"] == [[("w", 1), ("y6", 2)]]


def opaque(place: int, sender: str, missing: tuple[str, ...] = ()) -> Reading:
    """A row whose id does not say who sent it."""
    name = f"row{place}"
    return Reading(place, name, sender, place, (), missing, (), None, False, (0,), ())


def test_a_lost_cause_of_nobody_known_is_left_out_of_one_cut_and_then_named_and_given_up() -> None:
    rows = [opaque(0, "a"), opaque(1, "b", ("lost",)), opaque(2, "a"), opaque(3, "b")]
    rows += [opaque(4, "c", ("lost",)), *(opaque(n, "ab"[n % 2]) for n in range(5, 10))]
    fold = Fold(CutRule(rows=2), 1, lambda _: None, patience=1000, brief=True)
    cuts = list(fold.push(rows))
    assert [[r.id for r in cut.latest[0]] for cut in cuts] == [
        ["row0"],  # b is held: it comes after something that was lost
        ["row2", "row3"],
        ["row2", "row5", "row4"],  # c comes after it too, and need not wait again
        ["row6", "row7", "row4"],
        ["row8", "row9", "row4"],
    ]
    assert [cut.missing for cut in cuts] == [["lost"], ["lost"], ["lost"], [], []]
    assert [cut.given_up for cut in cuts] == [0, 1, 1, 1, 1]
    assert [sum(count for _, count in cut.held[0]) for cut in cuts] == [1, 0, 0, 0, 0]


def test_with_patience_a_lost_cause_of_nobody_known_is_waited_for_so_many_rows() -> None:
    rows = [opaque(0, "b", ("lost",)), *(opaque(n, "a") for n in range(1, 8))]
    cuts = list(Fold(CutRule(rows=1), 1, lambda _: None, patience=3).push(rows))
    assert [cut.given_up for cut in cuts] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [len(cut.latest[0]) for cut in cuts] == [0, 1, 1, 1, 2, 2, 2, 2]


@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(1, 5))
def test_whatever_is_lost_of_nobody_known_no_row_is_held_at_two_cuts_and_saving_changes_nothing(
    seed: int, every: int, hold: int
) -> None:
    dice = Random(seed)
    rows = [
        opaque(n, dice.choice("abc"), tuple(f"lost{dice.randrange(12)}" for _ in range(dice.randrange(2))))
        for n in range(40)
    ]

    def new() -> Fold:
        return Fold(CutRule(rows=every), 1, lambda _: None, hold, 1000, brief=True)

    whole, cut_up, fold = list(new().push(rows)), [], new()
    for row in rows:
        cut_up += list(fold.push([row]))
        fold = new().from_plain(fold.to_plain())
    assert cut_up == whole
    for cut in whole:
        assert all(first.pos > cut.pos - cut.rows for first, _ in cut.held[0])
        assert len(cut.missing) <= hold
    assert len(fold.counting.gone) <= hold


def test_what_was_saved_when_nobody_was_one_sender_goes_on() -> None:
    fold = Fold(CutRule(rows=2), 1, lambda _: None, patience=1000, brief=True)
    list(fold.push([opaque(0, "a"), opaque(1, "b", ("lost",)), opaque(2, "a")]))
    old = fold.counting.to_plain()
    del old["given_up"], old["owed"]
    old |= {"missing": [["", [["lost", 1]]]], "queues": {"b": [[old["queues"]["b"][0][0], {"": 1}]]}}
    fold.counting.from_plain(old)
    (cut,) = fold.push([opaque(3, "b")])
    assert ([r.id for r in cut.latest[0]], cut.missing, cut.given_up) == (["row2", "row3"], ["lost"], 1)
