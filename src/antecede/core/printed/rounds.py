"""001 s2.2 as printed, rule 1: `GT_s[i] = GT_m[i] - 1` of the sender i, `GT_s[k] >= GT_m[k]` of all others.

A broker that does not send in every round (the paper's own A skips the third) is not heard after the round it skipped.
Nothing in the text releases what waits; it is dropped when it is stale.
"""

from __future__ import annotations

from antecede.core.effects import Discard
from antecede.core.inbox import Held, Inbox
from antecede.core.message import Envelope, Mark, Stamp
from antecede.core.order.rounds import ColoursReader

__all__ = ["RuleOneInbox", "RuleOneReader"]


class RuleOneReader(ColoursReader):
    __slots__ = ()

    def arrived(self, envelope: Envelope) -> Envelope:
        stamp = super().arrived(envelope).stamp
        sender, number = stamp.own[0]
        others = tuple(mark for mark in stamp.needs if mark[0] != sender)
        needs: tuple[Mark, ...] = ((sender, number - 1), *others) if self._heard(sender) else others
        return Envelope(envelope.message, Stamp(stamp.own, needs, stamp.covers, stamp.rank))

    def _heard(self, sender: str) -> bool:
        """A first message of a sender has nothing before it ("all 0 at the beginning")."""
        return sender in self.front


class RuleOneInbox(Inbox):
    def _release(self, held: Held, now_us: int) -> None:
        self._take(held)
        self.out.append(Discard(held.envelope.message.id, "late"))
        self.reader.skipped(held.envelope.stamp.own, held.envelope.stamp)

    def _due_us(self, stamp: Stamp, deadline_us: int) -> int:
        return deadline_us - self.guard_us + 1
