"""A process that carries groups: it receives messages, keeps them, and compares with its peers until no peer lacks any.

Members and brokers are carriers: to the receiving half (`receiver.py`) they add a serving one. A Writer stamps; a Store
answers requests (`repair/answering.py`); in rounds digests go out (`repair/comparing.py`); and once everybody has a
message the Store may let go of it (`repair/stability.py`). The serving half reads the past and never writes it. The
role says which processes are peers, and what each of them wants. Example: A delivers p:1, keeps it and says so in a
digest; B asks for it and says later that it lies behind; when B has said so for `grace_us`, A lets go of p:1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from antecede.core.begin.early import EarlyFrames
from antecede.core.effects import Effect
from antecede.core.frames import Data, Digest, Frame, Gone, Ranges, Request
from antecede.core.interest import Interest
from antecede.core.machine import Peer
from antecede.core.marks import join, waited_for
from antecede.core.message import Envelope, Message, Publication, Stamp, series_of
from antecede.core.order.unordered import LooseWriter
from antecede.core.publishing import accepted
from antecede.core.repair.answering import Answers
from antecede.core.repair.comparing import Rounds
from antecede.core.repair.stability import Stability
from antecede.core.roles.receiver import Parts, Receiver, Timer
from antecede.core.spread.local_view import LocalView
from antecede.errors import InputError

__all__ = ["Carrier"]


class Carrier(Receiver):
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
        self.early = EarlyFrames(self)

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

    # -- what the receiving half asks ------------------------------------------------------------------------------

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        self.learn(envelope)
        self.keep(envelope, now_us)
        self.forward(envelope, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message was delivered here: it goes on to the subscribers and clients of this process."""

    def holds(self, message_id: str) -> bool:
        return message_id in self.inbox.held

    def may_ask(self, peer: str) -> bool:
        return peer in self.members and self.interest_of(peer) is not None

    def others_to_ask(self) -> Sequence[str]:
        return [peer for peer in self.peers() if peer in self.members and not self.serves(peer)]

    def looks_back(self) -> bool:
        return self.rounds.enabled and self.rounds.steady

    def passed_by_others(self) -> bool:
        return False

    # -- frames ----------------------------------------------------------------------------------------------------

    def common(self, frame: Frame, sender: str, now_us: int) -> bool:
        """The frames that every carrier takes in the same way; False: it is another."""
        if isinstance(frame, Data):
            self.take(frame.envelopes, sender, now_us)
        elif isinstance(frame, Request):
            self.answers.on_request(frame, sender, now_us)
        elif isinstance(frame, Digest):
            if self.interest_of(sender) is not None:
                lacking = self.want_offered(frame.offer, sender, now_us)
                self.compared(frame, sender, now_us)
                self.rounds.on_digest(frame, sender, lacking=lacking)
        elif isinstance(frame, Gone):
            self.losses.on_gone(frame, sender, now_us)
        else:
            return False
        return True

    def on_frame(self, frame: Frame, sender: str, now_us: int) -> None:
        """A frame for one that has joined."""
        self.common(frame, sender, now_us)

    def skip_expired(self, envelope: Envelope, hint: str, now_us: int) -> None:
        """A carrier also keeps the header, for peers that ask."""
        super().skip_expired(envelope, hint, now_us)
        self.store.add_header(envelope, now_us)

    # -- what drivers call -----------------------------------------------------------------------------------------

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        for name in [name for name in self.members if name not in members]:
            self.rounds.forget(name)
            self.stability.forget(name)
        for name in [name for name in members if self.members and name not in self.members]:
            self.rounds.came(name)
        self.stability.viewed()
        self.look_round(members, now_us)
        site = members[self.name].site if self.name in members else ""
        self.local.update(
            self.fellow_carriers(), [name for name, peer in members.items() if site and peer.site == site]
        )
        if self.store.version:
            self.rounds.begin(now_us)
        return self.flush(now_us)

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        """Members and brokers get what is addressed to their groups; subscribers and clients say more."""
        return []

    def unsubscribe(self, now_us: int) -> list[Effect]:
        return []

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        return []

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
        return None if None in known else waited_for(e.stamp for e in known if e is not None)

    def compose(self, publication: Publication, now_us: int) -> Envelope:
        """A message of its own, stamped, behind it and kept."""
        publication = accepted(self, publication)
        if publication.order == "none":
            envelope = self.loose.envelope(publication, now_us)
        else:
            stamps = None if publication.after is None else self.stamps(publication.after)
            if stamps is None:
                publication = publication._replace(after=None)
            message = self.new_message(publication, now_us)
            envelope = Envelope(message, self.writer.stamp(message, stamps))
            if not envelope.stamp.own:
                kind, own = type(self.writer).__name__, (self.name, message.seq)
                raise InputError(f"{kind} stamped {message.id} without an own mark, such as {own}.")
        self.reader.delivered(envelope.stamp, forced=False)
        self.inbox.seen[envelope.message.id] = now_us
        self.keep(envelope, now_us)
        return envelope

    # -- time ------------------------------------------------------------------------------------------------------

    def timers(self) -> Iterator[Timer]:
        if self._collect_at is None:
            expiry = self.store.next_expiry()
            if expiry is not None:  # in whole rounds: collecting early gains nothing, timers cost
                self._collect_at = (expiry // self.settings.round_us + 1) * self.settings.round_us
        yield self._collect_at, self._collect
        yield self.rounds.at_us, self.rounds.wake

    def _collect(self, now_us: int) -> None:
        """Let go of what has expired."""
        self._collect_at = None
        self.store.collect(now_us)
        self.writer.forget(now_us)
