"""The client machine of one MQTT session: the same that a native client runs, beside the broker instead of far away.

Decided here: one queue takes all that the session is owed; what the session takes from it is delivered then, and not
before; and whoever leaves does so once what it published is safe, or a few seconds later.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from antecede.core.effects import Dropped, Effect
from antecede.core.home.frontier import Frontier
from antecede.core.interest import Interest
from antecede.core.marks import join, tops_of
from antecede.core.message import Envelope, Message, Publication, split_id
from antecede.errors import AntecedeError
from antecede.live.connection import Connection
from antecede.live.mqtt.inside import Inside

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["QUEUE", "Owner", "Seat"]

log = logging.getLogger("antecede.mqtt")

QUEUE = 10_000
"""Messages that wait for one session, its client being slow or away; then the oldest is dropped. Costs memory."""
LEAVE_S = 5.0
"""How long a session that ends waits until all it published is safe."""
_NAME = "mqtt"


class Owner(Protocol):
    """The session, as its machine sees it."""

    def safe(self, ids: Sequence[str]) -> None: ...
    def dropped(self, reason: str) -> None: ...
    def turned(self) -> None: ...
    def interrupted(self) -> None: ...
    def ended(self, reason: str) -> None: ...


class Seat(Connection):
    def __init__(self, broker: Broker, name: str, owner: Owner, token: str = "") -> None:
        super().__init__([broker.address], name, broker.directory, None, Inside(broker), token=lambda: token)
        self._owner = owner
        self._broker = broker
        self._filters: tuple[str, ...] = ()
        self._own = True

    def goes_on(self, frontier: Frontier, filters: tuple[str, ...], *, own: bool) -> None:
        """This seat is the next life of a machine that was here or elsewhere; said before it begins."""
        self._frontier, self._filters, self._own = frontier, filters, own
        self._link.fresh = False
        self.attached = True

    async def sit(self) -> None:
        goes_on = self._frontier is not None
        await self.open()
        if not goes_on:
            self._open_queue()

    def _open_queue(self) -> None:
        app = self.machine.application
        app.open(_NAME, self._filters, size=QUEUE, policy="drop_oldest", own=self._own)

    # -- what the session asks for ---------------------------------------------------------------------------------

    def want(self, filters: Sequence[str], *, own: bool) -> None:
        """From now on these. Raises InputError where no broker may be asked for them."""
        self.managed.groups.check_filters(filters)
        self._filters, self._own = tuple(filters), own
        if self._frontier is not None:
            return  # it begins again, with these
        queue = self.machine.application.handover.queues[_NAME]
        more = Interest((*queue.interest.filters, *filters))
        queue.interest, queue.own = more, own
        self.attach(filters)
        queue.interest = Interest(filters)

    def is_owed(self, filters: Sequence[str]) -> bool:
        """Whether its home has said where all of these begin."""
        if self._node is None or self._frontier is not None:
            return False
        return set(filters) <= set(self.machine.growing.owed.filters)

    def publish(self, said: Publication) -> Message:
        """Raises InputError."""
        if not self.attached:
            self.attach(())
        return self.node.publish(said)

    def outrank(self, kept: Envelope) -> None:
        """What it publishes next replaces this retained message at every broker, though it was not sent it. (Rank grows
        along causality; it may grow faster.)"""
        upper = self.machine.upper
        upper.rank = max(upper.rank, kept.stamp.rank)

    def why_not_publish(self, topic: str, size: int) -> str:
        """Where a token is asked for: why its broker would refuse this; empty: it would not."""
        if 0 < self.limits[0] < size:
            return f"A message has at most {self.limits[0]} bytes at this broker, not {size}."
        return "" if self.rights is None else self.rights.why_not_publish(topic)

    def why_not_subscribe(self, filter: str) -> str:
        return "" if self.rights is None else self.rights.why_not_subscribe(filter, self.name)

    @property
    def is_ready(self) -> bool:
        return not self.closed and self._node is not None and self._frontier is None

    @property
    def waiting(self) -> int:
        """How many messages wait to be taken."""
        return self.machine.application.ready(_NAME) if self.is_ready else 0

    def take(self, limit: int) -> list[Message]:
        """The next ones: they are delivered now."""
        return self.node.hand_over(self.machine.application, _NAME, limit) if self.waiting else []

    def waiting_before(self, filters: Sequence[str]) -> int:
        """How many of those that wait lie before the beginning of these filters."""
        behind: dict[str, int] = {}
        for cut in self.machine.growing.began(filters):
            join(behind, tops_of(cut))
        last = 0
        queue = self.machine.application.handover.queues[_NAME]
        waiting = [one.envelope.message for one in queue.entries if _NAME in one.queues]
        for place, message in enumerate(waiting, 1):
            if message.seq <= behind.get(message.series, 0):
                last = place
        return last

    def stored(self) -> Iterable[Message]:
        """What its broker has delivered and still has."""
        return (one.message for one in self._broker.machine.store.by_id.values())

    def still_to_come(self, ids: Iterable[str]) -> set[str]:
        """The messages among these that the home has not sent, and will."""
        machine = self.machine
        behind = dict(machine.tops)
        for cut in machine.growing.began():
            join(behind, dict(map(split_id, cut)))
        for stream, n in machine.start_marks.items():
            join(behind, {stream.partition("@")[0]: n})
        return {one for one in ids if (place := split_id(one))[1] > behind.get(place[0], 0)}

    def comes_live(self, message: Message) -> bool:
        """Whether a message that its home has delivered is still to come to this session by its queue."""
        return bool(self.still_to_come((message.id,)))

    def keeps(self, envelope: Envelope) -> None:
        """A kept copy was handed over: state, and a cause of what follows, unless something before it is still owed."""
        stamp, machine = envelope.stamp, self.machine
        past = machine.upper.past()
        marks = {**stamp.covers, **dict(stamp.own)}
        if all(n <= max(past.get(s, 0), machine.start_marks.get(s, 0)) for s, n in marks.items()):
            machine.delivered(envelope, 0)  # what lies behind has no times
        self.node.note("deliver", message=envelope.message.id, reason="retained")

    # -- what the machine says -------------------------------------------------------------------------------------

    def published(self, ids: Sequence[str]) -> None:
        self._owner.safe(ids)

    def said(self, effect: Effect) -> None:
        if isinstance(effect, Dropped):
            self._owner.dropped(effect.reason)

    def turned(self) -> None:
        self._owner.turned()

    def interrupted(self) -> None:
        self._owner.interrupted()

    def ended(self) -> None:
        self._owner.ended(self.refusal)

    def resumed(self) -> None:
        self._open_queue()
        if self.attached:
            self.attach(self._filters)

    # -- the end ---------------------------------------------------------------------------------------------------

    async def flush(self, within_s: float) -> bool:
        """Whether all that was published is safe, by then."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                await self.until(lambda: not self.is_ready or not self.machine.outbox.unacked)
        return not self.is_ready or not self.machine.outbox.unacked

    async def leave(self) -> None:
        if self.closed:
            return
        if not await self.flush(LEAVE_S):
            log.error("%s left though %d messages were not safe", self.name, len(self.machine.outbox.unacked))
        if self._node is not None and not self.closed:
            try:
                self._node.tell(self.managed.leave)
            except AntecedeError as fault:
                log.error("%s could not say good-bye: %s", self.name, fault)
        await self.stop()
