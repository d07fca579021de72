"""Comparing with peers each round (PROTOCOLS s3.1, s3.2): finds lost tails, and knows when nobody lacks anything.

Each round a few peers that are not known to be in step get a digest of the newest message kept per stream, and answer
with theirs. A peer is in step with a version of the Store once its digest covers all of it. When all peers are, rounds
end: a quiet system sends nothing. Example: A keeps p:1 to p:3 and says so to B; B answers that it has p:1, and asks for
the other two; when a later digest of B says p:3, B is in step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from antecede.core.frames import Digest
from antecede.core.interest import Interest
from antecede.core.marks import Marks, beyond, includes
from antecede.core.spread.chance import some_of

if TYPE_CHECKING:
    from antecede.core.roles.carrier import Carrier

__all__ = ["Rounds", "bounded"]


class Rounds:
    def __init__(self, carrier: Carrier, *, enabled: bool) -> None:
        self.carrier = carrier
        self.past, self.writer, self.store = carrier.past, carrier.writer, carrier.store
        self.dice, self.local, self.stability = carrier.dice, carrier.local, carrier.stability
        self.enabled = enabled
        self.steady = True
        """Whether every message is compared; otherwise only those that are there when a role calls `begin`."""
        self._goal = 0
        self.at_us: int | None = None
        """When the next round is; None: nobody lacks anything."""
        self._in_step: dict[str, int] = {}
        self._newcomers: dict[str, None] = {}
        """Local views: peers that came later and have not been in step yet, nor this process with them. A newcomer may
        have begun before its neighbour did: then only others can tell it what is missing. It may have messages that
        nobody else keeps: then it is asked until those have come."""

    def came(self, peer: str) -> None:
        if self.carrier.settings.view:
            self._newcomers[peer] = None

    def forget(self, peer: str) -> None:
        self._in_step.pop(peer, None)
        self._newcomers.pop(peer, None)

    def compare_again(self, now_us: int) -> None:
        """Something changed that peers must confirm."""
        self.store.version += 1
        self.begin(now_us)

    def begin(self, now_us: int) -> None:
        carrier = self.carrier
        self._goal = self.store.version
        if self.enabled and self.at_us is None:
            round_us = carrier.settings.round_us
            self.at_us = now_us + (round_us >> 1) + int(round_us * self.dice.random())

    def digest(self, peer_interest: Interest, theirs: Mapping[str, int], *, reply: bool) -> Digest:
        carrier = self.carrier
        offer, began = carrier.offers(peer_interest), carrier.cut_to_tell(peer_interest)
        behind: Marks = offer  # the usual case: all of it lies behind, and nobody speaks of anything else
        if began or not (self.past.is_at(offer) and theirs.keys() <= offer.keys()):
            behind = self.past.reached({**offer, **theirs, **began})
        have = self.past.with_held(behind, theirs)
        if self.writer.wants_stable:
            return Digest(offer, have, carrier.done(behind), dict(self.writer.stable), reply)
        if self.store.lasting:
            done = carrier.done(behind)
            return Digest(offer, have, {} if done == have else done, reply=reply)
        done = carrier.summary(peer_interest) or ({} if have is behind else behind)
        return Digest(offer, have, done, reply=reply)

    def wake(self, now_us: int) -> None:
        carrier = self.carrier
        self.at_us = None
        version = self.store.version if self.steady else self._goal
        self.writer.forget(now_us)
        self.stability.look(now_us)
        behind = self._some_behind(version)
        again = carrier.rounded(now_us)
        if not behind:
            if again:
                self.at_us = now_us + carrier.settings.round_us
            return
        self.local.move()
        digests: dict[tuple[str, ...], Digest] = {}
        for peer in self.local.draw(behind, carrier.settings.fanout):
            interest = carrier.interest_of(peer)
            if interest is not None:
                digest = digests.get(interest.key)
                if digest is None:  # whoever wants the same gets the same frame
                    digest = digests[interest.key] = self.digest(interest, {}, reply=True)
                if digest.offer or digest.have:
                    carrier.send((peer,), digest)
                else:
                    self._in_step[peer] = version
        self.at_us = now_us + carrier.settings.round_us

    def _some_behind(self, version: int) -> list[str]:
        """Peers not in step: a few at random where they are many, all of them where those few happen to be."""
        peers, in_step = self._peers(), self._in_step
        if len(peers) > 8 * self.carrier.settings.fanout:
            some = some_of(self.dice, peers, 3 * self.carrier.settings.fanout)
            some = [peer for peer in some if in_step.get(peer, -1) < version]
            if some:
                return some
        return [peer for peer in peers if in_step.get(peer, -1) < version]

    def _peers(self) -> Sequence[str]:
        """The peers that a round may go to: with local views those in the view, the neighbours, newcomers, and all
        subscribers."""
        carrier = self.carrier
        if not carrier.settings.view:
            return carrier.peers()
        fellow_carriers = set(carrier.fellow_carriers())
        below = [name for name in carrier.peers() if name not in fellow_carriers]
        newcomers = [name for name in self._newcomers if name in fellow_carriers]
        return list(dict.fromkeys((*carrier.neighbours(), *self.local.names, *newcomers, *below)))

    def on_digest(self, frame: Digest, sender: str, *, lacking: bool) -> None:
        """What a peer has. `lacking`: it offers something that is missing here."""
        carrier = self.carrier
        interest = carrier.interest_of(sender)
        if interest is None:
            return
        if includes(frame.have, carrier.offers(interest)) and not (lacking and sender in self._newcomers):
            self._in_step[sender] = self.store.version
            self._newcomers.pop(sender, None)
        if frame.stable:
            self.writer.heard(self._as_far_as_here(frame.stable, self.writer.stable))
        if frame.reply:
            carrier.send((sender,), self.digest(interest, frame.offer, reply=False))

    def is_newcomer(self, peer: str) -> bool:
        return peer in self._newcomers

    def _as_far_as_here(self, stable: Marks, known: Marks) -> dict[str, int]:
        """The stable marks that a peer tells, bounded by what this process has done: the processes that had it all may
        be gone, and this one may have come since and not be counted."""
        carrier = self.carrier
        news = beyond(stable, known)
        return bounded(news, carrier.done(self.past.reached(carrier.interest.among(news))))


def bounded(marks: Marks, bounds: Marks) -> dict[str, int]:
    """`marks`, in streams that have a bound no newer than that.

    >>> bounded({"p": 3, "q": 2}, {"p": 1})
    {'p': 1, 'q': 2}
    """
    return {stream: min(n, bounds.get(stream, n)) for stream, n in marks.items()}
