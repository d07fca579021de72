"""The serving half of a process: it keeps messages, and compares with its peers until nobody lacks anything.

It has a Writer, which stamps; a Store, which answers requests (`repair/answering.py`); rounds, in which digests go out
(`repair/comparing.py`); and it finds out when everybody has a message, so that the Store may let go of it
(`repair/stability.py`). Of the receiving half it sees the past alone, which it never writes. Its role says who the
peers are, and what each of them wants.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from antecede.core.frames import Digest, Ranges
from antecede.core.interest import Interest
from antecede.core.marks import Marks, join
from antecede.core.message import Envelope, Mark, Message, Publication, Stamp, series_of
from antecede.core.order.unordered import LooseWriter
from antecede.core.repair.answering import Answers
from antecede.core.repair.comparing import Rounds
from antecede.core.repair.stability import Stability
from antecede.core.roles.process import Parts, Process
from antecede.core.spread.local_view import LocalView

__all__ = ["Server"]


class Server(Process, ABC):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        settings = parts.settings
        self.loose = LooseWriter(parts.name, flat=self.past.dense, slack_us=settings.slack_us, groups=parts.groups)
        self.store = parts.store(self.out, grace_us=settings.grace_us, slack_us=settings.slack_us)
        self.local = LocalView(parts.dice, size=settings.view, near=settings.near)
        self.stability = Stability(self)
        self.answers, self.rounds = Answers(self), Rounds(self, enabled=parts.digests)
        self._seq = 0
        self._collect_at: int | None = None

    # -- what it asks the other half -------------------------------------------------------------------------------

    @abstractmethod
    def held_within(self, ranges: Ranges) -> list[Envelope]:
        """Messages of these ranges that came and are not delivered yet."""

    @abstractmethod
    def holds(self, message_id: str) -> bool: ...

    @abstractmethod
    def waits_for(self, message_id: str) -> bool:
        """Whether a message is asked for."""

    @abstractmethod
    def asked_in_vain(self, mark: Mark, now_us: int) -> bool:
        """Whether something without a deadline has waited for a message for `grace_us`."""

    @abstractmethod
    def settled(self, streams: Marks) -> None:
        """Everybody has these for good: nobody asks any more which of them were given up."""

    # -- what it asks its role: who is there -----------------------------------------------------------------------

    @abstractmethod
    def peers(self) -> Sequence[str]:
        """Whom digests go to."""

    @abstractmethod
    def interest_of(self, peer: str) -> Interest | None:
        """What a peer wants; None: it is no peer of ours."""

    @abstractmethod
    def carriers(self, stream: str) -> Sequence[str]:
        """The others that carry a stream's group."""

    @abstractmethod
    def equals(self) -> Sequence[str]:
        """Those among its peers whom local views are drawn from."""

    @abstractmethod
    def neighbours(self) -> Sequence[str]:
        """Equals that are compared with whatever the view is: so many that what anybody has gets to everybody."""

    def serves(self, peer: str) -> bool:
        """Whether a peer is a subscriber, which has nobody else to ask."""
        return False

    # -- ... and what it may add -----------------------------------------------------------------------------------

    def answer_for(self, envelope: Envelope, peer: str) -> Envelope:
        """A message as one peer gets it when it asks."""
        return self.writer.relay(envelope)

    def ranges_from(self, peer: str, ranges: Ranges) -> Ranges:
        """What a peer asks for, in the names of streams that are used here."""
        return ranges

    def summary(self, interest: Interest) -> Mapping[str, int]:
        """What an offer must say beside the newest, where nothing leads from there to what came before."""
        return {}

    def began(self, interest: Interest) -> Mapping[str, int]:
        """The cut behind which this process began and which it cannot give, as far as peers must be told."""
        return {}

    def aside(self) -> Sequence[Envelope]:
        """Publications that this process passed over and does not store. Peers may ask for them until another broker
        confirms that it has them. Only a home broker has any."""
        return ()

    def done(self, have: Mapping[str, int]) -> Mapping[str, int]:
        """What lies behind this process and behind the subscribers it serves."""
        return have

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        """A digest came (roles add what else they read in it)."""

    def rounded(self, now_us: int) -> bool:
        """What a role does each round; True: it needs another one."""
        return False

    # -- keeping ---------------------------------------------------------------------------------------------------

    def keep(self, envelope: Envelope, now_us: int) -> None:
        self.past.note(envelope.message)
        self.store.add(envelope)
        if self.rounds.at_us is None and self.rounds.steady:
            self.rounds.begin(now_us)

    def offers(self, interest: Interest) -> Mapping[str, int]:
        """The newest message kept per stream that concerns a peer, and what else a role offers."""
        offers, aside = self.store.offers(interest), self.aside()
        if aside:
            offers = dict(offers)
            for envelope in aside:
                join(offers, interest.among(dict(envelope.stamp.own)))
        return offers

    def beginning(self, interest: Interest) -> dict[str, int]:
        """Where somebody may begin who is told `cut()`: behind what was delivered here and all that precedes it, and
        behind the cut at which this process itself began: it will never have anything before that."""
        past = dict(self.writer.past())
        for stream in self.past.loose_streams():
            past[stream] = self.tops.get(series_of(stream), 0)
        past = interest.among(past)
        join(past, interest.among(self.past.cut))
        return past

    # -- publishing ------------------------------------------------------------------------------------------------

    def new_message(self, publication: Publication, now_us: int) -> Message:
        """The message that a publication becomes: it gets its number, and where an Order has lifetimes its end."""
        self._seq += 1
        return publication.message(self.name, self._seq)

    def stamps(self, after: Sequence[str]) -> list[Stamp] | None:
        """Of declared causes, without the unordered ones; None: one of them is not kept any more."""
        known = [self.store.get(one) for one in after]
        return None if None in known else [e.stamp for e in known if e is not None and e.message.order != "none"]

    def stamped(self, message: Message, after: list[Stamp] | None) -> Envelope:
        return Envelope(message, self.writer.stamp(message, after))

    # -- time ------------------------------------------------------------------------------------------------------

    def next_service(self) -> int | None:
        """When `serve` is to be called."""
        if self._collect_at is None:
            expiry = self.store.next_expiry()
            if expiry is not None:  # in whole rounds: collecting early gains nothing, timers cost
                self._collect_at = (expiry // self.settings.round_us + 1) * self.settings.round_us
        at_us = self.rounds.at_us
        return self._collect_at if at_us is None or (self._collect_at or at_us) < at_us else at_us

    def serve(self, now_us: int) -> None:
        """Let go of what has expired, and hold a round, if it is time."""
        if self._collect_at is not None and now_us >= self._collect_at:
            self._collect_at = None
            self.store.collect(now_us)
            self.writer.forget(now_us)
        if self.rounds.at_us is not None and now_us >= self.rounds.at_us:
            self.rounds.hold(now_us)
