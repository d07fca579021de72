"""Clients that share a channel are told, byte for byte, what they would be told if each had a channel of its own."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from antecede.core.effects import Effect, Send
from antecede.core.frames import Ack, Attach, Data, Detach, Digest, Frame, Grow, Grown, Items, Kept, Publish, Want
from antecede.core.home import broker, sharing
from antecede.core.message import Envelope, Publication
from antecede.core.order import numbered
from antecede.core.order.unordered import LooseWriter
from antecede.core.order.vector import VectorWriter
from antecede.wire import encode
from tests.core.kit import grouped, machine, sent, told, view_of

CLIENTS = ("S1", "S2", "S3", "S4", "S5")
SENDERS = (*CLIENTS, "P", "Q")
FILTERS = (("G1",), ("G1",), ("G1", "G2"), ("G2",), ("G1", 'G2?kind = "a"'))


class Apart(sharing.Sharing):
    """The slow way: nobody shares."""

    __slots__ = ()

    def share(self, client: str) -> None:
        pass


def home(**knobs: Any) -> Any:
    one = machine("home", "H", "broker", "G1 G2", **{"round_us": 100, "grace_us": 1000, **knobs})
    one.view(view_of({"H": "G1 G2", "B": "G1 G2"}, " ".join(SENDERS)), 0)
    one.start(0)
    return one


def said(effects: list[Effect]) -> list[object]:
    """What would be seen of them: frames as bytes."""
    return [(e.to, encode(e.frame)) if isinstance(e, Send) else told([e]) for e in effects]


class Story:
    """What clients, publishers and another broker do to a home, drawn at random. It may lose, repeat and misnumber
    what it likes: all that counts is that two homes are told the same."""

    def __init__(self, seed: int) -> None:
        self.dice, self.now_us = Random(seed), 0
        self.writers = {name: VectorWriter(name, flat=False) for name in SENDERS}
        self.loose = {name: LooseWriter(name, flat=False, slack_us=0) for name in SENDERS}
        self.seqs = dict.fromkeys(SENDERS, 0)
        self.published: list[Envelope] = []
        self.numbers = dict.fromkeys(SENDERS, 0)
        self.tops = dict.fromkeys(SENDERS, 0)

    def steps(self, count: int) -> Iterator[tuple[Frame | None, str, int]]:
        """Frames for the home and from whom; None: it is woken."""
        for name in SENDERS:
            yield self.attach(name), name, self.now_us
        for _ in range(count):
            self.now_us += self.dice.choice((1, 5, 30))
            for frame, sender in self.step():
                yield frame, sender, self.now_us

    def step(self) -> list[tuple[Frame | None, str]]:
        kind, client = self.dice.random(), self.dice.choice(CLIENTS)
        if kind < 0.35:
            sender = self.dice.choice((*"PQPQPQ", client))
            return [(Publish(tuple(self.publish(sender) for _ in range(self.dice.choice((1, 2, 5))))), sender)]
        if kind < 0.60:
            return [(self.acknowledge(name), name) for name in self.dice.sample(CLIENTS, 3)]
        if kind < 0.72:
            return [(self.acknowledge(name, all_of_it=True), name) for name in CLIENTS]
        if kind < 0.75:
            return [(Want(self.numbers[client], (self.tops[client], max(1, self.tops[client] - 2))), client)]
        if kind < 0.78:
            change = self.numbers[client] * 100 + len(self.published)
            had = self.dice.randrange(self.tops[client] + 1)
            return [(Grow(self.numbers[client], change, self.dice.choice(FILTERS), had, {}, {}), client)]
        if kind < 0.80:
            return [(self.attach(client), client)]
        if kind < 0.81:
            return [(Detach(self.numbers[client] + 1), client)]
        if kind < 0.88:
            have = {stream: n for envelope in self.published[:-2] for stream, n in envelope.stamp.own}
            return [(Digest({}, have, have, have), "B")]
        if kind < 0.92:
            return [(Kept(tuple(envelope.message.id for envelope in self.published[-4:])), "B")]
        return [(None, "")]

    def publish(self, sender: str) -> Envelope:
        groups = self.dice.choice((("G1",), ("G1",), ("G2",), ("G1", "G2")))
        payload = self.dice.choice((b"", b'{"kind": "a"}'))
        writer = self.writers[sender]
        for envelope in self.dice.sample(self.published[-6:], min(2, len(self.published))):
            if envelope.message.order != "none":
                writer.learn(envelope)
        if self.dice.random() < 0.1:
            said = self.loose[sender].envelope(Publication(groups, payload, order="none"), self.now_us)
        else:
            self.seqs[sender] += 1
            late = self.now_us + self.dice.choice((40, 400)) if self.dice.random() < 0.1 else None
            message = Publication(groups, payload, late).message(sender, self.seqs[sender])
            said = Envelope(message, writer.stamp(message, None))
        self.published.append(said)
        return said

    def acknowledge(self, client: str, *, all_of_it: bool = False) -> Ack:
        top = self.tops[client]
        return Ack(self.numbers[client], top if all_of_it else self.dice.randrange(top + 2))

    def attach(self, name: str) -> Attach:
        self.numbers[name] += 1
        self.tops[name] = 0
        filters = self.dice.choice(FILTERS) if name in CLIENTS else ()
        some = self.dice.choice(self.published).stamp if self.published else None
        fresh = some is None or self.dice.random() < 0.5
        missed = tuple(envelope.message.id for envelope in self.published[-1:]) if self.dice.random() < 0.2 else ()
        ahead = self.dice.choice((0, 0, 2))  # of messages that this home has not had yet
        frontier = None if fresh or some is None else {s: n + ahead for s, n in (*some.covers.items(), *some.own)}
        return Attach(self.numbers[name], filters, frontier, (), self.seqs[name], missed=missed)

    def heard(self, effects: list[Effect]) -> None:
        for kind in (Items, Grown):
            for (client,), frame in sent(effects, kind):
                for item in frame.items:
                    self.tops[client] = max(self.tops[client], item.index)


@pytest.mark.parametrize("knobs", [{}, {"backlog": 9}, {"remember_us": 3_000, "grace_us": 200}], ids=str)
def test_a_client_cannot_tell_whether_it_shares(knobs: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (numbered, sharing, broker):
        monkeypatch.setattr(module, "WINDOW", 6)
    shared = items = 0
    for seed in range(40):
        one, other, story = home(**knobs), home(**knobs), Story(seed)
        other.sharing = Apart(other.logs, plain=False)
        for frame, sender, now_us in story.steps(150):
            both = [h.wake(now_us) if frame is None else h.receive(frame, sender, now_us) for h in (one, other)]
            assert said(both[0]) == said(both[1]), (seed, now_us, frame, sender)
            assert one.next_wake() == other.next_wake()
            story.heard(both[0])
            shared += sum(log.shared for log in one.logs.values())
            items += sum(len(frame.items) for _, frame in sent(both[0], Items))
        assert {name: log.entries.keys() for name, log in one.logs.items()} == {
            name: log.entries.keys() for name, log in other.logs.items()
        }
        assert not any(log.shared for log in other.logs.values())
    assert shared > 10_000 and items > 3_000, (shared, items)


def attach(one: Any, *clients: str, number: int = 1) -> None:
    for client in clients:
        one.receive(Attach(number, ("G1",), None), client, 0)


def publish(one: Any, name: str, **needs: Any) -> list[tuple[str, tuple[int, ...]]]:
    sender = name.partition(":")[0]
    effects = one.receive(Publish((grouped(name, "G1", **needs),)), sender, 1)
    return [(to[0], tuple(item.index for item in frame.items)) for to, frame in sent(effects, Items)]


def test_clients_with_equal_filters_share_and_are_sent_the_very_same_items() -> None:
    one = home()
    attach(one, "S1", "S2")
    assert one.logs["S1"].channel is one.logs["S2"].channel
    effects = one.receive(Publish((grouped("P:1", "G1"), grouped("P:2", "G1"))), "P", 1)
    first, second = (frame.items for _, frame in sent(effects, Items))
    assert first is second and [item.index for item in first] == [1, 2]


def test_who_comes_later_counts_from_one() -> None:
    one = home()
    attach(one, "S1")
    publish(one, "P:1")
    attach(one, "S2")
    assert one.logs["S2"].shared and one.logs["S2"].offset == 1
    assert publish(one, "P:2", covers={"P@G1": 1}) == [("S1", (2,)), ("S2", (1,))]
    assert [one.logs[name].entries[index].after for name, index in (("S1", 2), ("S2", 1))] == [1, 0]


def test_who_does_not_acknowledge_is_set_apart_and_shares_again_when_it_has_all() -> None:
    one = home()
    attach(one, "S1", "S2")
    for n in range(1, numbered.WINDOW + 2):
        publish(one, f"P:{n}")
        one.receive(Ack(1, n), "S1", 2)
    assert one.logs["S1"].shared and not one.logs["S2"].shared
    assert len(one.logs["S1"].channel.entries) == 0 and one.logs["S2"].sent == numbered.WINDOW
    one.receive(Ack(1, numbered.WINDOW), "S2", 3)
    assert not one.logs["S2"].shared, "one is still on its way"
    one.receive(Ack(1, numbered.WINDOW + 1), "S2", 4)
    assert one.logs["S2"].shared and one.logs["S2"].channel is one.logs["S1"].channel


def test_who_publishes_what_it_subscribes_to_is_apart_until_it_attaches_anew() -> None:
    one = home()
    attach(one, "S1", "S2")
    assert publish(one, "S1:1") == [("S2", (1,))]
    one.receive(Ack(1, 1), "S2", 2)
    assert not one.logs["S1"].shared and one.logs["S2"].shared
    assert publish(one, "P:1") == [("S1", (1,)), ("S2", (2,))]
    one.receive(Ack(1, 1), "S1", 3)
    assert not one.logs["S1"].shared
    attach(one, "S1", number=2)
    assert one.logs["S1"].shared


def test_what_is_over_everywhere_is_not_named_to_those_who_share() -> None:
    """Brokers may not have heard of it yet; clients are told nothing that they need not remember."""
    one = home(remember_us=3_000)
    attach(one, "S1", "S2")
    publish(one, "Q:1")
    for client in ("S1", "S2"):
        one.receive(Ack(1, 1), client, 2)
    one.retiring.retired["Q@G1"] = 1
    effects = one.receive(Data((grouped("P:1", "G1", covers={"Q@G1": 1}),)), "B", 3)
    stamps = [item.envelope.stamp for _, frame in sent(effects, Items) for item in frame.items]
    assert len(stamps) == 2 and all(stamp.own == (("P@G1", 1),) and not stamp.covers for stamp in stamps)


def test_who_attaches_anew_keeps_its_turn() -> None:
    one = home()
    attach(one, "S1", "S2")
    attach(one, "S1", number=2)
    assert publish(one, "P:1") == [("S1", (1,)), ("S2", (1,))]


def test_a_channel_that_nobody_shares_any_more_is_gone() -> None:
    one = home()
    attach(one, "S1", "S2")
    publish(one, "P:1")
    one.receive(Detach(2), "S1", 2)
    one.view(view_of({"H": "G1 G2", "B": "G1 G2"}, "P"), 3)
    assert not one.logs and list(one.sharing.lowest()) == []
    one.view(view_of({"H": "G1 G2", "B": "G1 G2"}, "P S1"), 4)
    attach(one, "S1", number=3)
    assert publish(one, "P:2") == [("S1", (1,))] and one.logs["S1"].channel.top == 1
