"""The client for programs without an event loop: the same calls, each of which waits until it is done.

Decided here: one thread runs an event loop with one client on it; every call is handed to that loop, so that a blocking
node may be used from several threads; a call that ctrl-C interrupts is called off there too, or it would take a message
that nobody gets; and a program that ends without closing it takes the thread along.
"""

from __future__ import annotations

import asyncio
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar, overload

from antecede.core.fold.spec import FuseSpec
from antecede.core.where import Value
from antecede.errors import InputError
from antecede.live.client import After, Client, connect
from antecede.live.fusing import FusedInbox, Result
from antecede.live.inbox import Fate, Inbox
from antecede.live.message import Message

__all__ = ["BlockingFusedInbox", "BlockingInbox", "BlockingNode", "connect_blocking"]

T = TypeVar("T")
M = TypeVar("M")


def connect_blocking(
    *addresses: str,
    name: str | None = None,
    records: str | None = None,
    on_state: Callable[[str, str], None] | None = None,
    on_fate: Callable[[Fate], None] | None = None,
    tls: str | Path | ssl.SSLContext | None = None,
    token: str | Path | None = None,
) -> BlockingNode:
    """`with antecede.connect_blocking("antecede://127.0.0.1:7400") as node:`; as `connect`, without await.
    `on_state` and `on_fate` are called in another thread."""
    return BlockingNode(
        lambda: connect(
            *addresses, name=name, records=records, on_state=on_state, on_fate=on_fate, tls=tls, token=token
        )
    )


class BlockingNode:
    def __init__(self, make: Callable[[], Client]) -> None:
        self._make = make
        self._client: Client | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> BlockingNode:
        return self.open()

    def open(self) -> BlockingNode:
        """Connect, where no `with` can span all calls, as in a notebook: `node = connect_blocking(...).open()`, and at
        the end `node.close()`."""
        if self._loop is not None:
            return self
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="antecede", daemon=True)
        self._thread.start()
        try:
            self._client = self._do(self._enter())
        except BaseException:
            self._end()
            raise
        return self

    async def _enter(self) -> Client:
        return await self._make().__aenter__()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._client is not None and self._loop is not None:
            self._do(self._client.aclose())
            self._end()

    def _end(self) -> None:
        assert self._loop is not None and self._thread is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._loop = None

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise InputError("This node is closed: connect again, in a `with` statement.")
        call = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return call.result()
        except BaseException:
            call.cancel()  # interrupted while it waits; a call that has failed by itself is over, and this does nothing
            raise

    @property
    def client(self) -> Client:
        if self._client is None:
            raise InputError(
                "Use it in `with`, or from cell to cell of a notebook between node.open() and node.close()."
            )
        return self._client

    def __repr__(self) -> str:
        if self._client is None:
            return "<a blocking node that is not open>"
        return f"<blocking node {self.name}, {'closed' if self._loop is None else self._client.state}>"

    @property
    def name(self) -> str:
        return self.client.name

    def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        within: float | None = None,
        deadline: datetime | None = None,
        after: After = None,
        order: str = "causal",
        headers: Mapping[str, Value] | None = None,
    ) -> str:
        """Returns the id once the message is safe."""
        return self._do(
            self.client.publish(
                topic, payload, within=within, deadline=deadline, after=after, order=order, headers=headers
            )
        )

    def publish_nowait(
        self,
        topic: str,
        payload: bytes,
        *,
        within: float | None = None,
        deadline: datetime | None = None,
        after: After = None,
        order: str = "causal",
        headers: Mapping[str, Value] | None = None,
    ) -> str:
        """Returns the id at once; `flush` waits until all is safe."""

        async def now() -> str:  # on the loop's own thread, as everything that touches the client
            return self.client.publish_nowait(
                topic, payload, within=within, deadline=deadline, after=after, order=order, headers=headers
            )

        return self._do(now())

    def request(
        self, topic: str, payload: bytes, *, within: float, headers: Mapping[str, Value] | None = None
    ) -> Message:
        return self._do(self.client.request(topic, payload, within=within, headers=headers))

    def reply(self, message: Message, payload: bytes, *, within: float | None = None) -> str:
        return self._do(self.client.reply(message, payload, within=within))

    def flush(self, within: float | None = None) -> None:
        self._do(self.client.flush(within))

    def drain(self, within: float | None = None) -> None:
        """Take no more in, and wait until all is safe. What is queued can be taken until this node is closed."""
        self._do(self.client.drain(within))

    @property
    def pending(self) -> int:
        """How many published messages are not safe yet."""
        return self.ask(lambda: self.client.pending)

    @property
    def home(self) -> str | None:
        """The broker it is attached to."""
        return self.ask(lambda: self.client.home)

    @property
    def state(self) -> str:
        """`connected`, `away` or `closed`."""
        return self.client.state

    def fates(self) -> dict[str, int]:
        """What was not delivered at this node, by fate."""
        return self.ask(self.client.fates)

    @overload
    def subscribe(
        self,
        *filters: str,
        queue: int = 1000,
        overflow: str = "drop_oldest",
        own: bool = False,
        since: bytes | None = None,
        where: str | None = None,
        fuse: None = None,
    ) -> BlockingInbox: ...

    @overload
    def subscribe(
        self, *filters: str, queue: int = 1000, where: str | None = None, fuse: FuseSpec
    ) -> BlockingFusedInbox: ...

    def subscribe(
        self,
        *filters: str,
        queue: int = 1000,
        overflow: str = "drop_oldest",
        own: bool = False,
        since: bytes | None = None,
        where: str | None = None,
        fuse: FuseSpec | None = None,
    ) -> BlockingInbox | BlockingFusedInbox:
        """`with node.subscribe("room/#") as inbox: for message in inbox: ...`; in a notebook
        `inbox = node.subscribe("room/#").open()`, and at the end `inbox.close()`."""
        if fuse is not None and overflow == "drop_oldest" and not own and since is None:
            return BlockingFusedInbox(self, self.client.subscribe(*filters, queue=queue, where=where, fuse=fuse))
        inbox = self.client.subscribe(
            *filters, queue=queue, overflow=overflow, own=own, since=since, where=where,
            fuse=fuse,  # type: ignore[arg-type]  # the client says what does not go with it
        )  # fmt: skip
        return BlockingInbox(self, inbox)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Let the node's own event loop do something, and wait for it."""
        return self._do(work)

    def ask(self, work: Callable[[], T]) -> T:
        """What the client says, asked on its own thread as long as there is one."""

        async def now() -> T:
            return work()

        return work() if self._loop is None else self._do(now())


class _Blocking(Generic[M]):
    def __init__(self, node: BlockingNode, inbox: Inbox | FusedInbox) -> None:
        self._node, self._source = node, inbox
        self._opened = False

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def open(self) -> Self:
        """Subscribe, where no `with` can span all calls; `close` ends it."""
        if not self._opened:
            self._node.run(self._source.__aenter__())
            self._opened = True
        return self

    def close(self) -> None:
        """No more is wanted; what still waits is dropped."""
        if self._opened and self._node.state != "closed":
            self._node.run(self._source.aclose())

    def __repr__(self) -> str:
        return f"<inbox of {self._node.name}: {', '.join(self._source.filters)}>"

    def get(self, within: float | None = None) -> M:
        """The next one; TimeoutError when none comes `within` so many seconds."""
        self._check()
        taken: M = self._node.run(self._source.get(within))  # type: ignore[assignment]
        return taken

    def _check(self) -> None:
        if not self._opened:
            raise InputError(
                "Nothing is subscribed yet: use it inside `with node.subscribe(...) as inbox`, or between inbox.open() "
                "and inbox.close()."
            )

    def __iter__(self) -> Iterator[M]:
        self._check()
        while True:
            try:
                yield self._node.run(self._next())
            except _Over:
                return

    async def _next(self) -> M:
        try:
            taken: M = await self._source.__anext__()  # type: ignore[assignment]
            return taken
        except StopAsyncIteration:
            raise _Over from None


class BlockingInbox(_Blocking[Message]):
    def __init__(self, node: BlockingNode, inbox: Inbox) -> None:
        super().__init__(node, inbox)
        self._inbox = inbox

    def __len__(self) -> int:
        """Messages that wait to be taken."""
        return self._node.ask(lambda: len(self._inbox))

    def __bool__(self) -> bool:
        return True

    def fates(self) -> dict[str, int]:
        """How many messages had which fate."""
        return self._node.ask(self._inbox.fates)

    @property
    def frontier(self) -> bytes:
        """How far this node has got: `subscribe(since=frontier)` goes on from there after a restart."""
        return self._node.ask(lambda: self._inbox.frontier)


class BlockingFusedInbox(_Blocking[Result]):
    """The same for results of `fuse=`."""


class _Over(Exception):
    """Nothing more comes (a coroutine cannot raise StopIteration)."""
