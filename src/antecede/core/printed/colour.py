"""004 Fig 5 as printed. Brokers (RMB2): of the sender `2-D vector_i[j,i] < 2-D vector_m[j,i]`, of all others that their
entries are covered. Subscribers (RMS1, RMS2): colours are integers, compared with the current and the last delivered.

So a gap in a sender's own messages is passed over between brokers. Towards subscribers colours only ever grow, though
they go round and round: after one message of the last colour nothing is delivered again.

Charitably colours go round ("is the repetition in the maximum gossip round"): a colour is the newest round up to now
that has it, and `<` between colours is between these rounds. Then nothing is ever too late, for an old colour is taken
for a new one, and `wait (Del_ok or ...)` never waits, since what is not newer was discarded: whatever is overtaken is
lost.
"""

from __future__ import annotations

from collections.abc import Mapping

from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Discard
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Mark, Stamp
from antecede.core.order.colour import ColourReader
from antecede.core.order.matrix import MatrixWriter

__all__ = ["CyclicColours", "IntegerColours", "PrintedMatrixWriter", "integer_of"]


def integer_of(number: int, colours: int) -> int:
    """Red is 1, yellow 2, blue 3, and red again.

    >>> [integer_of(number, 3) for number in (1, 2, 3, 4)]
    [1, 2, 3, 1]
    """
    return (number - 1) % colours + 1


class PrintedMatrixWriter(MatrixWriter):
    def _local(self, own: tuple[Mark, ...], covers: Mapping[str, int], round: int) -> Stamp:
        stamp = super()._local(own, covers, round)
        sender = own[0][0].partition("@")[0]
        stamp.needs = tuple(mark for mark in stamp.needs if mark[0].partition("@")[0] != sender)
        return stamp

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        """MS1-MS3: the deadline colour of a message is its own."""
        projected = super().project(envelope, interest)
        projected.stamp.rank = integer_of(envelope.message.seq, self.clock.colours)
        return projected


class IntegerColours(Inbox):
    """RMS1-RMS4: what is neither too late nor of a colour that was reached is delivered at once."""

    reader: ColourReader
    expires = True
    """Whether a colour before the current one is too late."""
    last = 0
    """deadline_color_i."""

    def accept(self, envelope: Envelope, now_us: int) -> None:
        message = envelope.message
        if message.id in self.seen:
            self.out.append(Discard(message.id, "duplicate"))
            return
        self.seen[message.id] = now_us
        number = self.reader.clock.round_at(now_us)
        colour, current = self._read(message.seq, number), self._read(number, number)
        if colour < current and self.expires:
            self.out.append(Discard(message.id, "late"))
        elif colour <= self.last:
            self.out.append(Discard(message.id, "superseded"))
        else:
            self.last = colour
            self._deliver(envelope, "causes", now_us)

    def _read(self, number: int, current: int) -> int:
        """What the colour of that round is compared as, in round `current`."""
        return integer_of(number, self.reader.clock.colours)


class CyclicColours(IntegerColours):
    expires = False

    def _read(self, number: int, current: int) -> int:
        """The newest round up to `current` that has this colour."""
        return current - (current - number) % self.reader.clock.colours
