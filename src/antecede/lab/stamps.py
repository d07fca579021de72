"""What stamps hold and weigh when n brokers have published: between brokers, and to a subscriber.

Decided here: the situations. All but one of n brokers publish one message each; the one that is left has them all and
publishes the last. Nothing is stable, so nothing can be left out. `at once`: of the others' messages none follows
another, all are in one group. `in a chain`: each follows the one before. `in groups`: at once, four brokers to a group;
the subscriber wants the group of the last message only. Stamps are made by the writers the recipes use and weighed by
the wire; an entry is a message or a colour that a stamp names. Needed are the predecessors of the last message that are
addressed to the subscriber and precede no other such message, found without any stamp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.graph import GraphWriter
from antecede.core.order.matrix import ColumnInterest, MatrixWriter, place_of
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.order.writer import Writer
from antecede.sim.layout import broker_names
from antecede.wire import weigh

__all__ = ["AT_ONCE", "CHAIN", "ENCODINGS", "GROUPS", "SITUATIONS", "needed_entries", "weigh_stamps"]

ROUND_US = 50_000
AT_ONCE, CHAIN, GROUPS = "at once", "in a chain", "in groups"
SITUATIONS = (AT_ONCE, CHAIN, GROUPS)
PER_GROUP = 4


def _groups(situation: str, n: int) -> tuple[str, ...]:
    count = max(1, n // PER_GROUP) if situation == GROUPS else 1
    return tuple(f"G{i + 1}" for i in range(count))


def _clock(n: int) -> RoundClock:
    return RoundClock(ROUND_US, max(4, n.bit_length() + 3))


def _graph(name: str, n: int, groups: tuple[str, ...]) -> Writer:
    return GraphWriter(name, Interest(groups), deadlines=False, slack_us=0, grace_us=0, whole=False)


def _matrix(name: str, n: int, groups: tuple[str, ...]) -> Writer:
    writer = MatrixWriter(name, ColumnInterest(groups, place_of(name)), _clock(n))
    for other in broker_names(n):
        writer.meet(other, groups)
    return writer


ENCODINGS: dict[str, Callable[[str, int, tuple[str, ...]], Writer]] = {
    "context graph": _graph,
    "vector per group": lambda name, n, groups: VectorWriter(name, flat=False),
    "vector": lambda name, n, groups: VectorWriter(name, flat=True),
    "round colours": lambda name, n, groups: RoundsWriter(name, _clock(n)),
    "matrix, one colour": _matrix,
}
BY_ROUNDS = ("round colours", "matrix, one colour")
"""A message's number is its round, which grows along causality."""


def weigh_stamps(knobs: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Bytes and entries of the stamp of the last message - to another broker, and to a subscriber of its group - and
    how many entries that subscriber needs."""
    encoding, n = str(knobs["encoding"]), int(knobs["brokers"])
    situation = str(knobs.get("situation", AT_ONCE))
    make, groups, names = ENCODINGS[encoding], _groups(situation, n), broker_names(n)
    in_turn = situation == CHAIN and encoding in BY_ROUNDS
    before: list[Envelope] = []
    for i, name in enumerate(names[1:], start=1):
        writer = make(name, n, groups)
        for envelope in before[-1:] if situation == CHAIN else ():
            writer.learn(writer.arrived(envelope))  # its stamp tells of all before it
        message = Message(name, i if in_turn else 1, (groups[i % len(groups)],))
        before.append(writer.relay(Envelope(message, writer.stamp(message, None))))
    last = make(names[0], n, groups)
    for envelope in before[-1:] if situation == CHAIN else before:
        last.learn(last.arrived(envelope))
    message = Message(names[0], n if in_turn else 2, (groups[0],))
    envelope = Envelope(message, last.stamp(message, None))
    last.learn(envelope)
    above, below = last.relay(envelope), last.project(envelope, Interest((groups[0],)))
    return {"to_broker": weigh(above)[1], "to_subscriber": weigh(below)[1], "entries_to_broker": _entries(above.stamp),
            "entries_to_subscriber": _entries(below.stamp) or int(encoding == "matrix, one colour"),
            "entries_needed": needed_entries(situation, n)}  # fmt: skip


def _entries(stamp: Stamp) -> int:
    """Messages or colours it names. (One scalar names its colour where others have a rank.)"""
    nodes = len(stamp.extra) - 1 if isinstance(stamp.extra, tuple) else 0
    return len({*stamp.needs, *stamp.covers.items()}) + nodes


def needed_entries(situation: str, n: int) -> int:
    """By definition, from the messages alone: those that concern the subscriber and precede no other of them.

    >>> [needed_entries(situation, 8) for situation in SITUATIONS]
    [7, 1, 3]
    """
    count = len(_groups(situation, n))
    past = {i: set(range(1, i)) if situation == CHAIN else set() for i in range(1, n)}
    concern = [i for i in past if not i % count]
    return sum(not any(i in past[other] for other in concern) for i in concern)
