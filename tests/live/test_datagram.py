"""Bundling: fewer frames, the same content, nothing too large for a datagram."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.effects import Send
from antecede.core.frames import Data, Gone, Grown, Item, Items, Publish, Published, Received, Request, Top, Want
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.numbered import WINDOW
from antecede.errors import RemoteProtocolError
from antecede.live.datagram import MAX_BODY, bundle, halves, pack, prefix_for, unpack
from antecede.wire import MAX_DATAGRAM, encode, measure


def envelope(n: int, size: int = 100) -> Envelope:
    return Envelope(Message("p", n, ("t",), bytes(size)), Stamp((("p", n),)))


def test_messages_for_the_same_peers_share_a_frame() -> None:
    sends = [Send(("a", "b"), Data((envelope(n),))) for n in range(16)]
    sends += [Send(("a",), Top(1, 2)), Send(("a", "b"), Data((envelope(99),), answer=True))]
    out = bundle(sends)
    assert [(to, type(frame)) for to, frame in out] == [(("a",), Top), (("a", "b"), Data), (("a", "b"), Data)]
    assert [len(frame.messages()) for _, frame in out] == [0, 16, 1]


def test_items_and_publications_keep_their_attachment_and_form() -> None:
    items = [Send(("c",), Items(n % 2, (Item(n, 0, envelope(n)),))) for n in range(6)]
    publications = [Send(("h",), Publish((envelope(n),), headers_only=n == 3)) for n in range(6)]
    frames = [frame for _, frame in bundle(items + publications)]
    assert sorted((f.headers_only, len(f.envelopes)) for f in frames if isinstance(f, Publish)) == [
        (False, 5),
        (True, 1),
    ]
    by_attachment = {f.attachment: [item.index for item in f.items] for f in frames if isinstance(f, Items)}
    assert by_attachment == {0: [0, 2, 4], 1: [1, 3, 5]}


def test_acknowledgements_are_gathered_and_said_once() -> None:
    sends = [Send(("c",), Published((f"c:{n // 2}",))) for n in range(200)]
    frames = [frame for _, frame in bundle(sends)]
    assert len(frames) == 2
    assert [i for frame in frames if isinstance(frame, Published) for i in frame.ids] == [f"c:{n}" for n in range(100)]


def test_a_batch_that_is_too_large_is_cut() -> None:
    many = tuple(envelope(n, 1000) for n in range(300))
    parts = bundle([Send(("a",), Data(many))])
    assert len(parts) > 1
    assert all(measure(frame)[0] <= MAX_BODY for _, frame in parts)
    assert [m.seq for _, frame in parts for m in frame.messages()] == list(range(300))


def test_items_are_cut_by_their_bitmaps_too() -> None:
    """As many as a client may lack: with the bitmap of causes of the last, each is half as large again."""
    lacked = tuple(Item(n, (1 << n) - 1, envelope(n, 128)) for n in range(WINDOW))
    parts = bundle([Send(("c",), Items(1, lacked[first : first + 32])) for first in range(0, WINDOW, 32)])
    assert len(parts) == 2 and all(measure(frame)[0] <= MAX_BODY for _, frame in parts)
    assert [m.seq for _, frame in parts for m in frame.messages()] == list(range(WINDOW))


@pytest.mark.parametrize(
    "frame",
    [
        Data((envelope(1), envelope(2), envelope(3)), answer=True),
        Publish((envelope(1), envelope(2), envelope(3)), headers_only=True),
        Gone((envelope(1), envelope(2), envelope(3)), (("x", 0, 4),)),
        Items(4, (Item(1, 0, envelope(1)), Item(2, 1, envelope(2)))),
        Grown(4, 2, 7, ("x:1",), (Item(7, 0, envelope(1)), Item(8, 1, envelope(2), gone=True))),
        Request((("x", 0, 4), ("y", 2, 3))),
        Want(4, (1, 2, 9)),
        Published(("a:1", "a:2")),
        Received(("a:1", "a:2")),
    ],
    ids=lambda frame: str(frame.kind),
)
def test_a_frame_in_halves_says_the_same(frame: Any) -> None:
    first, second = halves(frame) or (None, None)
    assert first is not None and second is not None
    for name in frame.__dataclass_fields__:
        if name not in ("size", "control"):
            whole, one, other = (getattr(f, name) for f in (frame, first, second))
            assert one == other == whole or one + other == whole
    assert halves(first) is None, "one part is one part"


def test_what_belongs_together_is_not_cut() -> None:
    assert halves(Top(1, 2)) is None and halves(Data(())) is None


def test_datagrams_are_filled_and_read_back() -> None:
    frames = [encode(Data((envelope(n, 20_000),))) for n in range(7)]
    datagrams = list(pack(prefix_for("näme"), frames))
    assert len(datagrams) == 4
    assert max(map(len, datagrams)) <= MAX_DATAGRAM
    read = [unpack(memoryview(d)) for d in datagrams]
    assert {sender for sender, _ in read} == {"näme"}
    assert [encode(frame) for _, some in read for frame in some] == frames


def test_every_truncation_is_refused() -> None:
    (datagram,) = pack(prefix_for("a"), [encode(Top(1, 2)), encode(Data((envelope(1),)))])
    whole = len(unpack(memoryview(datagram))[1])
    for length in range(len(datagram)):
        try:
            frames = unpack(memoryview(datagram)[:length])[1]
        except RemoteProtocolError:
            continue
        assert len(frames) < whole  # cut exactly between two frames
    with pytest.raises(RemoteProtocolError):
        unpack(memoryview(datagram + b"\0"))
