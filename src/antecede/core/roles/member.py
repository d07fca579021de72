"""A member of a flat group: everybody gets everything, everybody publishes (`solicit`, `dcco`; 000, 002).

B-SEND is `publish`, B-RECV and RPY-RECV are the same path through the Inbox, CHECK-MSGs is `wake`, SOLICIT-RECV is
`on_request`. A newcomer asks a member for its frontier and begins at that cut. How messages get to the others is the
business of its spread: a multicast, unless the recipe says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from antecede.core.effects import Effect, Join, Send
from antecede.core.frames import Data, Digest, Frame, Snapshot, SnapshotRequest
from antecede.core.interest import Interest, next_after
from antecede.core.marks import cut_of, join, tops_of
from antecede.core.message import Envelope, Mark, Message, Publication
from antecede.core.roles.carrier import Carrier
from antecede.core.roles.receiver import Parts, Timer
from antecede.core.spread.flat import Flat

__all__ = ["Member"]


class Member(Carrier):
    role = "member"
    others: tuple[str, ...] = ()
    _join_at: int | None = None
    _join_tries = 0

    def __init__(self, parts: Parts, spread: Callable[[Member], Flat] = Flat) -> None:
        super().__init__(parts)
        self._began: dict[str, int] = {}
        """The cut at which this member began: the newest message of each sender."""
        self._blank: set[str] = set()
        self.spread = spread(self)

    # -- who is there ----------------------------------------------------------------------------------------------

    def viewed(self, now_us: int) -> None:
        self.others = tuple(sorted(name for name in self.members if name != self.name))
        self.spread.viewed(now_us)

    def peers(self) -> Sequence[str]:
        return self.others

    def fellow_carriers(self) -> Sequence[str]:
        return self.others

    def neighbours(self) -> Sequence[str]:
        first = next_after(self.name, self.others)
        return () if first is None else (first,)

    def sources(self, mark: Mark) -> Sequence[str]:
        return self.others

    def carriers(self, stream: str) -> Sequence[str]:
        return self.others

    def interest_of(self, peer: str) -> Interest | None:
        return self.interest

    # -- joining ---------------------------------------------------------------------------------------------------

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        if joining and self.others:
            self._ask_to_join(now_us)
        else:
            self._join(None, (), now_us)
        return self.flush(now_us)

    def _ask_to_join(self, now_us: int) -> None:
        if not self.others:  # whoever could be asked is gone: alone in the world
            self._join(None, (), now_us)
            return
        self._join_at = now_us + self.settings.retry_us
        donor = self.others[self._join_tries % len(self.others)]
        self._join_tries += 1
        self.out.append(Send((donor,), SnapshotRequest(whole=False)))

    def _join(self, peer: str | None, cut: tuple[str, ...], now_us: int) -> None:
        self.joined = True
        self._join_at = None
        self.out.append(Join(self.interest.filters, peer, cut, self.inbox.guard_us))
        self.early.take(now_us)
        if self.cut_to_tell(self.interest):
            self.rounds.begin(now_us)

    def timers(self) -> Iterator[Timer]:
        yield from super().timers()
        yield self._join_at, self._ask_to_join
        yield self.spread.at_us, self.spread.wake

    def cut(self) -> tuple[str, ...]:
        """The newest message of each sender that lies behind this member: delivered here, or behind the cut at which
        this member began. A newcomer that takes its snapshot from this member begins behind both."""
        tops = dict(self.tops)
        join(tops, self._began)
        return cut_of(tops)

    def cut_to_tell(self, interest: Interest) -> Mapping[str, int]:
        """With local views a member that lacks a message may compare with newcomers only: so they must say what they
        have behind them and cannot give."""
        return interest.among(self.past.cut) if self.settings.view else {}

    # -- out -------------------------------------------------------------------------------------------------------

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        envelope = self.compose(publication, now_us)
        self.spread.publish(envelope, now_us)
        return envelope.message, self.flush(now_us)

    def compared(self, frame: Digest, sender: str, now_us: int) -> None:
        if self.rounds.is_newcomer(sender):
            self.want_passed(frame.have, frame.offer, now_us)
        self.stability.confirm(sender, frame.done or frame.have)
        self.spread.compared(frame, sender)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self.spread.forward(envelope, now_us)

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if self.joined:
            if isinstance(frame, SnapshotRequest):
                self.out.append(Send((sender,), Snapshot(self.start_for(self.interest), self.cut())))
            else:
                self.on_frame(frame, sender, now_us)
        elif isinstance(frame, SnapshotRequest):
            self.out.append(Send((sender,), Snapshot({}, (), blank=True)))
        elif isinstance(frame, Snapshot):
            if not frame.blank:
                self._began = tops_of(frame.cut)
                self.reader.start_at(frame.past)
                self._join(sender, frame.cut, now_us)
            else:
                self._blank.add(sender)
                if self._blank.issuperset(self.others):
                    self._join(None, (), now_us)
        else:
            self.early.keep(frame, sender)
        return self.flush(now_us)

    def on_frame(self, frame: Frame, sender: str, now_us: int) -> None:
        if not self.common(frame, sender, now_us):
            self.spread.took(frame, sender, now_us)
        elif isinstance(frame, Data):
            self.spread.arrived(frame.envelopes, sender, now_us)
