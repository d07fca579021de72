"""What a channel says to clients that have acknowledged different numbers; a channel of one client cut out of it."""

from __future__ import annotations

from random import Random

from antecede.core.interest import Interest
from antecede.core.order.channel import OVERHEAD, Channel, as_sent, newest
from antecede.core.order.numbered import Log
from tests.core.kit import grouped


def chained(count: int, *, plain: bool = False) -> Channel:
    """Each message follows all before it."""
    channel = Channel(plain=plain)
    for n in range(1, count + 1):
        channel.name_causes(channel.append(grouped(f"p:{n}", "G1", covers={"p@G1": n - 1})))
    return channel


def test_who_has_acknowledged_more_is_told_of_fewer_causes() -> None:
    for plain in (False, True):
        channel = chained(11, plain=plain)
        channel.acknowledge(7)
        channel.name_causes(channel.append(grouped("p:12", "G1", covers={"p@G1": 11})))
        (bob,), (ann,) = channel.items(11, 7, 0), channel.items(11, 9, 2)
        assert (bob.index, bob.after) == (12, 0b1111) and (ann.index, ann.after) == (10, 0b11)


def test_an_item_is_the_very_same_where_nothing_differs() -> None:
    channel = chained(3)
    assert channel.items(0, 0, 0) is channel.items(0, 0, 0)
    assert channel.items(0, 0, 0)[2] is channel.entries[3] is as_sent(channel.entries[3], 0, 0)
    assert channel.items(0, 0, 1)[2] is not channel.entries[3] and channel.entries[3].index == 3
    before = channel.items(0, 0, 0)
    channel.append(grouped("q:1", "G1"))
    assert channel.items(0, 0, 0) is not before


def test_what_all_have_is_let_go_of() -> None:
    channel = chained(4)
    assert channel.bytes == 4 * OVERHEAD and channel.lowest == {"p@G1": 1}
    channel.acknowledge(3)
    assert list(channel.entries) == [4] and channel.lowest == {"p@G1": 4} and channel.low == channel.floor == 3
    channel.acknowledge(4)
    assert (channel.entries, channel.lowest, channel.bytes) == ({}, {}, 0)


def test_a_client_that_leaves_goes_on_as_if_it_had_always_been_alone() -> None:
    """It came when the channel had some already, and has acknowledged more than others."""
    dice = Random(3)
    for _ in range(200):
        channel, early = Channel(plain=False), dice.randrange(4)
        mine, alone = (Log(1, Interest(("G1",)), {}, (), plain=False) for _ in range(2))
        seqs = {"p": 0, "q": 0}

        def more(log: Log | None, seqs: dict[str, int] = seqs, channel: Channel = channel) -> None:
            sender = dice.choice("pq")
            covers = {f"{one}@G1": dice.randrange(n + 1) for one, n in seqs.items()}
            seqs[sender] += 1
            envelope = grouped(f"{sender}:{seqs[sender]}", "G1", covers=covers)
            channel.name_causes(channel.append(envelope))
            if log is not None:
                log.append(envelope)

        for _ in range(early):
            more(None)
        mine.join(channel)
        for _ in range(dice.randrange(9)):
            more(alone)
            if dice.random() < 0.7:
                assert said(mine) == said(alone)
                had = dice.randrange(alone.top + 1)
                mine.acknowledge(had)
                alone.acknowledge(had)
        mine.leave()
        assert not mine.shared and mine.channel is not channel and mine.offset == 0
        for _ in range(4):
            envelope = grouped(f"r:{alone.top + 1}", "G1", covers={"p@G1": seqs["p"], "q@G1": seqs["q"]})
            assert mine.append(envelope) is not None and alone.append(envelope) is not None
        assert said(mine) == said(alone) and mine.lowest == alone.lowest and mine.bytes == alone.bytes
        assert list(mine.entries) == list(alone.entries)


def said(log: Log) -> list[tuple[int, int, str]]:
    return [(item.index, item.after, item.envelope.message.id) for item in log.due()]


def test_the_newest_bits() -> None:
    assert [newest(0b1011, count) for count in (0, 1, 3, 4, 9)] == [0, 1, 0b11, 0b1011, 0b1011]
