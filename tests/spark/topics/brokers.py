"""Brokers and clients on the loopback for tests that have no event loop: they run in a thread of this process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any

from antecede.live.blocking import BlockingNode, connect_blocking
from antecede.live.broker import Broker

__all__ = ["Brokers", "brokers", "until"]


def until(condition: Callable[[], object], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come true in time"
        time.sleep(0.02)


class Brokers:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.there: dict[str, Broker] = {}

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def start(self, name: str, listen: str = "127.0.0.1:0", **options: Any) -> str:
        """A broker that joins those that are there; its address."""

        async def begin() -> None:
            join = [broker.url.removeprefix("antecede://") for broker in self.there.values()]
            broker = Broker(listen, name=name, join=join, **options)
            await broker.__aenter__()
            self.there[name] = broker

        self.run(begin())
        return self.there[name].url

    def end(self, name: str) -> None:
        self.run(self.there.pop(name).__aexit__(None, None, None))

    @property
    def urls(self) -> str:
        return ",".join(broker.url for broker in self.there.values())

    def connect(self, name: str, **options: Any) -> BlockingNode:
        return connect_blocking(*self.urls.split(","), name=name, **options)


@contextmanager
def brokers(*names: str) -> Iterator[Brokers]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    made = Brokers(loop)
    try:
        for name in names:
            made.start(name)
        yield made
    finally:
        for name in list(made.there):
            made.end(name)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
