"""Frames of every kind for Hypothesis, and what of a frame must survive the wire."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from antecede.core import frames as f
from antecede.core.membership.news import STATES, News
from antecede.core.message import LOOSE, ORDERS, Envelope, Message, Stamp
from antecede.wire import MAX_NUMBER

__all__ = ["ANY_FRAME", "FRAMES", "NODES", "STREAMS", "envelopes", "plain"]

NUMBERS = st.one_of(st.integers(0, 40), st.integers(0, 70_000), st.integers(0, MAX_NUMBER))
NAMES = st.one_of(st.sampled_from(["a", "b", "broker-1", "é", ""]), st.text("abc@/#+.é", max_size=6))
SENDERS = NAMES.map(lambda name: name.replace("@", "").replace(":", ""))
STREAMS = st.one_of(SENDERS, st.builds("{}@{}".format, SENDERS, NAMES))
MAPS = st.dictionaries(STREAMS, NUMBERS, max_size=12)
MARKS = st.lists(st.tuples(STREAMS, NUMBERS), max_size=6).map(tuple)
IDS = st.lists(st.builds("{}:{}".format, SENDERS, NUMBERS), max_size=5).map(tuple)
TOPICS = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
PLACES = st.dictionaries(NAMES, NUMBERS, min_size=1, max_size=4)
TIMES = st.none() | st.integers(-1000, 2**50)
NODES = st.lists(
    st.tuples(
        SENDERS,
        NUMBERS,
        TOPICS,
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
        draw(TOPICS),
        draw(st.binary(max_size=300)),
        draw(TIMES),
        draw(TIMES),
        order=draw(st.sampled_from(ORDERS)),
    )
    sender = message.sender + (LOOSE if message.order == "none" else "")
    if draw(st.booleans()):
        return Envelope(message, Stamp(((sender, message.seq),)))
    covers = draw(MAPS)
    per_topic = tuple((f"{sender}@{topic}", covers.get(f"{sender}@{topic}", 0) + 1) for topic in message.topics)
    per_seq = tuple((f"{sender}@{topic}", message.seq) for topic in message.topics)
    elsewhere = tuple((f"{sender}@{place}", n) for place, n in draw(PLACES).items())
    own = draw(st.sampled_from([((sender, message.seq),), ((sender, 7),), per_topic, per_seq, elsewhere]))
    some = tuple((s, n) for s, n in covers.items() if draw(st.booleans()))
    needs = draw(st.sampled_from([(), tuple(covers.items()), some]) | MARKS)
    extra = draw(st.none() | NODES | st.just({stream: 1000 + n // 4 for stream, n in covers.items()}))
    return Envelope(message, Stamp(own, needs, covers, draw(NUMBERS) // 2, extra))


BATCHES = st.lists(envelopes(), max_size=5).map(tuple)
ITEMS = st.builds(f.Item, NUMBERS, NUMBERS | st.integers(0, 2**200), envelopes(), st.booleans())
RANGES = st.lists(st.tuples(STREAMS, NUMBERS, NUMBERS), max_size=5).map(tuple)

ORIGINS = st.lists(st.tuples(NAMES, NAMES, IDS), max_size=3).map(tuple)

WORDS = st.lists(NAMES, max_size=3).map(tuple)
ROLES = st.sampled_from(["member", "broker", "subscriber"])
NEWS = st.lists(st.builds(News, NAMES, ROLES, WORDS, NAMES, WORDS, NUMBERS, st.sampled_from(STATES)), max_size=4).map(
    tuple
)


@st.composite
def digests(draw: Any) -> f.Digest:
    offer = draw(MAPS)
    have = draw(st.one_of(MAPS, st.just(dict(offer)), st.just({s: n // 2 for s, n in offer.items()})))
    done = draw(st.one_of(MAPS, st.just({}), st.just(dict(have))))
    stable = draw(st.one_of(MAPS, st.just({}), st.just(dict(done))))
    return f.Digest(offer, have, done, stable, draw(st.booleans()))


SNAPSHOTS = st.builds(f.Snapshot, MAPS, IDS, BATCHES, BATCHES, NODES, ORIGINS, MAPS, st.booleans())
FRAMES: dict[type, st.SearchStrategy[Any]] = {
    f.Data: st.builds(f.Data, BATCHES, st.booleans()),
    f.Digest: digests(),
    f.Request: st.builds(f.Request, RANGES, st.booleans()),
    f.Gone: st.builds(f.Gone, BATCHES, RANGES),
    f.Publish: st.builds(f.Publish, BATCHES, st.booleans()),
    f.Published: st.builds(f.Published, IDS),
    f.Received: st.builds(f.Received, IDS),
    f.Kept: st.builds(f.Kept, IDS),
    f.Fuse: st.builds(f.Fuse, NUMBERS, WORDS, st.binary(max_size=9), NUMBERS, NAMES, NAMES),
    f.Fused: st.builds(
        f.Fused, NUMBERS, NUMBERS, st.lists(st.binary(max_size=9), max_size=3).map(tuple), st.binary(max_size=9), NAMES
    ),
    f.Quiet: st.builds(f.Quiet, MAPS),
    f.Retired: st.builds(f.Retired, MAPS, st.booleans()),
    f.Attach: st.builds(
        f.Attach,
        NUMBERS,
        st.lists(NAMES, max_size=3).map(tuple),
        st.none() | MAPS,
        IDS,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        MAPS,
    ),
    f.Grow: st.builds(f.Grow, NUMBERS, NUMBERS, st.lists(NAMES, max_size=3).map(tuple), NUMBERS, MAPS, MAPS),
    f.Grown: st.builds(
        f.Grown,
        NUMBERS,
        NUMBERS,
        NUMBERS,
        IDS,
        st.lists(ITEMS, max_size=4).map(tuple),
        st.lists(st.tuples(NAMES, IDS), max_size=2).map(tuple),
    ),
    f.Attached: st.builds(f.Attached, NUMBERS, MAPS, IDS, st.lists(st.tuples(NAMES, IDS), max_size=2).map(tuple)),
    f.Items: st.builds(f.Items, NUMBERS, st.lists(ITEMS, max_size=4).map(tuple)),
    f.Top: st.builds(f.Top, NUMBERS, NUMBERS, NUMBERS),
    f.Want: st.builds(f.Want, NUMBERS, st.lists(NUMBERS, max_size=5).map(tuple)),
    f.Ack: st.builds(f.Ack, NUMBERS, NUMBERS),
    f.Detach: st.builds(f.Detach, NUMBERS),
    f.SnapshotRequest: st.builds(f.SnapshotRequest, st.booleans()),
    f.Rumours: st.builds(f.Rumours, BATCHES, RANGES, st.lists(NAMES, max_size=4).map(tuple)),
    f.Ping: st.builds(f.Ping, NUMBERS, NEWS),
    f.PingRequest: st.builds(f.PingRequest, NUMBERS, NAMES, NEWS),
    f.Pong: st.builds(f.Pong, NUMBERS, NAMES, NEWS),
    f.Sync: st.builds(f.Sync, NEWS, st.booleans()),
    f.Out: st.builds(f.Out, NAMES, NUMBERS, NAMES),
    f.Snapshot: SNAPSHOTS,
    f.SnapshotPage: st.builds(f.SnapshotPage, NUMBERS, st.integers(0, 7), st.integers(8, 9), SNAPSHOTS),
    f.PageRequest: st.builds(f.PageRequest, NUMBERS, NUMBERS),
}
ANY_FRAME = st.one_of(list(FRAMES.values()))
LEFT_OUT = {"size", "control", "stamp_size", "wire", "id", "after"}


def plain(value: Any) -> Any:
    """A frame as comparable values: what must survive. Item.after survives, Message.after never travels."""
    if isinstance(value, Stamp):
        return ("stamp", value.own, sorted(value.needs), dict(value.covers), value.rank, value.extra)
    if isinstance(value, Message):
        return (value.sender, value.seq, value.topics, value.payload, value.deadline_us, value.expires_us, value.order)
    if isinstance(value, f.Item):
        header = plain(value.envelope)
        return (
            value.index,
            value.after,
            value.gone,
            without_payload(header) if value.gone else header,
        )
    if isinstance(value, Envelope):
        return (plain(value.message), plain(value.stamp))
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, f.Publish) and value.headers_only:
        return ("publish", True, [without_payload(plain(e)) for e in value.envelopes])
    if isinstance(value, f.Gone):
        return ("gone", value.lacks, [without_payload(plain(e)) for e in value.headers])
    if isinstance(value, f.Snapshot):
        headers = [without_payload(plain(e)) for e in value.headers]
        rest = (value.past, value.cut, value.envelopes, value.nodes, value.origins, value.dropped, value.blank)
        return ("snapshot", headers, [plain(part) for part in rest])
    if isinstance(value, f.Base):
        fields = [name for name in type(value).__dataclass_fields__ if name not in LEFT_OUT]
        return (value.kind, [plain(getattr(value, name)) for name in fields])
    return value


def without_payload(envelope: Any) -> Any:
    message, stamp = envelope
    return (message[:3], message[4:], stamp)
