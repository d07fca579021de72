"""What one subscription hands to the application: a queue with a bound, and what happens when it is full.

Decided here: messages of one inbox come out in the order in which the machine delivered them; a full queue drops its
oldest or its newest, or lets the node wait, as the application chose; and everything that was not handed over is
counted under its name.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING

from antecede.core.interest import Interest
from antecede.errors import InputError
from antecede.live.message import Message, check_filter

if TYPE_CHECKING:
    from antecede.live.client import Client

__all__ = ["POLICIES", "Inbox"]

POLICIES = ("drop_oldest", "drop_newest", "block")


class Inbox:
    """`async with node.subscribe(...) as inbox: async for message in inbox: ...`"""

    def __init__(self, node: Client, filters: tuple[str, ...], queue: int, overflow: str, own: bool) -> None:
        if not filters:
            raise InputError("Say what to subscribe to, for example node.subscribe('room/#').")
        if overflow not in POLICIES:
            raise InputError(f"overflow is one of {', '.join(POLICIES)}, not {overflow!r}.")
        if not isinstance(queue, int) or queue < 1:
            raise InputError(f"A queue holds at least one message, not {queue!r}.")
        self.filters = tuple(dict.fromkeys(map(check_filter, filters)))
        self.own = own
        self.closed = False
        self._node = node
        self._interest = Interest(self.filters)
        self._most, self._policy = queue, overflow
        self._queue: deque[Message] = deque()
        self._waiters: set[asyncio.Future[None]] = set()
        self._counts: Counter[str] = Counter()

    # -- from the node ---------------------------------------------------------------------------------------------

    def wants(self, topic: str) -> bool:
        return self._interest.wants((topic,))

    def put(self, message: Message) -> None:
        if len(self._queue) >= self._most and self._policy != "block":
            self._counts["overflow"] += 1
            dropped = message
            if self._policy == "drop_oldest":
                dropped = self._queue.popleft()
                self._queue.append(message)
            self._node.overflowed(dropped)
        else:
            self._queue.append(message)
        self.wake()

    @property
    def is_full(self) -> bool:
        """Whether the node should hold back what follows."""
        return self._policy == "block" and len(self._queue) >= self._most

    def wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    # -- for the application ---------------------------------------------------------------------------------------

    async def __aenter__(self) -> Inbox:
        await self._node.open_inbox(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """No more is wanted; what is queued can still be taken."""
        if not self.closed:
            self.closed = True
            self._node.close_inbox(self)
            self.wake()

    def __aiter__(self) -> Inbox:
        return self

    async def __anext__(self) -> Message:
        while not self._queue:
            if self.closed or self._node.closed:
                raise StopAsyncIteration
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters.add(waiter)
            try:
                await waiter
            finally:
                self._waiters.discard(waiter)
        message = self._queue.popleft()
        self._counts["delivered"] += 1
        return message

    async def get(self, within: float | None = None) -> Message:
        """The next message; TimeoutError when none comes `within` so many seconds."""
        async with asyncio.timeout(within):
            try:
                return await self.__anext__()
            except StopAsyncIteration:
                raise InputError("This inbox is closed: nothing more comes.") from None

    def __len__(self) -> int:
        """Messages that wait to be taken."""
        return len(self._queue)

    def fates(self) -> dict[str, int]:
        """How many messages had which fate: `delivered` and `overflow` here; `late`, `superseded`, `expired` and `lost`
        at the whole node, for what never came in time is not known by its topic; `queued` wait here."""
        return {**self._node.fates(), **self._counts, "queued": len(self._queue)}
