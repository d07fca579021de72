"""The fold agrees with its dumb twin, whatever portions the rows come in; no effect is counted without its cause."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.spark.cuts import Cut, CutRule, Fold, Reading
from antecede.spark.readings import named
from antecede.wire import freeze, thaw
from tests.spark.cuts_twin import cut_ends, history, twin, vector_of

RULES = [CutRule(rows=1), CutRule(rows=7), CutRule(time_us=25), CutRule(marks="mark")]


def reading(name: str, pos: int, parents: tuple[str, ...] = (), missing: tuple[str, ...] = (), **more: Any) -> Reading:
    sender, number = name.split(":")
    whole = {"clock": (), "time_us": None, "mark": False, "interests": (0,), "values": ()} | more
    return Reading(pos, name, sender, int(number), parents, missing, **whole)


def fold_of(rule: CutRule, hold: int = 1000, interests: int = 1) -> Fold:
    return Fold(rule, interests, named, hold)


def plain(cut: Cut) -> dict[str, Any]:
    return {
        "number": cut.number,
        "pos": cut.pos,
        "causes": sorted(cut.causes),
        "latest": [sorted(r.id for r in rows) for rows in cut.latest],
        "fresh": [sorted(r.id for r in rows) for rows in cut.fresh],
        "held": [[(first.id, count) for first, count in senders] for senders in cut.held],
        "missing": cut.missing,
    }


@given(st.integers(0, 10_000), st.sampled_from(RULES), st.floats(0, 0.6), st.booleans())
def test_the_fold_agrees_with_its_twin(seed: int, rule: CutRule, loss: float, vectors: bool) -> None:
    rows, past = history(seed, loss=loss)
    if vectors:
        rows = [row._replace(clock=vector_of(row.id, past[row.id])) for row in rows]
    ends = cut_ends(rows, rule.rows, rule.time_us, rule.marks is not None)
    assert [plain(cut) for cut in fold_of(rule, interests=2).push(rows)] == twin(rows, ends, 2)


@given(st.integers(0, 10_000), st.sampled_from(RULES), st.floats(0, 0.6), st.booleans(), st.integers(1, 1000))
def test_portions_and_saved_state_do_not_show(
    seed: int, rule: CutRule, loss: float, out_of_turn: bool, hold: int
) -> None:
    rows, _ = history(seed, loss=loss)
    hold = 1 + hold % 5
    whole = list(fold_of(rule, hold, interests=2).push(rows))
    dice = Random(seed)
    if out_of_turn:
        dice.shuffle(rows)
    portions, saved = [], None
    while rows:
        size = dice.randrange(len(rows)) + 1
        fold = fold_of(rule, hold, interests=2)
        if saved is not None:
            fold.load(saved)
        portions += list(fold.push(dice.sample(rows[:size], size)))
        saved = fold.save()
        assert fold_of(rule, hold, interests=2).load(saved).save() == saved
        rows = rows[size:]
    assert portions == whole


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
        (cut,) = (fold.load(data) if data else fold).push([row])
        data = fold.save()
    assert [r.id for r in cut.latest[0]] == ["z"] and cut.missing == ["gone"] and cut.dropped == 4
    assert plain(cut)["held"] == [[("w", 1), ("y6", 2)]]


def test_time_cuts_are_prefixes_and_older_rows_never_open_one() -> None:
    times = [100, 130, 90, 205, 199, None, 650, 640, 700]
    rows = [reading(f"a:{n + 1}", n, time_us=time_us) for n, time_us in enumerate(times)]
    cuts = list(fold_of(CutRule(time_us=100)).push(rows))
    assert [(cut.pos, cut.time_us) for cut in cuts] == [(2, 130), (5, 205), (7, 650)]


def test_only_a_batch_has_a_last_cut_and_it_must_be_whole() -> None:
    fold = fold_of(CutRule(rows=2))
    assert [cut.pos for cut in fold.push([reading("a:1", 0), reading("a:2", 1), reading("a:3", 2)])] == [1]
    assert [(cut.pos, cut.rows) for cut in fold.close()] == [(2, 1)]
    assert list(fold.close()) == []
    assert list(fold.push([reading("a:9", 8)])) == []
    with pytest.raises(InputError, match="3 is not there, 8 is"):
        list(fold.close())


def test_positions_that_come_twice_count_once() -> None:
    fold = fold_of(CutRule(rows=1))
    assert len(list(fold.push([reading("a:1", 0), reading("a:1", 0)]))) == 1
    assert list(fold.push([reading("a:1", 0)])) == []


@pytest.mark.parametrize("wrong", [{}, {"rows": 3, "time_us": 5}, {"rows": 0}, {"time_us": -1}])
def test_a_rule_says_one_thing(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError):
        CutRule(**wrong)  # type: ignore[arg-type]


def test_state_of_another_format_or_plan_is_refused_in_a_sentence() -> None:
    data = fold_of(CutRule(rows=1)).save()
    with pytest.raises(InputError, match="1 interests, not 2"):
        fold_of(CutRule(rows=1), interests=2).load(data)
    with pytest.raises(InputError, match="format 99"):
        fold_of(CutRule(rows=1)).load(freeze({**thaw(data), "format": 99}))
