"""What stamps weigh on the wire when all of n brokers have just published: between brokers, and to a subscriber.

Decided here: the situation. Each of n brokers publishes one message that follows nothing; one of them has them all and
publishes another. Nothing is stable, so nothing can be left out: the most a stamp holds in such a round. The stamps are
made by the writers the recipes use and weighed by the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message
from antecede.core.order.graph import GraphWriter
from antecede.core.order.matrix import ColumnInterest, MatrixWriter, place_of
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.rounds import RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.order.writer import Writer
from antecede.sim.layout import broker_names
from antecede.wire import weigh

__all__ = ["ENCODINGS", "weigh_stamps"]

GROUP = "G1"
ROUND_US = 50_000


def _clock(n: int) -> RoundClock:
    return RoundClock(ROUND_US, max(4, n.bit_length() + 3))


def _graph(name: str, n: int) -> Writer:
    return GraphWriter(name, Interest((GROUP,)), deadlines=False, slack_us=0, grace_us=0, whole=False)


def _matrix(name: str, n: int) -> Writer:
    writer = MatrixWriter(name, ColumnInterest((GROUP,), place_of(name)), _clock(n))
    for other in broker_names(n):
        writer.meet(other, (GROUP,))
    return writer


ENCODINGS: dict[str, Callable[[str, int], Writer]] = {
    "context graph": _graph,
    "vector per group": lambda name, n: VectorWriter(name, flat=False),
    "vector": lambda name, n: VectorWriter(name, flat=True),
    "round colours": lambda name, n: RoundsWriter(name, _clock(n)),
    "matrix, one colour": _matrix,
}


def weigh_stamps(knobs: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Bytes of the stamp of the last message: to another broker, and to a subscriber of the same group."""
    make, n = ENCODINGS[knobs["encoding"]], int(knobs["brokers"])
    names = broker_names(n)
    last = make(names[0], n)
    for name in names[1:]:
        writer = make(name, n)
        message = Message(name, 1, (GROUP,))
        envelope = writer.relay(Envelope(message, writer.stamp(message, None)))
        last.learn(last.arrived(envelope))
    message = Message(names[0], 2, (GROUP,))
    envelope = Envelope(message, last.stamp(message, None))
    last.learn(envelope)
    above = weigh(last.relay(envelope))[1]
    below = weigh(last.project(envelope, Interest((GROUP,))))[1]
    return {"to_broker": above, "to_subscriber": below}
