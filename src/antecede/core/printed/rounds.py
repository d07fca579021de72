"""001 s2.2 as printed, in two readings: rule 1 to the letter, and the description that it contradicts.

printed    rule 1: `GT_s[i] = GT_m[i] - 1` of the sender i, `GT_s[k] >= GT_m[k]` of all others, all 0 at the beginning.
           Each sender's messages must be of the rounds 1, 2, 3, ...: whoever does not send in every round (the paper's
           own A skips the third) is not heard after the round it skipped.
described  s2.2.1: a message carries "the vector of the group round timestamps of the immediate predecessors" of all
           brokers, whatever groups their messages were for, and a subscriber requests what it has not received. Whoever
           is in one group waits for messages of the other, which never come.

Nothing in the text releases what waits; it is dropped when it is stale.
"""

from __future__ import annotations

from antecede.core.deadline.inbox import Held, Inbox
from antecede.core.effects import Discard
from antecede.core.interest import Interest
from antecede.core.marks import newest_of
from antecede.core.message import Envelope, Mark, Stamp
from antecede.core.order.rounds import ColoursReader, RoundsWriter, own_below

__all__ = ["RuleOneInbox", "RuleOneReader", "WholeVectorWriter"]


class RuleOneReader(ColoursReader):
    def arrived(self, envelope: Envelope) -> Envelope:
        stamp = super().arrived(envelope).stamp
        sender, number = stamp.own[0]
        others = tuple(mark for mark in stamp.needs if mark[0] != sender)
        needs: tuple[Mark, ...] = ((sender, number - 1), *others) if number > 1 else others
        return Envelope(envelope.message, Stamp(stamp.own, needs, stamp.covers, stamp.rank))


class RuleOneInbox(Inbox):
    def _release(self, held: Held, now_us: int) -> None:
        self._remove(held)
        self.out.append(Discard(held.envelope.message.id, "late"))
        self.reader.skipped(held.envelope.stamp.own, held.envelope.stamp)

    def _due_us(self, stamp: Stamp, deadline_us: int) -> int:
        return deadline_us - self.guard_us + 1


class WholeVectorWriter(RoundsWriter):
    """The immediate predecessor vector as it is described: one for all subscribers."""

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        message, colour_of = envelope.message, self.clock.colour_of
        colours = {sender: colour_of(n, message.seq) for sender, n in newest_of(envelope.stamp.covers).items()}
        named = {sender: colour for sender, colour in colours.items() if colour}
        return Envelope(message, Stamp(own_below(message), (), named))
