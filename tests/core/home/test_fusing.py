"""The client's side of fusion: it asks until it is answered, takes results once and in turn, and may name them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from antecede.core.fold.spec import fuse
from antecede.core.frames import Fuse, Fused, Retired
from antecede.core.home.fusing import result_id
from antecede.core.message import Publication
from antecede.errors import InputError, RemoteProtocolError
from tests.core.home.test_client import client
from tests.core.kit import frame_to, sent

SPEC = fuse(["x"], every=2)


def result(n: int, *causes: str, marks: dict[str, int] | None = None) -> bytes:
    said = {"cut": n, "cut_us": None, "rows": 2, "causes": causes, "results": [], "began": "", "marks": marks or {}}
    return json.dumps({**said, "rank": 5}).encode()


def asking(size: int = 10) -> Any:
    one = client()
    number, effects = one.fusing.open(("G1",), SPEC, size, 2)
    frame = frame_to(effects, "H", Fuse)
    assert (number, frame.number, frame.filters, frame.have, frame.previous) == (1, 1, ("G1",), 0, "")
    return one


def test_it_asks_until_it_is_answered_and_says_at_the_next_home_who_answered() -> None:
    one = asking()
    assert one.next_wake() == 22 and len(sent(one.wake(22), Fuse)) == 1 and not one.fusing.confirmed(1)
    one.receive(Fused(1, 1), "H", 23)
    assert one.fusing.confirmed(1) and one.fusing.at_us is not None
    one.wake(42)
    assert one.fusing.at_us is None, "there is nothing to ask any more"
    frame = frame_to(one.move(("N",), 50), "N", Fuse)
    assert frame.previous == "H" and not one.fusing.confirmed(1)


def test_results_are_taken_once_in_turn_and_acknowledged() -> None:
    one = asking()
    acks = [f.have for _, f in sent(one.receive(Fused(1, 1, (result(1), result(2))), "H", 3), Fuse)]
    assert acks == [2] and one.fusing.ready(1) == 2
    assert sent(one.receive(Fused(1, 1, (result(1), result(2))), "H", 4), Fuse) == [] and one.fusing.ready(1) == 2
    assert [one.fusing.take(1)[0] for _ in range(2)] == [1, 2]
    one.receive(Fused(1, 3, (result(3),)), "N", 5)
    one.receive(Fused(9, 3, (result(3),)), "H", 5)
    assert one.fusing.ready(1) == 0, "from elsewhere, or of another subscription"


def test_what_waits_is_bounded() -> None:
    one = asking(size=2)
    one.receive(Fused(1, 1, tuple(result(n) for n in range(1, 5))), "H", 3)
    assert [one.fusing.take(1)[0] for _ in range(2)] == [3, 4] and one.fusing.wanted[1].dropped == 2


def test_a_result_that_was_taken_may_be_named_as_a_cause() -> None:
    one = asking()
    one.receive(Fused(1, 1, (result(1, "X:3", "Y:1", marks={"X@G1": 3, "Y@G1": 1}), result(2))), "H", 3)
    with pytest.raises(InputError, match="never had"):
        one.publish(Publication(("G1",), b"", after=[result_id("S", 1, 1)]), 4)
    one.fusing.take(1)
    message, _ = one.publish(Publication(("G1",), b"", after=[result_id("S", 1, 1)]), 5)
    assert message.after == ("X:3", "Y:1")
    stamp = one.causes.known(message.id)
    assert stamp.covers == {"X@G1": 3, "Y@G1": 1} and stamp.rank > 5
    one.fusing.take(1)
    assert one.publish(Publication(("G1",), b"", after=[result_id("S", 1, 2)]), 6)[0].after == ()


def test_it_ends_when_it_is_closed_and_bad_results_are_their_senders_fault() -> None:
    one = asking()
    for wrong in (b"x", b"[]", b'{"causes": []}', b'{"causes": [], "results": [], "marks": {"X": "y"}}'):
        with pytest.raises(RemoteProtocolError, match="no fused result"):
            one.receive(Fused(1, 1, (wrong,)), "H", 3)
    frame = frame_to(one.fusing.close(1, 4), "H", Fuse)
    assert frame.filters == () and one.fusing.ready(1) == 0


def test_what_nobody_need_name_any_more_is_not_named_by_results_either() -> None:
    one = asking()
    one.receive(Fused(1, 1, (result(1, "X:3", "Y:1", marks={"X@G1": 3, "Y@G1": 1}),)), "H", 3)
    one.fusing.take(1)
    one.receive(Retired({"X@G1": 3}), "H", 4)
    message, _ = one.publish(Publication(("G1",), b"", after=[result_id("S", 1, 1)]), 5)
    assert one.causes.known(message.id).covers == {"Y@G1": 1} and message.after == ("X:3", "Y:1")
