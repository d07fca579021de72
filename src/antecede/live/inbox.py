"""What one subscription hands to the application: the face of a queue that the machine keeps.

Decided here: a message is taken from the machine's queue at the moment the application asks for the next one, neither
earlier nor several at a time, because that is when it counts as delivered; and what was not handed over is counted
under its name. What a full queue does is the machine's to decide (`core/home/handover`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from antecede.core.home.queue import POLICIES
from antecede.core.message import split_id
from antecede.errors import EnvironmentFault, InputError
from antecede.live.message import Message, selecting
from antecede.wire import save

if TYPE_CHECKING:
    from antecede.live.client import Client

__all__ = ["Fate", "Inbox", "Waiters"]


class Fate(NamedTuple):
    """What became of a message that was not delivered here, or without all its causes; or of several messages, of which
    nobody says which they are."""

    id: str
    """Empty where there are several."""
    fate: str
    """`late`, `superseded`, `expired`, `overflow` or `lost`; or `delivered`, without some of its causes."""
    missing: tuple[str, ...] = ()
    """With `late`: what it waited for. With `superseded`: what follows it and was delivered before. With `delivered`:
    the causes that had not come."""
    messages: int = 1
    """How many messages: more than one only with `overflow` at the home broker."""

    @property
    def blocked_by(self) -> tuple[str, ...]:
        """The senders of what was missing."""
        return tuple(dict.fromkeys(split_id(one)[0] for one in self.missing))


class Waiters:
    """The tasks that wait for the next message or result of one subscription."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    def wake(self) -> None:
        """There may be something to take, or nothing more to wait for."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def woken(self) -> None:
        """Wait until there may be."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)


class Inbox(Waiters):
    """`async with node.subscribe(...) as inbox: async for message in inbox: ...`"""

    def __init__(
        self,
        node: Client,
        filters: tuple[str, ...],
        queue: int,
        overflow: str,
        own: bool,
        since: bytes | None,
        where: str | None = None,
    ) -> None:
        super().__init__()
        if not filters:
            raise InputError("Say what to subscribe to, for example node.subscribe('room/#').")
        if overflow not in POLICIES:
            raise InputError(f"overflow is one of {', '.join(POLICIES)}, not {overflow!r}.")
        if not isinstance(queue, int) or queue < 1:
            raise InputError(f"A queue holds at least one message, not {queue!r}.")
        self.filters = tuple(dict.fromkeys(selecting(one, where) for one in filters))
        self.size, self.policy, self.own, self.since = queue, overflow, own, since
        self.name = ""
        """What the machine calls its queue."""
        self.closed = False
        self._node = node
        self.drains = False
        """Whether nothing more is let in: what waits can be taken, then it closes."""
        self.counts: Counter[str] = Counter()

    @property
    def waited_for(self) -> bool:
        return bool(self._waiters)

    # -- for the application ---------------------------------------------------------------------------------------

    async def __aenter__(self) -> Inbox:
        await self._node.open_inbox(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """No more is wanted; what still waits is dropped."""
        if not self.closed:
            self.closed = True
            self._node.close_inbox(self)
            self.wake()

    def __aiter__(self) -> Inbox:
        return self

    async def __anext__(self) -> Message:
        if not self.name and not self.closed and not self._node.closed:
            raise InputError("Nothing is subscribed yet: use it inside `async with node.subscribe(...) as inbox`.")
        while True:
            node = self._node
            if node.closed or self.closed:
                if node.refusal and not self.closed:
                    raise EnvironmentFault(node.refusal)
                raise StopAsyncIteration
            taken = node.take(self, 1)
            if taken:
                self.counts["delivered"] += 1
                return taken[0]
            if self.drains:
                await self.aclose()
                continue
            await self.woken()

    async def get(self, within: float | None = None) -> Message:
        """The next message; TimeoutError when none comes `within` so many seconds."""
        try:
            async with asyncio.timeout(within) as limit:
                return await self.__anext__()
        except StopAsyncIteration:
            raise InputError("This inbox is closed: nothing more comes.") from None
        except TimeoutError:
            if limit.expired():
                raise TimeoutError(f"No message came within {within:g} s on {', '.join(self.filters)}.") from None
            raise

    def __len__(self) -> int:
        """Messages that wait to be taken."""
        return 0 if self.closed or self._node.closed else self._node.ready(self)

    @property
    def frontier(self) -> bytes:
        """How far this node has got, as a small value to save with one's own results: `subscribe(since=frontier)` goes
        on from there after a restart, under the same name."""
        return save(self._node.machine.application.frontier())

    def fates(self) -> dict[str, int]:
        """How many messages had which fate. In this inbox: `delivered`; `overflow` and `late` of what it had and let go
        of; `queued` wait here. And, the same in every inbox of this node, what was in none of them, for of what never
        came the topic is not known: `superseded`, `expired`, `lost`, `overflow` at its home, and what was
        `late` when it came or while it waited for its causes. `node.fates()` has each message once."""
        return {**self._node.fates_of(self), "queued": len(self)}
