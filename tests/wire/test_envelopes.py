"""What an envelope costs: exactly what is sent, names once per frame, needs almost nothing beside covers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core import frames as f
from antecede.core.entries import Entries
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.names import MAX_TOPICS
from antecede.core.order.vector import VectorWriter
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import decode, encode, measure, stamps, weigh
from antecede.wire import envelopes as module
from antecede.wire.limits import MAX_CELLS
from tests.wire.strategies import envelopes, plain


@settings(max_examples=60, deadline=None)
@given(st.lists(envelopes(), min_size=1, max_size=40))
def test_a_frame_costs_the_same_whatever_its_envelopes_went_through(batch: list[Envelope]) -> None:
    alone = [measure(f.Data((e,)))[0] for e in batch]
    assert alone == [len(encode(f.Data((e,)))) for e in batch]
    together = f.Data(tuple(batch))
    assert measure(together)[0] == len(encode(together))
    assert measure(together)[0] <= sum(alone) + 20


def test_sizes_hold_for_batches_with_hundreds_of_tables() -> None:
    batch = tuple(
        Envelope(Message(f"p{i}", i, ("t",)), Stamp(((f"p{i}", i),), covers={f"q{i}": 1})) for i in range(700)
    )
    frame = f.Data(batch)
    assert measure(frame)[0] == len(encode(frame))
    assert plain(decode(encode(frame))) == plain(frame)


def test_names_appear_once_per_frame() -> None:
    covers = {f"publisher-{i}": i for i in range(20)}
    batch = tuple(
        Envelope(Message("publisher-3", n, ("room/1",)), Stamp((("publisher-3", n),), covers=covers)) for n in range(8)
    )
    encoded = encode(f.Data(batch))
    assert all(encoded.count(name.encode() + b"\0") <= 2 for name in covers)
    assert encoded.count(b"room/1") == 1


def test_needs_that_coincide_with_covers_cost_a_byte_or_a_bit_each() -> None:
    covers = {f"p{i:03}": 100 + i for i in range(64)}

    def control(needs: tuple[tuple[str, int], ...]) -> int:
        return measure(f.Data((Envelope(Message("p001", 102, ("g",)), Stamp((("p001", 102),), needs, covers)),)))[1]

    none = control(())
    assert control(tuple(covers.items())) <= none + 1
    assert control(tuple(covers.items())[:32]) <= none + 12
    assert control(tuple(covers.items())[:3]) <= none + 5


def test_an_envelope_that_travels_on_is_not_encoded_again() -> None:
    envelope = Envelope(Message("p", 7, ("g",), b"x", 900), Stamp((("p", 7),), (("p", 6),), {"p": 6, "q": 2}, 4))
    arrived = decode(encode(f.Data((envelope,))))
    assert isinstance(arrived, f.Data)
    assert arrived.envelopes[0].wire == envelope.wire
    assert weigh(arrived.envelopes[0]) == weigh(envelope)


TOO_MANY = tuple(f"g{i}" for i in range(MAX_TOPICS + 1))


@pytest.mark.parametrize(
    ("topics", "own"),
    [
        ((), (("p", 1),)),
        (("g", "g"), (("p", 1),)),
        (TOO_MANY, (("p", 1),)),
        (("g",), ()),
        (("g",), (("p@g", 1), ("p@g", 1))),
        (("g",), (("p@g", 1), ("p@g", 2))),
        (("g",), (("q@g", 1),)),
        (("g",), (("p", 1), ("q", 1))),
    ],
)
def test_topics_and_own_marks_that_no_order_makes_are_neither_sent_nor_read(
    topics: tuple[str, ...], own: tuple[tuple[str, int], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = f.Data((Envelope(Message("p", 1, topics), Stamp(own)),))
    with pytest.raises(InputError):
        encode(frame)
    hostile(monkeypatch)
    raw = encode(frame)
    monkeypatch.undo()
    with pytest.raises(RemoteProtocolError):
        decode(raw)


def hostile(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who sends anything."""
    monkeypatch.setattr(module, "are_groups", lambda topics: True)
    monkeypatch.setattr(stamps, "_is_of", lambda stream, sender: True)
    monkeypatch.setattr(module, "cells_of", lambda stamp: 0)
    monkeypatch.setattr(module, "are_own", lambda own: True)


def test_as_many_topics_as_allowed_come_back() -> None:
    topics = TOO_MANY[1:]
    frame = f.Data((Envelope(Message("p", 1, topics), Stamp(tuple((f"p@{topic}", 1) for topic in topics))),))
    assert plain(decode(encode(frame))) == plain(frame)


def test_topics_that_many_messages_share_are_counted_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = TOO_MANY[1:]
    batch = [
        Envelope(Message("p", n, topics), Stamp(tuple((f"p@{topic}", n) for topic in topics)))
        for n in range(MAX_CELLS // MAX_TOPICS + 1)
    ]
    assert len(encode(f.Data(tuple(batch[:-1])))) < 12 * len(batch)
    with pytest.raises(InputError):
        encode(f.Data(tuple(batch)))
    hostile(monkeypatch)
    raw = encode(f.Data(tuple(batch)))
    monkeypatch.undo()
    with pytest.raises(RemoteProtocolError):
        decode(raw)


def test_so_are_groups_that_many_nodes_share(monkeypatch: pytest.MonkeyPatch) -> None:
    topics = TOO_MANY[1:]
    nodes = tuple(("p", n, topics, (), None) for n in range(1, 1001))
    batch = tuple(Envelope(Message("p", n, ("g",)), Stamp((("p", n),), extra=nodes)) for n in (1, 2, 3))
    with pytest.raises(InputError):
        encode(f.Data(batch))
    hostile(monkeypatch)
    raw = encode(f.Data(batch))
    monkeypatch.undo()
    with pytest.raises(RemoteProtocolError):
        decode(raw)


def test_what_a_stamp_costs_does_not_depend_on_how_many_topics_there_are() -> None:
    """Under a table of entries; a topic is written in the head of a message, and nowhere else."""

    def control(topics: int) -> int:
        writers = [VectorWriter(name, flat=False, groups=Entries()) for name in ("S1", "S2", "S3")]
        for n in range(1, 301):
            writer = writers[n % 3]
            message = Message(writer.name, n, (f"room/{n % topics:03}",))
            envelope = Envelope(message, writer.stamp(message, None))
            for other in writers:
                if other is not writer:
                    other.learn(envelope)
        assert plain(decode(encode(f.Data((envelope,))))) == plain(f.Data((envelope,)))
        return weigh(envelope)[1]

    assert control(1) == control(300) < 40
