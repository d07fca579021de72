"""A broker that counts by rounds (`rounds`, 001 s2.2; `colour`, 004): when a message leaves, and what is said below.

At most one message of its own per round, in a round greater than all it has delivered or sent (`turns`: and in its own
rounds only); it leaves when that round begins. A message lives `colours` rounds. Its deadline is that end, unless
another one is given: in `rounds` an earlier one, in `colour` (`uniform`) a later one, for brokers only: towards
subscribers one scalar orders messages only if all live equally long. A deadline on the other side of that end is
refused before anything has changed.

Towards subscribers streams are senders, whatever the groups: colours and rounds say who and when, not where.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from antecede.core.effects import Discard, Effect
from antecede.core.frames import Ranges
from antecede.core.interest import Interest
from antecede.core.marks import newest_of
from antecede.core.message import Envelope, Message, Publication, in_time, series_of
from antecede.core.order.colour import ROUNDS
from antecede.core.order.matrix import ColumnInterest, MatrixWriter, place_of
from antecede.core.order.round_clock import RoundClock
from antecede.core.roles.broker import Broker, BrokerBase
from antecede.core.roles.receiver import Parts, Timer
from antecede.core.spread.multicast import Multicast
from antecede.errors import InputError

__all__ = ["InterestBelow", "RoundBroker", "leaves_us"]


SUMMED = 60
"""Rounds before the newest that a summary reaches back: what a 64-bit number holds; older ones are about to expire."""


class InterestBelow(Interest):
    """What a subscriber wants, where its streams are senders."""

    __slots__ = ()

    def __init__(self, filters: Iterable[str]) -> None:
        super().__init__(filters)
        self.key = ("", *self.filters)


class RoundBroker(Broker):
    def __init__(
        self, parts: Parts, clock: RoundClock, spread: Callable[[Broker], Multicast], *, uniform: bool
    ) -> None:
        super().__init__(parts, clock, spread)
        self.uniform = uniform
        self.summed = SUMMED
        self._waiting: deque[Envelope] = deque()
        """Published, and waiting for their rounds to begin."""
        self._below: dict[tuple[str, ...], InterestBelow] = {}
        self._columns: dict[str, ColumnInterest] = {}
        self._kept: dict[tuple[str, ...], tuple[tuple[int, int], dict[str, set[int]]]] = {}

    # -- out -------------------------------------------------------------------------------------------------------

    def new_message(self, publication: Publication, now_us: int) -> Message:
        expires_us = self.clock.end_us(self.clock.upcoming(now_us))
        deadline_us = expires_us if publication.deadline_us is None else publication.deadline_us
        if deadline_us < expires_us if self.uniform else deadline_us > expires_us:
            raise self._refusal(deadline_us, expires_us)
        number = self.clock.take(now_us)
        return publication._replace(deadline_us=deadline_us).message(self.name, number, expires_us)

    def _refusal(self, deadline_us: int, expires_us: int) -> InputError:
        lives = f"This message lives until {expires_us / 1000:g} ms ({self.clock.colours} rounds)"
        if self.uniform:
            return InputError(
                f"{lives}, as all do towards subscribers: a deadline of {deadline_us / 1000:g} ms cannot end sooner, "
                "so give a later one or none."
            )
        return InputError(
            f"{lives}: a deadline of {deadline_us / 1000:g} ms cannot end later, so give an earlier one or none."
        )

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        envelope = self.compose(publication, now_us)
        self._waiting.append(envelope)
        self._send_waiting(now_us)
        return envelope.message, self.flush(now_us)

    def _send_waiting(self, now_us: int) -> None:
        waiting, current = self._waiting, self.clock.round_at(now_us)
        while waiting and waiting[0].message.seq <= current:
            envelope = waiting.popleft()
            super().keep(envelope, now_us)
            if in_time(envelope, now_us):
                self.spread.publish(envelope, now_us)

    def keep(self, envelope: Envelope, now_us: int) -> None:
        """A message of this broker's own is kept when its round begins (`_send_waiting`): until then nobody is to hear
        of it."""
        if envelope.message.sender != self.name:
            super().keep(envelope, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        expires_us = envelope.message.expires_us
        if expires_us is None or now_us <= expires_us:
            super().forward(envelope, now_us)

    def timers(self) -> Iterator[Timer]:
        """Messages of its own leave before the Spread holds its round, and after the digests of the last one."""
        yield from BrokerBase.timers(self)
        yield self.clock.start_us(self._waiting[0].message.seq) if self._waiting else None, self._send_waiting
        yield self.spread.at_us, self.spread.wake

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """Not of a round that nobody can have reached: what is sent here after it would have to wait for that round."""
        far = [e for e in envelopes if not self.clock.may_be(e.message.seq, now_us)]
        if far:
            self.out += [Discard(e.message.id, "foreign") for e in far]
            envelopes = [e for e in envelopes if self.clock.may_be(e.message.seq, now_us)]
        super().take(envelopes, hint, now_us)

    def leaves_us(self, now_us: int) -> int:
        """When a message that is published now leaves: with its round."""
        return max(now_us, self.clock.start_us(self.clock.upcoming(now_us)))

    # -- among brokers ---------------------------------------------------------------------------------------------

    def viewed(self, now_us: int) -> None:
        super().viewed(now_us)
        if self.settings.turns:
            brokers = sorted(name for name, peer in self.members.items() if peer.role == "broker")
            self.clock.turn = (brokers.index(self.name), len(brokers)) if self.name in brokers else None
        if isinstance(self.writer, MatrixWriter):
            for name, peer in self.members.items():
                if peer.role == "broker":
                    self.writer.meet(name, peer.groups)
                    self._columns.setdefault(name, ColumnInterest(peer.groups, place_of(name)))

    def interest_of(self, peer: str) -> Interest | None:
        if peer in self.links or peer not in self._columns or peer not in self.members:
            return super().interest_of(peer)
        return self._columns[peer]

    # -- subscribers -----------------------------------------------------------------------------------------------

    def interest_below(self, filters: tuple[str, ...]) -> Interest:
        return self._below.setdefault(filters, InterestBelow(filters))

    def start_for(self, interest: Interest) -> dict[str, int]:
        """Per sender, the round up to which its messages lie in the past, whatever groups they went to: a sender's
        earlier messages are causes of its later ones.

        Of this broker's own messages only those count that have left: a subscriber that began behind the others would
        wait for them for long at another broker.
        """
        newest = newest_of(self.writer.past())
        newest[self.name] = self.tops.get(self.name, 0)
        return newest

    def offers(self, interest: Interest) -> Mapping[str, int]:
        if not isinstance(interest, InterestBelow):
            return super().offers(interest)
        return {sender: max(rounds) for sender, rounds in self._kept_for(interest).items()}

    def summary(self, interest: Interest) -> Mapping[str, int]:
        """004 GS2, where one scalar leads to no message in particular: per sender, in which of the rounds before its
        newest there is one (bit j: 1 + j rounds before)."""
        if not self.uniform or not isinstance(interest, InterestBelow):
            return {}
        masks = {}
        for sender, rounds in self._kept_for(interest).items():
            top = max(rounds)
            masks[sender] = sum(1 << (top - n - 1) for n in rounds if top > n >= top - self.summed)
        return masks

    def _kept_for(self, interest: Interest) -> dict[str, set[int]]:
        """The rounds of all that is kept and wanted, by sender."""
        known = self._kept.get(interest.filters)
        version = (self.store.version, len(self.store))  # what is let go of does not count as new
        if known is None or known[0] != version:
            rounds: dict[str, set[int]] = {}
            for envelope in self.store:
                if interest.wants(envelope.message.topics):
                    rounds.setdefault(envelope.message.sender, set()).add(envelope.message.seq)
            known = self._kept[interest.filters] = (version, rounds)
        return known[1]

    def offer_of(self, envelope: Envelope, peer: str) -> dict[str, int]:
        if peer in self.links:
            return {envelope.message.sender: envelope.message.seq}
        return super().offer_of(envelope, peer)

    def ranges_from(self, peer: str, ranges: Ranges) -> Ranges:
        """Subscribers ask by sender and round, or by round alone."""
        if peer not in self.links:
            return ranges
        concerns = self.interest.concerns
        kept = (self.store.index, self.store.headers, self.inbox.marks)
        streams = {stream for names in kept for stream in names if concerns(stream)}
        wanted: dict[str, list[str]] = {}
        for stream in sorted(streams):
            wanted.setdefault(series_of(stream), []).append(stream)
        wanted[ROUNDS] = sorted(streams)
        once = dict.fromkeys(ranges)
        return tuple([(stream, low, high) for sender, low, high in once for stream in wanted.get(sender, ())])


def leaves_us(machine: object, now_us: int) -> int:
    """When a message that this machine is given now leaves: a deadline that is to leave time for anything counts from
    then. Elsewhere than in rounds that is at once."""
    machine = getattr(machine, "inner", machine)
    return machine.leaves_us(now_us) if isinstance(machine, RoundBroker) else now_us
