"""The broker's side of fusion: what it folds, what it sends, and how a fold passes to the next home."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antecede.core.fold.spec import fuse
from antecede.core.frames import Data, Fuse, Fused, Gone
from antecede.core.home import fusions
from antecede.core.message import header_of
from antecede.errors import RemoteProtocolError
from tests.core.home.test_broker import attach, home, said
from tests.core.kit import frame_to, sent, view_of

SPEC = fuse(["x"], every=2).to_bytes()


def ask(one: Any, number: int = 1, have: int = 0, previous: str = "", **more: Any) -> list[Fused]:
    frame = Fuse(number, ("G1",), SPEC, have, previous, **more)
    return [frame for _, frame in sent(one.receive(frame, "S2", 1), Fused)]


def results(frames: list[Fused]) -> list[tuple[int, list[str], float, str]]:
    found = []
    for frame in frames:
        for n, result in enumerate(map(json.loads, frame.results), frame.first):
            found.append((n, result["causes"], result["results"][0]["x_mean"], result["began"]))
    return found


def took(one: Any, *envelopes: Any, now: int = 2) -> list[Fused]:
    return [frame for _, frame in sent(one.receive(Data(envelopes), "B", now), Fused)]


def asking() -> Any:
    one = home()
    attach(one, "S2")
    assert results(ask(one)) == []
    return one


def test_one_result_per_cut_with_its_causes_and_marks() -> None:
    one = asking()
    frames = took(one, said("X:1", 2), said("Y:1", 4, {"X@G1": 1}), said("X:2", 6))
    assert results(frames) == [(1, ["X:1", "Y:1"], 3.0, "")]
    assert json.loads(frames[0].results[0])["marks"] == {"X@G1": 1, "Y@G1": 1}


def test_results_are_sent_again_until_they_are_acknowledged() -> None:
    one = asking()
    took(one, said("X:1", 2), said("X:2", 4), said("X:3", 6), said("X:4", 8))
    assert [n for n, *_ in results(ask(one, have=0))] == [1, 2]
    assert [n for n, *_ in results(ask(one, have=1))] == [2]
    assert results(ask(one, have=2)) == [] and not one.fusions.by_key["S2", 1].results


def test_results_nobody_takes_are_bounded_and_their_numbers_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fusions, "RESULTS", 2)
    one = asking()
    for n in range(1, 9):
        took(one, said(f"X:{n}", n))
    assert [n for n, *_ in results(ask(one))] == [3, 4]


def test_a_fold_passes_to_the_next_home_with_all_it_has_had() -> None:
    old, new = asking(), home()
    took(old, said("X:1", 2), said("X:2", 4), said("X:3", 6))
    new.receive(Data((said("X:1", 2), said("X:2", 4), said("X:3", 6), said("X:4", 10))), "B", 2)
    attach(new, "S2", number=2, frontier={}, now=3)
    request = frame_to(new.receive(Fuse(1, ("G1",), SPEC, 1, "B"), "S2", 3), "B", Fuse)
    assert (request.client, request.filters) == ("S2", ())
    answer = frame_to(old.receive(request, "B", 4), "B", Fused)
    assert answer.client == "S2" and frame_to(old.receive(request, "B", 5), "B", Fused).state == answer.state
    assert took(old, said("X:4", 10)) == [], "it folds no more"
    frames = [frame for _, frame in sent(new.receive(answer, "B", 6), Fused)]
    assert results(frames) == [(2, ["X:4"], 10.0, "moved")], "X:3 it had, X:4 is in the store here"


def test_without_an_earlier_home_it_begins_anew_and_says_so() -> None:
    one = home()
    attach(one, "S2")
    assert results(ask(one, have=7, previous="Z")) == []
    assert results(took(one, said("X:1", 2), said("X:2", 4))) == [(8, ["X:2"], 4.0, "anew")]
    two = home()
    attach(two, "S2")
    ask(two, previous="B")
    two.view(view_of({"H": "G1 G2", "C": "G2"}, "S1 S2"), 5)  # B is gone before it answered
    assert results(took(two, said("X:1", 2), said("X:2", 4), now=6))[0][3] == "anew"
    three = home()
    attach(three, "S2")
    ask(three, previous="B")
    three.receive(Fused(1, 0, (), b"", "S2"), "B", 5)  # B has none
    assert results(took(three, said("X:1", 2), said("X:2", 4)))[0][3] == "anew"


def test_who_is_not_attached_or_leaves_has_no_fold() -> None:
    one = home()
    assert ask(one) == [] and not one.fusions.by_key
    one = asking()
    one.receive(Fuse(1, (), b""), "S2", 3)
    assert not one.fusions.by_key
    one = asking()
    one.view(view_of({"H": "G1 G2", "B": "G1"}, "S1"), 4)
    assert not one.fusions.by_key


def test_what_strangers_may_not() -> None:
    one = asking()
    with pytest.raises(RemoteProtocolError, match="no broker"):
        one.receive(Fuse(1, (), b"", client="S2"), "S1", 3)
    with pytest.raises(RemoteProtocolError, match="do not say"):
        one.receive(Fuse(2, ("G1",), b"x"), "S2", 3)
    with pytest.raises(RemoteProtocolError, match="where="):
        one.receive(Fuse(2, ("G1#?x",), SPEC), "S2", 3)
    for number in range(2, fusions.MOST_FUSIONS + 1):
        ask(one, number)
    with pytest.raises(RemoteProtocolError, match="more than"):
        ask(one, fusions.MOST_FUSIONS + 1)
    ask(one, 1, previous="B")
    with pytest.raises(RemoteProtocolError, match="no fold"):
        one.receive(Fused(1, 0, (), b"{}", "S2"), "B", 3)


def test_what_goes_out_without_its_cause_does_not_count_until_that_has_come() -> None:
    one = home(guard_us=0)
    attach(one, "S2")
    ask(one)
    late = said("Y:1", 9, {"X@G1": 2})
    late.stamp.needs, late.message.deadline_us = (("X@G1", 2),), 50
    one.receive(Data((late,)), "B", 2)
    frames = [frame for _, frame in sent(one.wake(50), Fused)]
    assert frames == []
    assert results(took(one, said("Z:1", 5), now=51)) == [(1, ["Z:1"], 5.0, "")]


def test_what_follows_a_cause_that_is_gone_does_not_count_until_something_later_of_its_sender_does() -> None:
    one = asking()
    gone = said("X:1", 1)
    gone.message.deadline_us = 5
    one.receive(Gone((header_of(gone),)), "B", 10)  # it expired before it came
    assert results(took(one, said("Y:1", 9, {"X@G1": 1}), said("Z:1", 5), now=11)) == [(1, ["Z:1"], 5.0, "")]
    assert results(took(one, said("X:2", 3, {"X@G1": 1}), said("Z:2", 7), now=12))[0][1] == ["X:2", "Y:1", "Z:2"]
