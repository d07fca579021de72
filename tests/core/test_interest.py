"""Filters decide about topics and about streams, and say so again when asked again."""

from __future__ import annotations

import pytest

from antecede.core import interest as module
from antecede.core.content import Seen
from antecede.core.interest import Interest, group_of, stream_of
from antecede.core.message import Message
from antecede.core.order.matrix import ColumnInterest
from antecede.core.roles.round_broker import InterestBelow


def test_a_stream_is_a_sender_in_a_group() -> None:
    assert stream_of("A.1", "G1") == "A.1@G1" and group_of("A.1@G1") == "G1"
    assert group_of("A") == ""
    assert group_of("A@room/1@2") == "room/1@2", "what follows the first @ is the group"


def test_any_filter_and_any_topic_will_do() -> None:
    interest = Interest(("G1", "room/+"))
    for _ in range(2):
        assert interest.wants(("G9", "room/7")) and interest.wants(("G1",))
        assert not interest.wants(("G9", "G10")) and not interest.wants(())


def test_streams_of_wanted_groups_concern_it_and_all_of_a_flat_group() -> None:
    interest = Interest(("G1", "room/#"))
    for _ in range(2):
        assert interest.concerns("A@G1") and interest.concerns("A@room/7") and interest.concerns("A")
        assert not interest.concerns("A@G2")


def test_numbers_of_streams_that_concern_it_stay_in_their_order() -> None:
    numbers = {"B@G1": 2, "A@G2": 9, "A@G1": 1, "C": 4}
    assert list(Interest(("G1",)).among(numbers).items()) == [("B@G1", 2), ("A@G1", 1), ("C", 4)]


def test_answers_are_forgotten_before_they_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    interest = Interest(("G1",))
    for n in range(10):
        assert interest.concerns(f"{n}@G1") and not interest.concerns(f"{n}@G2")
        assert len(interest._streams) <= 3


def test_interests_of_one_key_look_at_the_same_streams() -> None:
    assert Interest(("G1", "G2")).key == Interest(("G1", "G2")).key != Interest(("G1",)).key
    assert (
        len(
            {
                Interest(("G1",)).key,
                ColumnInterest(("G1",), "A").key,
                ColumnInterest(("G1",), "B").key,
                InterestBelow(("G1",)).key,
            }
        )
        == 4
    )


def test_filters_with_predicates_want_what_these_hold_for() -> None:
    interest, seen = Interest(("a/##?payload.x > 1", "a/b#?payload.y > 1", "c")), Seen()

    def takes(topic: str, payload: bytes) -> bool:
        return interest.takes(Message("p", 1, (topic,), payload), seen)

    assert takes("a/b", b'{"x": 2}') and takes("a/b", b'{"y": 2}') and not takes("a/b", b'{"x": 1, "y": 1}')
    assert takes("a/z", b'{"x": 2}') and not takes("a/z", b'{"y": 2}')
    assert takes("c", b"") and not takes("d", b'{"x": 2}')
    assert interest.wants(("a/z",)), "by its topic it may be wanted"
    assert Interest(("a/#", "a/##?payload.x > 1")).takes(Message("p", 1, ("a",)), seen), "the other filter takes all"
