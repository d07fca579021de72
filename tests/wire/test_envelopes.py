"""What an envelope costs: exactly what is sent, names once per frame, needs almost nothing beside covers."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core import frames as f
from antecede.core.message import NO_STAMP, Envelope, Message, Stamp
from antecede.wire import decode, encode, measure, weigh
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
    batch = tuple(Envelope(Message(f"p{i}", i, ("t",)), Stamp((), covers={f"q{i}": 1})) for i in range(700))
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


def test_a_message_without_a_stamp_shares_the_one_empty_stamp() -> None:
    arrived = decode(encode(f.Data((Envelope(Message("p", 1, ("g",)), NO_STAMP),))))
    assert isinstance(arrived, f.Data)
    assert arrived.envelopes[0].stamp is NO_STAMP
