"""A process that carries groups: it receives, and serves what it has received. Members and brokers are carriers.

Decided here: how the two halves meet. A message that the receiving half delivers is kept by the serving half; a frame
is for one of them, a digest for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.begin.early import EarlyFrames
from antecede.core.effects import Effect
from antecede.core.frames import Data, Digest, Frame, Gone, Ranges, Request
from antecede.core.machine import Peer
from antecede.core.marks import Marks
from antecede.core.message import Envelope, Mark, id_of_mark
from antecede.core.roles.process import Parts
from antecede.core.roles.receiver import Receiver
from antecede.core.roles.server import Server

__all__ = ["Carrier"]


class Carrier(Receiver, Server):
    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self.early = EarlyFrames(self)

    # -- what the receiving half asks ------------------------------------------------------------------------------

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        self.learn(envelope)
        self.keep(envelope, now_us)
        self.forward(envelope, now_us)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message was delivered here: it goes on to the subscribers and clients of this process."""

    def may_ask(self, peer: str) -> bool:
        return peer in self.members and self.interest_of(peer) is not None

    def others_to_ask(self) -> Sequence[str]:
        return [peer for peer in self.peers() if peer in self.members and not self.serves(peer)]

    def looks_back(self) -> bool:
        return self.rounds.enabled and self.rounds.steady

    def passed_by_others(self) -> bool:
        return False

    # -- what the serving half asks --------------------------------------------------------------------------------

    def held_within(self, ranges: Ranges) -> list[Envelope]:
        return self.inbox.held_within(ranges)

    def holds(self, message_id: str) -> bool:
        return message_id in self.inbox.held

    def waits_for(self, message_id: str) -> bool:
        return any(id_of_mark(mark) == message_id for mark in self.wants.wants)

    def asked_in_vain(self, mark: Mark, now_us: int) -> bool:
        return self.wants.endless_since(mark, now_us - self.settings.grace_us)

    def settled(self, streams: Marks) -> None:
        self.losses.settled(streams)

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

    def keep_own(self, envelope: Envelope, now_us: int) -> None:
        """A message of its own: it lies behind, another copy of it is a duplicate, and it is kept."""
        self.reader.delivered(envelope.stamp, forced=False)
        self.inbox.seen[envelope.message.id] = now_us
        self.keep(envelope, now_us)

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

    def woken(self, now_us: int) -> None:
        self.serve(now_us)
        super().woken(now_us)

    def next_wake(self) -> int | None:
        best, service = super().next_wake(), self.next_service()
        return service if best is None or (service is not None and service < best) else best
