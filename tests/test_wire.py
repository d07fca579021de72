"""The wire: what goes in comes out, costs what it says, and nothing malformed gets further than a RemoteProtocolError."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from antecede.core import frames as f
from antecede.core.message import NO_STAMP, Envelope, Message, Stamp
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import MAX_NUMBER, MAX_PAYLOAD, decode, encode, freeze, measure, thaw
from antecede.wire.names import layout_for, read_layout

NUMBERS = st.one_of(st.integers(0, 40), st.integers(0, 70_000), st.integers(0, MAX_NUMBER))
NAMES = st.one_of(st.sampled_from(["a", "b", "broker-1", "é", ""]), st.text("abc@/#+.é", max_size=6))
SENDERS = NAMES.map(lambda name: name.replace("@", "").replace(":", ""))
STREAMS = st.one_of(SENDERS, st.builds("{}@{}".format, SENDERS, NAMES))
MAPS = st.dictionaries(STREAMS, NUMBERS, max_size=12)
MARKS = st.lists(st.tuples(STREAMS, NUMBERS), max_size=6).map(tuple)
IDS = st.lists(st.builds("{}:{}".format, SENDERS, NUMBERS), max_size=5).map(tuple)
TIMES = st.none() | st.integers(-1000, 2**50)
NODES = st.lists(
    st.tuples(
        SENDERS,
        NUMBERS,
        st.lists(NAMES, max_size=3).map(tuple),
        st.lists(st.tuples(SENDERS, st.integers(0, 9)), max_size=3).map(tuple),
        TIMES,
    ),
    max_size=4,
).map(tuple)


@st.composite
def envelopes(draw: Any) -> Envelope:
    message = Message(
        draw(SENDERS),
        draw(NUMBERS),
        draw(st.lists(NAMES, max_size=3).map(tuple)),
        draw(st.binary(max_size=300)),
        draw(TIMES),
        draw(TIMES),
    )
    if draw(st.booleans()):
        return Envelope(message, NO_STAMP)
    covers = draw(MAPS)
    per_topic = tuple(
        (f"{message.sender}@{topic}", covers.get(f"{message.sender}@{topic}", 0) + 1) for topic in message.topics
    )
    own = draw(st.sampled_from([(), ((message.sender, message.seq),), per_topic]) | MARKS)
    some = tuple((s, n) for s, n in covers.items() if draw(st.booleans()))
    needs = draw(st.sampled_from([(), tuple(covers.items()), some]) | MARKS)
    extra = draw(st.none() | NODES)
    return Envelope(message, Stamp(own, needs, covers, draw(NUMBERS), extra))


BATCHES = st.lists(envelopes(), max_size=5).map(tuple)
ITEMS = st.builds(f.Item, NUMBERS, NUMBERS | st.integers(0, 2**200), MAPS, envelopes(), st.booleans())
FRAMES: dict[type, st.SearchStrategy[Any]] = {
    f.Data: st.builds(f.Data, BATCHES, st.booleans()),
    f.Digest: st.builds(f.Digest, MAPS, MAPS, st.booleans()),
    f.Request: st.builds(f.Request, st.lists(st.tuples(STREAMS, NUMBERS, NUMBERS), max_size=5).map(tuple)),
    f.Gone: st.builds(f.Gone, MARKS),
    f.Publish: st.builds(f.Publish, BATCHES, st.booleans()),
    f.Published: st.builds(f.Published, IDS),
    f.Attach: st.builds(f.Attach, NUMBERS, st.lists(NAMES, max_size=3).map(tuple), st.none() | MAPS, IDS),
    f.Attached: st.builds(f.Attached, NUMBERS, MAPS, IDS),
    f.Items: st.builds(f.Items, NUMBERS, NUMBERS, st.lists(ITEMS, max_size=4).map(tuple)),
    f.Top: st.builds(f.Top, NUMBERS, NUMBERS),
    f.Want: st.builds(f.Want, NUMBERS, st.lists(NUMBERS, max_size=5).map(tuple)),
    f.Ack: st.builds(f.Ack, NUMBERS, NUMBERS, NUMBERS, st.lists(NUMBERS, max_size=5).map(tuple)),
    f.Detach: st.builds(f.Detach, NUMBERS),
    f.SnapshotRequest: st.builds(f.SnapshotRequest, st.booleans()),
    f.Snapshot: st.builds(f.Snapshot, MAPS, MARKS, IDS, BATCHES),
}
ANY_FRAME = st.one_of(list(FRAMES.values()))
LEFT_OUT = {"size", "control", "stamp_size", "wire", "id", "after"}


def plain(value: Any) -> Any:
    """A frame as comparable values: what must survive. Item.after survives, Message.after never travels."""
    if isinstance(value, Stamp):
        return ("stamp", value.own, sorted(value.needs), dict(value.covers), value.rank, value.extra)
    if isinstance(value, Message):
        return (value.sender, value.seq, value.topics, value.payload, value.deadline_us, value.expires_us)
    if isinstance(value, f.Item):
        header = plain(value.envelope)
        return (
            value.index,
            value.after,
            dict(value.gains),
            value.gone,
            without_payload(header) if value.gone else header,
        )
    if isinstance(value, Envelope):
        return (plain(value.message), plain(value.stamp))
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, f.Publish) and value.headers_only:
        return ("publish", True, [without_payload(plain(e)) for e in value.envelopes])
    if isinstance(value, f.Base):
        fields = [name for name in type(value).__dataclass_fields__ if name not in LEFT_OUT]
        return (value.kind, [plain(getattr(value, name)) for name in fields])
    return value


def without_payload(envelope: Any) -> Any:
    message, stamp = envelope
    return (message[:3], message[4:], stamp)


def test_every_kind_of_frame_is_tried_here() -> None:
    assert set(FRAMES) == set(f.FRAMES)


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
    again = encode(back)
    assert plain(decode(again)) == plain(frame)
    assert measure(back) == (len(again), control) or kind in (f.Items, f.Publish)
    assert measure(frame) == (size, control)
    assert plain(decode(memoryview(encoded))) == plain(frame)


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


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
@example(b"\x01\x01\x92\xc2\xdd\xff\xff\xff\xff")
@example(b"\x01\x0a\x92\xcf" + b"\xff" * 8 + b"\x01")
def test_random_bytes_raise_nothing_else(data: bytes) -> None:
    for candidate in (data, b"\x01" + data):
        try:
            decode(candidate)
        except RemoteProtocolError:
            pass


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
        try:
            encode(decode(bytes(bad)))
        except RemoteProtocolError:
            pass
    with pytest.raises(RemoteProtocolError):
        decode(good[:-1])
    with pytest.raises(RemoteProtocolError):
        decode(good + b"\0")


def test_a_foreign_version_is_named() -> None:
    with pytest.raises(RemoteProtocolError, match="version 9"):
        decode(b"\x09" + encode(f.Top(1, 2))[1:])
    with pytest.raises(RemoteProtocolError, match="unknown kind"):
        decode(b"\x01\xc8\x90")


def test_a_hostile_grid_of_names_is_refused_before_it_is_built() -> None:
    raw = "\0".join(f"s{i}" for i in range(250)).encode() + b"\xff" + "\0".join(f"@g{i}" for i in range(250)).encode()
    with pytest.raises(RemoteProtocolError, match="62500 streams for 3 numbers"):
        read_layout(raw, 3)
    assert len(read_layout(raw, 62_500).streams) == 62_500
    with pytest.raises(RemoteProtocolError):
        read_layout(raw, 3)


def test_what_a_peer_would_refuse_is_not_sent() -> None:
    for sender in ("nul\0", "x" * 600, "\ud800"):
        with pytest.raises(InputError):
            encode(f.Data((Envelope(Message(sender, 1, ()), NO_STAMP),)))
    with pytest.raises(InputError):
        encode(f.Data((Envelope(Message("a", 1, (), bytes(MAX_PAYLOAD + 1)), NO_STAMP),)))
    with pytest.raises(InputError):
        encode(f.Top(2**70, 0))
    with pytest.raises(InputError):
        encode(f.Published(("no-id",)))
    with pytest.raises(InputError):
        encode(object())  # type: ignore[arg-type]


@given(st.lists(STREAMS, unique=True, max_size=20))
def test_layouts_are_the_same_for_any_order_of_streams(streams: list[str]) -> None:
    layout = layout_for(streams)
    assert sorted(layout.streams) == sorted(streams)
    assert layout_for(reversed(streams)).raw == layout.raw
    assert read_layout(layout.raw, len(streams)).streams == layout.streams


KEYS = st.one_of(
    st.text(max_size=5), st.integers(), st.tuples(st.text(max_size=3), st.integers(0, 9)), st.binary(max_size=3)
)
STATES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=4), inner, max_size=4)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(deadline=None)
@given(STATES)
def test_state_thaws_to_what_was_frozen(state: Any) -> None:
    assert thaw(freeze(state)) == state


@settings(deadline=None)
@given(st.dictionaries(KEYS, STATES, max_size=6))
def test_equal_states_freeze_equally(state: dict[Any, Any]) -> None:
    assert freeze(dict(reversed(list(state.items())))) == freeze(state)


def test_sequences_thaw_as_lists() -> None:
    assert thaw(freeze((1, (2, 3)))) == [1, [2, 3]]
    assert thaw(freeze({("a", 1): (2,)})) == {("a", 1): [2]}


@settings(deadline=None)
@given(st.binary(max_size=60), STATES, st.integers(0, 2**16))
def test_corrupt_state_is_said_to_be(data: bytes, state: Any, place: int) -> None:
    good = bytearray(freeze(state))
    good[place % len(good)] ^= 1 << place % 8
    for candidate in (data, freeze(None)[:3] + data, bytes(good), bytes(good[:-1])):
        try:
            thaw(candidate)
        except RemoteProtocolError:
            pass


def test_state_that_cannot_be_saved_is_the_callers_mistake() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for state in (object(), {object(): 1}, "\ud800", deep):
        with pytest.raises(InputError):
            freeze(state)
    with pytest.raises(RemoteProtocolError, match="version 9"):
        thaw(b"\xacS\x09\xc0")
