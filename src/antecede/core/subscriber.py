"""A subscriber of one or more brokers (001, 003): receives, asks its brokers for what is missing, publishes nothing.

It begins at a causal cut: for each group, the past of the first broker it named that carries it. Brokers answer at
different moments, so their pasts may not fit together: what one has delivered may follow something that another has not.
Such a set of answers is no cut, and all are asked again. A further broker of the same group counts from the moment its
own past covers that cut. A move is a leave and a join at a new cut.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from antecede.core.effects import Effect, Join, Leave, Send
from antecede.core.frames import Attach, Attached, Data, Detach, Digest, Frame, Gone
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Mark, Message
from antecede.core.tier import Tier
from antecede.core.topics import matches
from antecede.errors import InputError

__all__ = ["Subscriber"]


class Subscriber(Tier):
    role = "subscriber"
    attachment = 0
    _attach_at: int | None = None

    def __init__(self, *args: object, id_of: Callable[[Mark], str | None], **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._id_of = id_of
        self._wanted: tuple[str, ...] = ()
        self._joined: dict[str, None] = {}
        self._replies: dict[str, Attached] = {}
        self._start: dict[str, int] = {}
        self._begun = False

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        return []

    # -- attaching -------------------------------------------------------------------------------------------------

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        self.interest = Interest(filters)
        self.reader.look_at(self.interest.concerns)
        self._attach(tuple(at), now_us)
        return self.flush(now_us)

    def _attach(self, brokers: tuple[str, ...], now_us: int) -> None:
        self.attachment += 1
        self._wanted = brokers
        self._joined = {}
        self._begun = False
        self._send_attach(now_us)

    def _send_attach(self, now_us: int) -> None:
        missing = tuple(broker for broker in self._wanted if broker not in self._joined)
        self._replies = {}
        self._attach_at = now_us + 2 * self.settings.retry_us if missing else None
        if missing:
            self.out.append(Send(missing, Attach(self.attachment, self.interest.filters, None)))

    def _on_attached(self, frame: Attached, sender: str, now_us: int) -> None:
        if frame.attachment != self.attachment or sender in self._joined or sender not in self._wanted:
            return
        self._replies[sender] = frame
        if not self._begun:
            if len(self._replies) < len(self._wanted):
                return
            start = self._fit()
            if start is None:
                return
            self._begun = True
            self._start = start
            self.reader.start_at(start)
            self.inbox.settle(now_us)
        for broker in self._wanted:
            reply = self._replies.get(broker)
            if reply is not None and broker not in self._joined and self._reaches(broker, reply):
                self._join(broker, reply)

    def _fit(self) -> dict[str, int] | None:
        """One cut from all answers, None when they do not fit together."""
        start: dict[str, int] = {}
        for stream in {s: None for reply in self._replies.values() for s in reply.start}:
            first = next((b for b in self._wanted if self._carries(b, stream)), None)
            if first is not None:
                start[stream] = self._replies[first].start.get(stream, 0)
                for broker, reply in self._replies.items():
                    if not self._carries(broker, stream) and reply.start.get(stream, 0) > start[stream]:
                        return None  # `broker` has delivered something that follows what `first` still lacks
        first_ones = {next((b for b in self._wanted if self._carries(b, stream)), None) for stream in start}
        self._start = start
        if all(self._reaches(b, self._replies[b]) for b in first_ones if b is not None):
            return start
        return None

    def _reaches(self, broker: str, reply: Attached) -> bool:
        return all(reply.start.get(s, 0) >= n for s, n in self._start.items() if self._carries(broker, s))

    def _join(self, broker: str, reply: Attached) -> None:
        self._joined[broker] = None
        known = self.members.get(broker)
        filters = self.interest.filters
        if known is not None:
            filters = tuple(f for f in filters if any(matches(f, group) for group in known.groups))
        self.out.append(Join(filters, broker, reply.cut, self.inbox.guard_us))
        if len(self._joined) == len(self._wanted):
            self._attach_at = None

    def _carries(self, broker: str, stream: str) -> bool:
        known = self.members.get(broker)
        return known is not None and self.known_interest(known.groups).concerns(stream)

    def unsubscribe(self, now_us: int) -> list[Effect]:
        self._leave()
        self._wanted, self._attach_at = (), None
        return self.flush(now_us)

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        self._leave()
        self.inbox.clear()
        self._attach(tuple(to), now_us)
        return self.flush(now_us)

    def _leave(self) -> None:
        if self._joined:
            self.out.append(Leave(self.interest.filters))
            self.out.append(Send(tuple(self._joined), Detach(self.attachment)))
        self._joined = {}

    # -- who is there ----------------------------------------------------------------------------------------------

    def peers(self) -> Sequence[str]:
        return list(self._joined)

    def sources(self, mark: Mark) -> Sequence[str]:
        return [broker for broker in self._joined if self._carries(broker, mark[0])]

    def interest_of(self, peer: str) -> Interest | None:
        return self.interest if peer in self._joined else None

    def id_of(self, mark: Mark) -> str | None:
        return self._id_of(mark)

    # -- in --------------------------------------------------------------------------------------------------------

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        if isinstance(frame, Attached):
            self._on_attached(frame, sender, now_us)
        elif sender in self._joined:
            if isinstance(frame, Data):
                self.take(frame.envelopes, sender, now_us)
            elif isinstance(frame, Digest):
                self.on_digest(frame, sender, now_us)
            elif isinstance(frame, Gone):
                self.on_gone(frame, sender, now_us)
        elif sender not in self._wanted:
            self.out.append(Send((sender,), Detach(self.attachment)))
        return self.flush(now_us)

    def _keep(self, envelope: Envelope, now_us: int) -> None:
        """A subscriber answers nobody: nothing is kept."""

    def publish(
        self,
        topics: Sequence[str],
        payload: bytes,
        now_us: int,
        *,
        deadline_us: int | None = None,
        after: Sequence[str] | None = None,
    ) -> tuple[Message, list[Effect]]:
        raise InputError(f"{self.name} only subscribes: in this recipe brokers publish (in `home` clients do).")

    # -- time ------------------------------------------------------------------------------------------------------

    def own_wake(self) -> int | None:
        return self._attach_at

    def woken(self, now_us: int) -> None:
        if self._attach_at is not None and now_us >= self._attach_at:
            self._send_attach(now_us)
