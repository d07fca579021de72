"""Fused subscriptions as an application holds them in its hand: results instead of messages, one per cut.

Decided here: what a result shows (the words of `fuse` on Spark), and that it may be named in `after=` like a message.
Folding is the home broker's (`core/home/fusions`), asking for it the machine's (`core/home/fusing`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from antecede.core.fold.spec import FuseSpec
from antecede.errors import InputError
from antecede.live.inbox import Waiters
from antecede.live.message import selecting

if TYPE_CHECKING:
    from antecede.live.client import Client

__all__ = ["FusedInbox", "Result"]


@dataclass(slots=True, frozen=True, eq=False)
class Result:
    """One cut of what a home broker delivered, fused. Immutable."""

    id: str
    """For `after=`: what is published after a result follows its cut."""
    number: int
    """Without holes, unless results had to give way while nobody took them."""
    cut: int
    cut_us: int | None
    """The latest time of a reading in it."""
    rows: int
    """Readings since the cut before."""
    causes: tuple[str, ...]
    """The cut: the latest message of each sender that it holds."""
    results: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    """One for each value of `by`, by column as `antecede.spark.fuse` has them: `value_mean`, `count`, `absent`, ..."""
    began: str = ""
    """`moved`: the first result of another home, which took over the fold; `anew`: the home before is gone, and so are
    the readings that it had; else empty."""


class FusedInbox(Waiters):
    """`async with node.subscribe(..., fuse=antecede.fuse(...)) as results: async for result in results: ...`"""

    def __init__(self, node: Client, filters: tuple[str, ...], spec: FuseSpec, queue: int, where: str | None) -> None:
        super().__init__()
        if not filters:
            raise InputError("Say what to subscribe to, for example node.subscribe('sensors/#', fuse=...).")
        if not isinstance(spec, FuseSpec):
            raise InputError("fuse= takes antecede.fuse(values=[...], every_us=...).")
        if not isinstance(queue, int) or queue < 1:
            raise InputError(f"A queue holds at least one result, not {queue!r}.")
        self.filters = tuple(dict.fromkeys(selecting(one, where) for one in filters))
        self.spec, self.size = spec, queue
        self.number = 0
        """What the machine calls it."""
        self.closed = False
        self._node = node

    async def __aenter__(self) -> FusedInbox:
        await self._node.open_fused(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """No more is wanted."""
        if not self.closed:
            self.closed = True
            self._node.close_fused(self)
            self.wake()

    def __aiter__(self) -> FusedInbox:
        return self

    async def __anext__(self) -> Result:
        while True:
            if self.closed or self._node.closed:
                raise StopAsyncIteration
            taken = self._node.take_fused(self)
            if taken is not None:
                return taken
            await self.woken()

    async def get(self, within: float | None = None) -> Result:
        """The next result; TimeoutError when none comes `within` so many seconds."""
        async with asyncio.timeout(within):
            try:
                return await self.__anext__()
            except StopAsyncIteration:
                raise InputError("This inbox is closed: nothing more comes.") from None
