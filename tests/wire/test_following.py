"""Stamps that follow from another one of their frame: not written, the same when read, refused where there is none."""

from __future__ import annotations

import pytest

from antecede.core import frames as f
from antecede.core.entries import Entries
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message
from antecede.core.order.numbered import Log
from antecede.core.order.vector import VectorWriter
from antecede.errors import RemoteProtocolError
from antecede.wire import decode, encode, measure
from antecede.wire import following as module
from antecede.wire.stamps import ReadStamp
from tests.wire.strategies import plain

TABLE = Entries({"chat/#": ("A",), "news/#": ("A",)})


def talk(bursts: int = 3, each: int = 16, first: int = 1, chain: int = 1, topics: int = 99) -> list[Envelope]:
    """Three clients publish in turn, some to a second group; each delivers all before it publishes again. Of its own
    messages each names `chain`; the first group has so many topics."""
    writers = {name: VectorWriter(name, flat=False, chain=chain, groups=TABLE) for name in ("c1", "c2", "c3")}
    for writer in writers.values():
        writer.rank = 70_000
    said: list[Envelope] = []
    seqs = dict.fromkeys(writers, first - 1)
    for _ in range(bursts):
        for name, writer in writers.items():
            for n in range(each):
                seqs[name] += 1
                topic = "news/1" if n == 3 and name == "c2" else f"chat/{n % topics}"
                message = Message(name, seqs[name], (topic,), b"x" * 9, 80_000_000 + n if n % 3 == 0 else None)
                said.append(Envelope(message, writer.stamp(message, None)))
            for other in writers.values():
                if other is not writer:
                    for envelope in said[-each:]:
                        other.learn(envelope)
    return said


def frames(said: list[Envelope], size: int = 32) -> list[f.Items]:
    log = Log(1, Interest(("chat/#", "news/#")), {}, (), plain=False)
    for envelope in said:
        log.append(envelope)
    items = log.due()
    return [f.Items(1, tuple(items[start : start + size])) for start in range(0, len(items), size)]


def test_of_a_burst_only_the_first_stamp_is_written_and_all_come_back() -> None:
    sent = frames(talk(first=1_000_000))
    for frame in sent:
        assert plain(decode(encode(frame))) == plain(frame)
        assert measure(frame)[0] == len(encode(frame))
    control = sum(measure(frame)[1] for frame in sent) / sum(len(frame.items) for frame in sent)
    assert control <= 16, control
    flags = module.following([item.envelope for item in sent[0].items])
    assert flags[:16] == [False, *[True] * 15], flags
    assert sum(flags) >= 26


def test_an_item_out_of_turn_or_whose_causes_differ_is_written_whole() -> None:
    said = talk(bursts=1)
    items = list(frames(said)[0].items)
    swapped = f.Items(1, (items[5], items[3], items[4], items[20], items[7]))
    lone = f.Item(items[6].index, 1 << 700, items[6].envelope)
    far = f.Item(items[7].index + 5_000, 3, items[7].envelope, gone=True)
    for frame in (swapped, f.Items(1, (items[5], lone, far)), f.Grown(1, 2, 3, ("c1:1",), tuple(items[4:9]))):
        back = decode(encode(frame))
        expected = frame
        if any(item.gone for item in frame.items):  # what is gone comes without its payload
            expected = decode(encode(f.Items(1, frame.items)))
        assert plain(back) == plain(expected)
        assert measure(frame)[0] == len(encode(frame))


def test_to_brokers_every_stamp_is_written() -> None:
    said = tuple(talk(bursts=1))
    back = decode(encode(f.Data(said)))
    assert isinstance(back, f.Data) and plain(back) == plain(f.Data(said))
    assert all(envelope.wire is not None for envelope in back.envelopes)


def test_what_follows_from_none_is_refused() -> None:
    frame = frames(talk(bursts=1))[0]
    encoded = encode(f.Items(1, frame.items[4:6]))
    assert encoded.count(module.FOLLOWS) == 1
    alone = encode(f.Items(1, frame.items[4:5]))
    stamp = bytes(frame.items[4].envelope.wire[4])  # type: ignore[index]
    envelope = frame.items[0].envelope
    with pytest.raises(RemoteProtocolError, match="follows from none"):
        decode(alone.replace(stamp, module.FOLLOWS))
    with pytest.raises(RemoteProtocolError, match="follows from none"):
        module.read_next_after(f.Item(1, 1 << module.SPAN, envelope), 2)
    with pytest.raises(RemoteProtocolError, match="follows from none"):
        module.read_next_after(f.Item(5, 0, envelope), 5)


@pytest.mark.parametrize("chain", [2, 8])
def test_of_a_burst_that_names_several_of_its_senders_own_messages_only_the_first_stamp_is_written(chain: int) -> None:
    sent = frames(talk(chain=chain))
    for frame in sent:
        assert plain(decode(encode(frame))) == plain(frame)
        assert measure(frame)[0] == len(encode(frame))
    flags = module.following([item.envelope for item in sent[0].items])
    assert all(flags[chain + 1 : 16]), "until so many are named stamps are written"
    assert sum(module.following([item.envelope for item in sent[-1].items])) >= 14


def test_a_stamp_follows_from_that_of_the_message_before_it_only() -> None:
    first = module.FollowingStamp.read(talk(bursts=1)[0].stamp, 2)
    assert module.FollowingStamp.read(first, 3).own == (("c1@0", 3),)
    with pytest.raises(RemoteProtocolError, match="another message"):
        module.FollowingStamp.read(first, 4)


@pytest.mark.parametrize("chain", [1, 3, 8])
def test_a_stamp_that_was_not_written_says_the_same_when_looked_at(chain: int) -> None:
    said = talk(bursts=2, chain=chain)
    for frame in frames(said):
        back = decode(encode(frame))
        assert isinstance(back, f.Items)
        for item, read in zip(frame.items, back.items, strict=True):
            stamp, other = item.envelope.stamp, read.envelope.stamp
            assert other.reaches_out() == stamp.reaches_out()
            assert other.place() == stamp.place()
            assert (other.covers, set(other.needs)) == (stamp.covers, set(stamp.needs))
            assert (other.own, other.rank) == (stamp.own, stamp.rank)
            with pytest.raises(AttributeError):
                other.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("chain", [1, 2, 8])
def test_the_quick_look_finds_no_stamp_to_follow_that_the_closer_look_does_not(
    chain: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    back = decode(encode(f.Data(tuple(talk(bursts=2, each=24, chain=chain, topics=1)))))
    assert isinstance(back, f.Data)
    pairs = [(one.stamp, other.stamp, other.message.seq) for one in back.envelopes for other in back.envelopes]
    looked = [isinstance(b, ReadStamp) and isinstance(a, ReadStamp) and b.is_next_of(a) for a, b, _ in pairs]
    assert sum(looked) >= 9, "it is the usual case"
    quick = [module._follows(*pair) for pair in pairs]
    monkeypatch.setattr(ReadStamp, "is_next_of", lambda stamp, last: False)
    assert quick == [module._follows(*pair) for pair in pairs]


@pytest.mark.parametrize("chain", [1, 8])
def test_who_learns_the_last_of_a_burst_has_learned_all_of_it(chain: int) -> None:
    each, last = (VectorWriter("me", flat=False, chain=chain, groups=TABLE) for _ in range(2))
    replaced = 0
    for number, frame in enumerate(frames(talk(chain=chain)), 1):
        back = decode(encode(frame))
        assert isinstance(back, f.Items)
        came = [item.envelope for item in back.items]
        for envelope, after in zip(came, [*came[1:], None], strict=True):
            each.learn(envelope)
            if after is not None and after.stamp.replaces(envelope.stamp):
                replaced += 1
            else:
                last.learn(envelope)
        for topic in ("chat/0", "news/1"):
            message = Message("me", 2 * number + (topic == "news/1"), (topic,))
            assert plain(each.stamp(message, None)) == plain(last.stamp(message, None))
    assert replaced > 100


def test_only_a_later_stamp_of_the_same_burst_replaces_another() -> None:
    first, second = (decode(encode(frame)) for frame in frames(talk(bursts=1)[:32], size=16))
    assert isinstance(first, f.Items) and isinstance(second, f.Items)
    mine, others = ([item.envelope.stamp for item in frame.items] for frame in (first, second))
    assert mine[1].replaces(mine[0]) and mine[5].replaces(mine[2])
    assert not any(stamp.replaces(stamp) for stamp in mine)
    assert not mine[2].replaces(mine[5]) and not mine[0].replaces(mine[1])
    assert not any(stamp.replaces(other) for stamp in mine for other in others)
