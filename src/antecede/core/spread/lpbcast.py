"""Gossip in rounds: Eugster et al. 2001 (lpbcast), Birman et al. 1999 (pbcast, after a multicast); 001 s1, 004 GB1-GB2.

Each round a process sends to `fanout` members of its view what it got lately: the messages themselves for `forwards`
rounds after they came, and (with `digests`) their names for as long as it keeps them; who lacks one that is named asks
for it. Nobody acknowledges anything: after `lifetime` rounds a message is let go of, and whom it did not reach by then
it is lost to. `chain` is what the analysis of lpbcast assumes instead: rounds in step with the clock, and every other
process reached independently with probability fanout / (n - 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.frames import Frame, Rumours
from antecede.core.message import Envelope, Mark
from antecede.core.repair.answering import BATCH
from antecede.core.repair.asking import ranges_of
from antecede.core.spread.flat import Flat

if TYPE_CHECKING:
    from antecede.core.roles.member import Member

__all__ = ["UNLIMITED", "Lpbcast", "lifetime"]

UNLIMITED = 1 << 30
"""As `forwards`: for as long as a message is kept."""
ALPHA = 3
"""Rounds beyond log2 n: with a fan-out of 3 a message has then reached all with probability 0.99 and more."""

NAMED = 2**14
"""So many of the messages that one frame names are looked at, the newest of each range: the others are named again.
Raising it costs time for a frame that names what nobody sent; lowering it, rounds until all of a burst is asked for."""


def lifetime(count: int) -> int:
    """How many rounds a message is gossiped about among so many processes.

    >>> lifetime(2), lifetime(125), lifetime(1000)
    (4, 10, 13)
    """
    return max(1, (count - 1).bit_length()) + ALPHA


class Lpbcast(Flat):
    def __init__(
        self, member: Member, *, multicast: bool = False, forwards: int = 1, digests: bool = False, chain: bool = False
    ) -> None:
        super().__init__(member)
        self.dice, self.local, self.store, self.wants = member.dice, member.local, member.store, member.wants
        self.past = member.past
        self.multicast = multicast
        """Whether a message goes to all members first."""
        self.forwards = forwards
        self.digests = digests
        self.chain = chain
        self._kept: dict[str, tuple[Envelope, int]] = {}
        """What is gossiped about, and for how many rounds it has been."""

    # -- what is gossiped about ------------------------------------------------------------------------------------

    def publish(self, envelope: Envelope, now_us: int) -> None:
        if self.multicast:
            super().publish(envelope, now_us)
        self._keep(envelope, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self._keep(envelope, now_us)

    def _keep(self, envelope: Envelope, now_us: int) -> None:
        self._kept[envelope.message.id] = (envelope, 0)
        if self.at_us is None:
            round_us = self.member.settings.round_us
            if self.chain:
                self.at_us = (now_us // round_us + 1) * round_us
            else:
                self.at_us = now_us + int(round_us * self.dice.random())

    # -- rounds ----------------------------------------------------------------------------------------------------

    def wake(self, now_us: int) -> None:
        member = self.member
        kept = self._kept
        for to in self._targets():
            interest = member.interest_of(to)
            if interest is None:
                continue
            wanted = [(e, age) for e, age in kept.values() if interest.wants(e.message.topics)]
            pushed = [e for e, age in wanted if age < self.forwards]
            marks = [mark for e, _ in wanted for mark in e.stamp.own] if self.digests else []
            self._tell(to, pushed, marks)
        over = lifetime(len(member.members))
        self._kept = {id_: (e, age + 1) for id_, (e, age) in kept.items() if age + 1 < over}
        for message_id, (envelope, _) in kept.items():
            if message_id not in self._kept:
                self.store.let_go(envelope)
        self.at_us = now_us + member.settings.round_us if self._kept else None

    def _targets(self) -> tuple[str, ...]:
        member = self.member
        if not self.chain:
            return tuple(self.local.draw(self.local.names, member.settings.fanout))
        others = member.others
        return tuple(name for name in others if self.dice.random() * len(others) < member.settings.fanout)

    def _tell(self, to: str, pushed: list[Envelope], marks: list[Mark]) -> None:
        """One frame; more only where it would not fit a datagram."""
        names = () if self.chain else self.local.passed_on(self.member.name)
        for start in range(0, max(1, len(pushed)), BATCH):
            batch = tuple(pushed[start : start + BATCH])
            if batch or (marks and not start):
                self.member.send((to,), Rumours(batch, () if start else ranges_of(marks), names))

    # -- in --------------------------------------------------------------------------------------------------------

    def took(self, frame: Frame, sender: str, now_us: int) -> bool:
        if not isinstance(frame, Rumours):
            return False
        member = self.member
        self.local.learn(frame.names)
        member.take(frame.envelopes, sender, now_us)
        if member.asks:
            left = NAMED
            for stream, low, high in frame.digest:
                if member.interest.concerns(stream):
                    low = max(low, high - left)
                    left -= max(high - low, 0)
                    for mark in ((stream, n) for n in range(low + 1, high + 1)):
                        if self.past.lacks(mark):
                            self.wants.offered(mark, sender, now_us, patience_us=member.settings.round_us)
        return True
