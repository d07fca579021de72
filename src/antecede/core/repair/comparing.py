"""Comparing with peers each round (PROTOCOLS s3.1, s3.2): finds lost tails, and knows when nobody lacks anything.

Each round a few peers that are not known to be in step get a digest of the newest message kept per stream, and answer
with theirs. A peer is in step with a version of the Store once its answer covers all of it. When all are, rounds end:
a quiet system sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from antecede.core.frames import Digest
from antecede.core.interest import Interest
from antecede.core.marks import beyond, includes
from antecede.core.message import Envelope, Mark, sender_of
from antecede.core.order.reader import AHEAD
from antecede.core.spread.chance import some_of

if TYPE_CHECKING:
    from antecede.core.roles.tier import Tier

__all__ = ["Rounds"]


class Rounds:
    __slots__ = (
        "_goal", "_in_step", "_newcomers", "at_us", "enabled", "inbox", "local", "losses", "reader", "stability",
        "steady", "store", "tier", "wants", "writer",
    )  # fmt: skip

    def __init__(self, tier: Tier, *, enabled: bool) -> None:
        self.tier = tier
        self.inbox, self.reader, self.writer, self.store = tier.inbox, tier.reader, tier.writer, tier.store
        self.losses, self.wants, self.local, self.stability = tier.losses, tier.wants, tier.local, tier.stability
        self.enabled = enabled
        self.steady = True
        """Whether every message is compared; otherwise only what there is when somebody says `begin`."""
        self._goal = 0
        self.at_us: int | None = None
        """When the next round is; None: nobody lacks anything."""
        self._in_step: dict[str, int] = {}
        self._newcomers: dict[str, None] = {}
        """Local views: who came later and has not been in step yet, nor this process with it. It may have begun before
        its neighbour did: then only others can tell it what is missing. It may have what nobody else keeps: then it is
        asked until that has come."""

    def came(self, peer: str) -> None:
        if self.tier.settings.view:
            self._newcomers[peer] = None

    def forget(self, peer: str) -> None:
        self._in_step.pop(peer, None)
        self._newcomers.pop(peer, None)

    def compare_again(self, now_us: int) -> None:
        """Something changed that peers must confirm."""
        self.store.version += 1
        self.begin(now_us)

    def begin(self, now_us: int) -> None:
        tier = self.tier
        self._goal = self.store.version
        if self.enabled and self.at_us is None:
            round_us = tier.settings.round_us
            self.at_us = now_us + (round_us >> 1) + int(round_us * tier.dice.random())

    def digest(self, peer_interest: Interest, theirs: Mapping[str, int], *, reply: bool) -> Digest:
        tier = self.tier
        offer = tier.offers(peer_interest)
        front, marks, began = self.reader.front, self.inbox.marks, tier.began(peer_interest)
        behind: Mapping[str, int] = offer  # the usual case: all of it lies behind, and nobody speaks of anything else
        if began or not (offer.items() <= front.items() and theirs.keys() <= offer.keys()):
            behind = {stream: front.get(stream, 0) for stream in {**offer, **theirs, **began}}
        have = behind
        if marks:  # what is held is not lacking either: its holder asks for the rest itself
            have = {s: max(n, theirs[s]) if theirs.get(s) in marks.get(s, ()) else n for s, n in behind.items()}
        have = tier.haves(have, behind)
        if self.writer.cuts:
            return Digest(offer, have, tier.done(behind), dict(self.writer.stable), reply)
        if self.store.lasting:
            done = tier.done(behind)
            return Digest(offer, have, {} if done == have else done, reply=reply)
        done = tier.summary(peer_interest) or ({} if have is behind else behind)
        return Digest(offer, have, done, reply=reply)

    def hold(self, now_us: int) -> None:
        tier = self.tier
        self.at_us = None
        version = self.store.version if self.steady else self._goal
        self.writer.forget(now_us)
        self.stability.look(now_us)
        behind = self._some_behind(version)
        again = tier.rounded(now_us)
        if not behind:
            if again:
                self.at_us = now_us + tier.settings.round_us
            return
        self.local.move()
        digests: dict[tuple[str, ...], Digest] = {}
        for peer in self.local.draw(behind, tier.settings.fanout):
            interest = tier.interest_of(peer)
            if interest is not None:
                digest = digests.get(interest.key)
                if digest is None:  # whoever wants the same gets the same frame
                    digest = digests[interest.key] = self.digest(interest, {}, reply=True)
                if digest.offer or digest.have:
                    tier.send((peer,), digest)
                else:
                    self._in_step[peer] = version
        self.at_us = now_us + tier.settings.round_us

    def _some_behind(self, version: int) -> list[str]:
        """Peers not in step: a few at random where they are many, all of them where those few happen to be."""
        peers, in_step = self._peers(), self._in_step
        if len(peers) > 8 * self.tier.settings.fanout:
            some = some_of(self.tier.dice, peers, 3 * self.tier.settings.fanout)
            some = [peer for peer in some if in_step.get(peer, -1) < version]
            if some:
                return some
        return [peer for peer in peers if in_step.get(peer, -1) < version]

    def _peers(self) -> Sequence[str]:
        """Whom a round may go to: with local views its own, the neighbours, newcomers, and all of the tier below."""
        tier = self.tier
        if not tier.settings.view:
            return tier.peers()
        equals = set(tier.equals())
        below = [name for name in tier.peers() if name not in equals]
        newcomers = [name for name in self._newcomers if name in equals]
        return list(dict.fromkeys((*tier.neighbours(), *self.local.names, *newcomers, *below)))

    def want_before(self, envelope: Envelope, hint: str, now_us: int) -> None:
        """What an unordered message names as the one before it is not waited for, but must not stay away either (unless
        it may be lost for good: where nobody compares, nothing is promised). Below one that has no deadline it is asked
        for until it comes or is known to be gone: until then nobody is in step."""
        tier = self.tier
        if tier.asks and ((self.enabled and self.steady) or tier.role == "subscriber"):  # its broker compares
            patience_us, own = tier.settings.patience_us, envelope.stamp.own
            lasting = envelope.message.deadline_us is None or self.wants.any_endless(own)  # so is what led to it
            for stream, n in envelope.stamp.covers.items():
                if tier.interest.concerns(stream):
                    numbers = self.reader.offered(stream, n) if lasting else (n,)
                    for mark in [(stream, k) for k in numbers if k <= n]:
                        if tier.is_missing(mark):
                            self.wants.want(mark, hint, None, now_us, patience_us=patience_us, backed=lasting)

    def on_digest(self, frame: Digest, sender: str, now_us: int) -> None:
        tier = self.tier
        interest = tier.interest_of(sender)
        if interest is None:
            return
        lacking = tier.asks and self._want_offered(frame.offer, sender, now_us)
        tier.compared(frame, sender, now_us)
        if includes(frame.have, tier.offers(interest)) and not (lacking and sender in self._newcomers):
            self._in_step[sender] = self.store.version
            self._newcomers.pop(sender, None)
        if frame.stable:
            self.writer.heard(self._as_far_as_here(frame.stable, self.writer.stable))
        if frame.reply:
            tier.send((sender,), self.digest(interest, frame.offer, reply=False))

    def _as_far_as_here(self, stable: Mapping[str, int], known: Mapping[str, int]) -> dict[str, int]:
        """What others say everybody has: those who had it may be gone, and whoever came since not count among them."""
        tier = self.tier
        news = beyond(stable, known)
        front = self.reader.front
        here = tier.done({stream: front.get(stream, 0) for stream in news if tier.interest.concerns(stream)})
        return {stream: min(n, here.get(stream, n)) for stream, n in news.items()}

    def _want_offered(self, offer: Mapping[str, int], sender: str, now_us: int) -> bool:
        """Whether anything of it is missing here."""
        tier, lacking = self.tier, False
        front, patience_us = self.reader.front, tier.settings.patience_us
        if offer.items() <= front.items():  # the usual case, and the quickest to see
            return False
        newer = tier.interest.among(beyond(offer, front))
        for mark in newer.items():
            self.losses.has(mark, sender)
        for mark in self._missing(newer):
            lacking = True
            self.wants.offered(mark, sender, now_us, patience_us=patience_us)
        return lacking

    def want_passed(self, frame: Digest, sender: str, now_us: int) -> None:
        """Ask every peer for messages that a newcomer has behind it and does not offer.

        A newcomer that began behind a message cannot give it. Where local views let this process compare with that
        newcomer only, nobody else would tell of the message. Example: A lacks p:3; N began behind p:3, and A compares
        with N alone. N's digest says `have` p:3 and does not offer it: A asks all until p:3 comes, or is known to be
        gone."""
        tier = self.tier
        if not tier.asks or sender not in self._newcomers:
            return
        front, patience_us = self.reader.front, tier.settings.patience_us
        offer = frame.offer
        passed = {s: n for s, n in frame.have.items() if n > max(front.get(s, 0), offer.get(s, 0))}
        for mark in self._missing(tier.interest.among(passed)):
            self.wants.want(mark, sender_of(mark[0]), None, now_us, patience_us=patience_us)

    def _missing(self, newer: Mapping[str, int]) -> Iterator[Mark]:
        """What is missing up to these numbers: of all of them together not more than can be asked for at once."""
        tier, left = self.tier, AHEAD
        for stream, n in newer.items():
            numbers = self.reader.offered(stream, n)[: max(left, 1)]
            left -= len(numbers)
            for mark in [(stream, k) for k in numbers]:
                if tier.is_missing(mark):
                    yield mark
