"""A member of a flat group: everybody gets everything, everybody publishes (`solicit`, `dcco`; 000, 002).

B-SEND is `publish`, B-RECV and RPY-RECV are the same path through the Inbox, CHECK-MSGs is `wake`, SOLICIT-RECV is
`on_request`. A newcomer asks a member for its frontier and begins at that cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.effects import Effect, Join, Send
from antecede.core.frames import Data, Frame, Snapshot, SnapshotRequest
from antecede.core.interest import Interest
from antecede.core.message import Mark, Message
from antecede.core.tier import Parts, Tier

__all__ = ["Member"]


class Member(Tier):
    role = "member"
    _others: tuple[str, ...] = ()
    _join_at: int | None = None
    _join_tries = 0

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._blank: set[str] = set()

    # -- who is there ----------------------------------------------------------------------------------------------

    def viewed(self, now_us: int) -> None:
        self._others = tuple(sorted(name for name in self.members if name != self.name))

    def peers(self) -> Sequence[str]:
        return self._others

    def sources(self, mark: Mark) -> Sequence[str]:
        return self._others

    def interest_of(self, peer: str) -> Interest | None:
        return self.interest

    # -- joining ---------------------------------------------------------------------------------------------------

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        if joining and self._others:
            self._ask_to_join(now_us)
        else:
            self._join(None, ())
        return self.flush(now_us)

    def _ask_to_join(self, now_us: int) -> None:
        self._join_at = now_us + self.settings.retry_us
        donor = self._others[self._join_tries % len(self._others)]
        self._join_tries += 1
        self.out.append(Send((donor,), SnapshotRequest(whole=False)))

    def _join(self, peer: str | None, cut: tuple[str, ...]) -> None:
        self.joined = True
        self._join_at = None
        self.out.append(Join(self.interest.filters, peer, cut, self.inbox.guard_us))

    def own_wake(self) -> int | None:
        return self._join_at

    def woken(self, now_us: int) -> None:
        if self._join_at is not None and now_us >= self._join_at:
            self._ask_to_join(now_us)

    # -- out -------------------------------------------------------------------------------------------------------

    def publish(
        self,
        topics: Sequence[str],
        payload: bytes,
        now_us: int,
        *,
        deadline_us: int | None = None,
        after: Sequence[str] | None = None,
    ) -> tuple[Message, list[Effect]]:
        envelope = self.compose(topics, payload, now_us, deadline_us, after)
        if self._others:
            self.out.append(Send(self._others, Data((envelope,))))
        return envelope.message, self.flush(now_us)

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if self.joined:
            if isinstance(frame, SnapshotRequest):
                self.out.append(Send((sender,), Snapshot(self.beginning(self.interest), self.cut())))
            else:
                self.common(frame, sender, now_us)
        elif isinstance(frame, SnapshotRequest):
            self.out.append(Send((sender,), Snapshot({}, (), blank=True)))
        elif isinstance(frame, Snapshot):
            if not frame.blank:
                self.reader.start_at(frame.past)
                self._join(sender, frame.cut)
                self.take_early(now_us)
            else:
                self._blank.add(sender)
                if self._blank.issuperset(self._others):
                    self._join(None, ())
                    self.take_early(now_us)
        else:
            self.keep_early(frame, sender)
        return self.flush(now_us)
