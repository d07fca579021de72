"""Vector of round colours (001 s2.2; PROTOCOLS s3.4): between brokers rounds per group, to subscribers one colour each.

A broker sends at most one message per round, so (sender, round) is its id: the vector per group holds rounds instead of
counts, and is otherwise the vector. To a subscriber travels one colour per broker: the newest predecessor round of that
broker addressed to the subscriber's groups, left out once it has expired. A colour means the newest round below the
message's own that has it.

001's rule 1 wants each sender's next message to be of the very next round; a broker that skips a round (red_A2 in the
paper's own figure) would never be heard again. Here a message needs the rounds it names, whatever lies between.
"""

from __future__ import annotations

from antecede.core.interest import Interest
from antecede.core.marks import newest_of
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import Reader, everything
from antecede.core.order.round_clock import RoundClock
from antecede.core.order.vector import VectorWriter

__all__ = ["ColoursReader", "RoundsWriter"]


class RoundsWriter(VectorWriter):
    def __init__(self, name: str, clock: RoundClock) -> None:
        super().__init__(name, flat=False)
        self.clock = clock

    def learn(self, envelope: Envelope) -> None:
        super().learn(envelope)
        self.clock.saw(envelope.message.seq)

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        """N colours, N being the number of brokers that sent something not long ago."""
        message, colour_of = envelope.message, self.clock.colour_of
        newest = newest_of(interest.among(envelope.stamp.covers))
        colours = {sender: colour_of(n, message.seq) for sender, n in newest.items()}
        named = {sender: colour for sender, colour in colours.items() if colour}
        return Envelope(message, Stamp(own_below(message), (), named))


class ColoursReader(Reader):
    """The subscriber's end: one stream per broker, numbered by rounds."""

    def __init__(self, clock: RoundClock) -> None:
        super().__init__(everything, dense=False)
        self.clock = clock

    def arrived(self, envelope: Envelope) -> Envelope:
        message, round_of = envelope.message, self.clock.round_of
        covers = {sender: round_of(colour, message.seq) for sender, colour in envelope.stamp.covers.items()}
        needs = tuple((sender, n) for sender, n in covers.items() if n)
        return Envelope(message, Stamp(own_below(message), needs, dict(needs), message.seq))


def own_below(message: Message) -> tuple[tuple[str, int], ...]:
    """A message's place towards subscribers, where streams are senders."""
    return ((message.sender, message.seq),)
