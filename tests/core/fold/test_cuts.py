"""The fold agrees with its dumb twin, whatever portions the rows come in; no effect is counted without its cause."""

from __future__ import annotations

from base64 import b64decode
from functools import partial
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.fold import cuts
from antecede.core.fold.counting import named
from antecede.core.fold.cuts import CutRule, Fold
from antecede.errors import InputError
from antecede.wire import freeze, thaw
from tests.core.fold.cuts_twin import cut_ends, fold_of, history, plain, reading, twin, vector_of

SAVED = (
    "rFMBhahjb3VudGluZ4mnZHJvcHBlZAClZnJlc2iRkKVmcm9udIGhYZIBo2E6MaRnb25lgKZsYXRlc3SRkZsAo2E6MaFhAZCQkAfC"
    "kQCRyz/4AAAAAAAApmxldF9nb4CnbWlzc2luZ5GSoWGRkqNhOjICpG9wZW6ApnF1ZXVlc4GhYpKSmwGjYjoxoWIBkaNhOjKRo2E6"
    "MpDAwpEAkcCBoWECkpsCo2I6MqFiApGjYjoxkJDAwpEAkctABAAAAAAAAICmZm9ybWF0AaVwbGFjZZQDAQEHpHNlZW6RkqFhoWKn"
    "d2FpdGluZ5GbBKNjOjGhYwGRo2I6MpCQwMKRAJHLQBAAAAAAAAA="
)
"""A fold as format 1 wrote it: a:1 counts, b:1 and b:2 wait for a:2, c:1 came ahead of its turn. Never renewed."""

RULES = [CutRule(rows=1), CutRule(rows=7), CutRule(time_us=25), CutRule(marks="mark")]


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
    patience = 1 + hold % 11 if hold % 2 else None
    hold = 1 + hold % 5
    new = partial(Fold, rule, 2, named, hold, patience)
    whole = list(new().push(rows))
    dice = Random(seed)
    if out_of_turn:
        dice.shuffle(rows)
    portions, saved = [], None
    while rows:
        size = dice.randrange(len(rows)) + 1
        fold = new()
        if saved is not None:
            fold.from_plain(thaw(saved))
        portions += list(fold.push(dice.sample(rows[:size], size)))
        saved = freeze(fold.to_plain())
        assert freeze(new().from_plain(thaw(saved)).to_plain()) == saved
        rows = rows[size:]
    assert portions == whole


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


def test_state_that_an_earlier_version_saved_is_read() -> None:
    fold = Fold(CutRule(rows=2), 1, named, hold=3).from_plain(thaw(b64decode(SAVED)))
    (first, second) = fold.push([reading("a:3", 3, values=(3.5,)), reading("c:2", 5, values=(0.5,))])
    assert [(r.id, r.values) for r in first.latest[0]] == [("a:3", (3.5,)), ("b:2", (2.5,))]
    assert (first.number, first.pos, first.time_us, first.rows) == (1, 3, 7, 2)
    assert [(r.id, r.values) for r in second.fresh[0]] == [("c:1", (4.0,)), ("c:2", (0.5,))]


def test_state_of_another_format_or_plan_is_refused_in_a_sentence() -> None:
    data = fold_of(CutRule(rows=1)).to_plain()
    with pytest.raises(InputError, match="1 interests, not 2"):
        fold_of(CutRule(rows=1), interests=2).from_plain(data)
    with pytest.raises(InputError, match="format 99"):
        fold_of(CutRule(rows=1)).from_plain({**data, "format": 99})


def test_places_are_found_on_the_way_saved_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuts, "MOST_BY", 2)

    def new() -> Fold:
        return Fold(CutRule(rows=2), 1, named, by=True)

    rows = [reading(f"s{n}:1", n, by=by) for n, by in enumerate(["x", "y", "z", None, "x", "w"])]
    fold, found = new(), []
    for row in rows:
        fold = new().from_plain(thaw(freeze(fold.to_plain())))
        found += list(fold.push([row]))
    assert [cut.places for cut in found] == [[(0, "x"), (0, "y")], *[[(0, "x"), (0, "y"), (0, None)]] * 2]
    assert [[r.id for r in latest] for latest in found[-1].latest] == [
        ["s0:1", "s4:1"],
        ["s1:1"],
        ["s2:1", "s3:1", "s5:1"],
    ]
    with pytest.raises(InputError, match="not without by="):
        Fold(CutRule(rows=2), 1, named).from_plain(fold.to_plain())
