"""The serving half of a process: it keeps messages, and compares with its peers until no peer lacks any.

A Writer stamps; a Store answers requests (`repair/answering.py`); in rounds digests go out (`repair/comparing.py`); and
once everybody has a message the Store may let go of it (`repair/stability.py`). Of the receiving half the serving half
sees the past alone, which it never writes. The role says which processes are peers, and what each of them wants.
Example: A keeps p:1 and says so in a digest; B asks for it and says later that it lies behind; when B has said so for
`grace_us`, A lets go of p:1.
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
        """Streams are settled up to these marks: nobody asks any more which of their messages were given up."""

    # -- what it asks its role: who is there -----------------------------------------------------------------------

    @abstractmethod
    def peers(self) -> Sequence[str]:
        """The processes that digests go to."""

    @abstractmethod
    def interest_of(self, peer: str) -> Interest | None:
        """What a peer wants; None: it is no peer of ours."""

    @abstractmethod
    def carriers(self, stream: str) -> Sequence[str]:
        """The others that carry a stream's group."""

    @abstractmethod
    def fellow_carriers(self) -> Sequence[str]:
        """The peers from which a local view is drawn: all but subscribers."""

    @abstractmethod
    def neighbours(self) -> Sequence[str]:
        """Equals that this process compares with even if they are not in its view: enough that a message gets from any
        to all."""

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
        """Marks that an offer must have beside the newest, where no stamp leads from there to the messages before."""
        return {}

    def cut_to_tell(self, interest: Interest) -> Mapping[str, int]:
        """The cut behind which this process began and which it cannot give, as far as peers must be told."""
        return {}

    def unsafe(self) -> Sequence[Envelope]:
        """Publications that no other broker is known to have. Peers may ask for them, also if this process passed over
        them and does not store them. Only a home broker has any."""
        return ()

    def newest_unsafe(self) -> Mapping[str, int]:
        """The newest of them per stream."""
        return {}

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
        offers, unsafe = self.store.offers(interest), self.newest_unsafe()
        if unsafe:
            offers = dict(offers)
            join(offers, interest.among(unsafe))
        return offers

    def start_for(self, interest: Interest) -> dict[str, int]:
        """The marks behind which a process begins that is told `cut()`: behind all that was delivered here and its
        past, and behind the cut at which this process itself began, since it will never have anything before that."""
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
