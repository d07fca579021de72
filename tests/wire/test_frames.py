"""Every kind of frame: what goes in comes out and costs what it says; malformed bytes are the peer's mistake."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from antecede.core import frames as f
from antecede.core.membership.news import News
from antecede.core.message import Envelope, Message, Stamp
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import MAX_PAYLOAD, decode, decode_in_parts, encode, measure
from tests.wire.strategies import ANY_FRAME, FRAMES, plain


def test_every_kind_of_frame_is_tried_here() -> None:
    assert set(FRAMES) == set(f.FRAMES)


FIELDS = {
    f.Data: "envelopes answer",
    f.Digest: "offer have done stable reply",
    f.Request: "ranges lasting",
    f.Gone: "headers lacks",
    f.Publish: "envelopes headers_only",
    f.Published: "ids",
    f.Received: "ids",
    f.Attach: "attachment filters frontier unacked published loose change began missed",
    f.Attached: "attachment start cut origins",
    f.Items: "attachment items",
    f.Item: "index after envelope gone",
    f.Grow: "attachment change filters index frontier began",
    f.Grown: "attachment change first cut items origins",
    f.Top: "attachment top low",
    f.Want: "attachment indexes",
    f.Ack: "attachment index",
    f.Detach: "attachment",
    f.Quiet: "marks",
    f.Retired: "marks heard",
    f.Rumours: "envelopes digest names",
    f.SnapshotRequest: "whole",
    f.Snapshot: "past cut envelopes headers nodes origins dropped blank",
    f.SnapshotPage: "number index count snapshot",
    f.PageRequest: "number first",
    f.Ping: "number news",
    f.PingRequest: "number target news",
    f.Pong: "number of news",
    f.Sync: "news reply",
    f.Out: "name voters smallest",
    News: "name role groups site at number state",
    Message: "sender seq topics payload deadline_us expires_us after order",
    Stamp: "own needs covers rank extra",
}


@pytest.mark.parametrize("kind", FIELDS, ids=lambda k: str(k.__name__))
def test_a_new_field_is_taught_to_the_wire(kind: Any) -> None:
    """A field with a default would be dropped silently: extend frames.py, the strategies, then this list."""
    assert [field.name for field in fields(kind) if field.init] == FIELDS[kind].split()


@pytest.mark.parametrize("kind", f.FRAMES, ids=lambda k: str(k.kind))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_goes_in_comes_out_and_costs_what_it_says(kind: type, data: Any) -> None:
    frame = data.draw(FRAMES[kind])
    size, control = measure(frame)
    encoded = encode(frame)
    assert size == len(encoded)
    assert 0 <= control <= size
    back = decode(encoded)
    assert plain(back) == plain(frame)
    assert kind not in (f.Items, f.Publish, f.Data) or measure(back) == (size, control)
    again = encode(back)
    assert plain(decode(again)) == plain(frame)
    assert measure(back) == (len(again), control) or kind in (f.Items, f.Publish, f.Gone)
    assert measure(frame) == (size, control)
    assert plain(decode(memoryview(encoded))) == plain(frame)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
@example(b"\x01\x01\x92\xc2\xdd\xff\xff\xff\xff")
@example(b"\x01\x0a\x92\xcf" + b"\xff" * 8 + b"\x01")
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    for candidate in (data, b"\x01" + data):
        with suppress(RemoteProtocolError):
            decode(candidate)


@settings(max_examples=400, deadline=None)
@given(frame=ANY_FRAME, seed=st.integers(0, 2**32))
def test_damaged_frames_raise_nothing_else(frame: f.Frame, seed: int) -> None:
    dice = random.Random(seed)
    good = encode(frame)
    for _ in range(8):
        bad = bytearray(good)
        for _ in range(dice.randrange(1, 4)):
            bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
        bad = bad[: dice.randrange(len(bad) + 1)] if dice.random() < 0.3 else bad
        with suppress(RemoteProtocolError):
            encode(decode(bytes(bad)))
    with pytest.raises(RemoteProtocolError):
        decode(good[:-1])
    with pytest.raises(RemoteProtocolError):
        decode(good + b"\0")


@pytest.mark.parametrize("head", [b"\x01\x01\x92\xc2\x96\x90\x90\x90\x91", b"\x01\x21\x92"])
def test_what_nests_too_deep_is_malformed(head: bytes) -> None:
    """A note of a batch, the indexes of items: whatever is skipped or kept as it came is read through, too."""
    with pytest.raises(RemoteProtocolError, match="recursion"):
        decode(head + b"\x91" * 100_000 + b"\xc0")


def test_a_foreign_version_is_named() -> None:
    with pytest.raises(RemoteProtocolError, match="version 9"):
        decode(b"\x09" + encode(f.Top(1, 2))[1:])
    with pytest.raises(RemoteProtocolError, match="unknown kind"):
        decode(b"\x01\xc8\x90")


def test_what_a_peer_would_refuse_is_not_sent() -> None:
    for sender in ("nul\0", "x" * 600, "\ud800"):
        with pytest.raises(InputError):
            encode(f.Data((Envelope(Message(sender, 1, ("g",)), Stamp(((sender, 1),))),)))
    with pytest.raises(InputError):
        encode(f.Data((Envelope(Message("a", 1, ("g",), bytes(MAX_PAYLOAD + 1)), Stamp((("a", 1),))),)))
    with pytest.raises(InputError):
        encode(f.Top(2**70, 0))
    with pytest.raises(InputError):
        encode(f.Published(("no-id",)))
    with pytest.raises(InputError, match=r"object is no kind in core/frames\.FRAMES: no other travels"):
        encode(object())  # type: ignore[arg-type]


def published(count: int) -> f.Publish:
    return f.Publish(
        tuple(Envelope(Message("ann", n, ("t",), b"%d" % n), Stamp((("ann@t", n),))) for n in range(1, count + 1))
    )


def test_publications_are_read_some_at_a_time() -> None:
    data = encode(published(10))
    parts = [[e.message.seq for e in part.envelopes] for part in decode_in_parts(data, 4)]  # type: ignore[union-attr]
    assert parts == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert [len(part.messages()) for part in decode_in_parts(data, 5)] == [5, 5], "none is empty"
    whole = decode(data)
    joined = f.Publish(tuple(e for part in decode_in_parts(data, 3) for e in part.envelopes))  # type: ignore[union-attr]
    assert plain(joined) == plain(whole) and encode(joined) == data


@given(ANY_FRAME)
@settings(max_examples=50, deadline=None)
def test_other_frames_come_whole(frame: f.Frame) -> None:
    (back,) = decode_in_parts(encode(frame), 10_000)
    assert plain(back) == plain(decode(encode(frame)))


def test_a_batch_that_breaks_off_is_malformed_however_much_of_it_was_read() -> None:
    data = bytearray(encode(published(10)))
    dice = random.Random(1)
    for _ in range(2_000):
        bad = bytearray(data)
        bad[dice.randrange(2, len(bad))] ^= 1 << dice.randrange(8)
        with suppress(RemoteProtocolError):
            list(decode_in_parts(bytes(bad[: dice.randrange(3, len(bad) + 1)]), 3))


def test_a_frame_of_no_items_is_whole_though_it_is_the_first_one() -> None:
    """What was last written of items is kept; at first that is nothing, which is not the same as no items."""
    code = (
        "from antecede.core.frames import Items; from antecede.wire import decode, encode; "
        "back = decode(encode(Items(7, ()))); print(back.attachment, back.items)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "7 ()"
