"""Frames: the list is whole, kinds tell them apart, and each says which messages arrive with it."""

from __future__ import annotations

from typing import get_args

from antecede.core.frames import FRAMES, Data, Frame, Publish, Request
from antecede.core.message import NO_STAMP, Envelope, Message


def test_the_list_is_whole_and_kinds_are_distinct() -> None:
    assert set(get_args(Frame)) == set(FRAMES)
    kinds = [frame.kind for frame in FRAMES]
    assert len(set(kinds)) == len(kinds) and all(kinds)


def test_what_arrives_with_a_frame() -> None:
    envelopes = tuple(Envelope(Message("A", seq, ("G1",)), NO_STAMP) for seq in (1, 2))
    assert [message.id for message in Data(envelopes).messages()] == ["A:1", "A:2"]
    assert [message.id for message in Publish(envelopes).messages()] == ["A:1", "A:2"]
    assert Publish(envelopes, headers_only=True).messages() == ()
    assert Request((("A", 0, 2),)).messages() == ()
