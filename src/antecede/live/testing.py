"""A whole cluster in one process, for tests of applications: no sockets, no waiting, and a seed.

    def test_an_answer_never_comes_first():
        async def scenario(cluster):
            async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("room/#") as inbox:
                await ann.publish("room/1", b"hello", within=0.5)
                assert (await inbox.get(1)).payload == b"hello"

        LocalCluster(brokers=3, loss=0.1, seed=7).run(scenario)

Decided here: brokers and clients are the ones that run in production, on the network and the clock of `virtual`; a
mistake inside any of them fails the run, since nobody would see it in a log; and who is killed says nothing to anybody.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from string import ascii_uppercase
from typing import Any, TypeVar

from antecede.core.machine import Settings
from antecede.errors import InputError
from antecede.live.broker import Broker
from antecede.live.client import Client, connect
from antecede.live.inbox import Fate
from antecede.live.timing import SETTINGS
from antecede.live.virtual import VirtualLoop, VirtualNetwork

__all__ = ["LocalCluster"]

NAMES = tuple(f"{first}{second}".strip() for first in (" ", "A", "B") for second in ascii_uppercase)[:64]
"""A, B, ... Z, AA, AB, ...: as many as fit one process."""

T = TypeVar("T")


class LocalCluster:
    """Brokers A, B, C, ... and clients in one process, on a virtual clock and a network that loses as it is told to."""

    def __init__(
        self,
        brokers: int = 1,
        *,
        loss: float = 0.0,
        duplicate: float = 0.0,
        delay_s: tuple[float, float] = (0.0005, 0.002),
        seed: int = 0,
        table: dict[str, list[str]] | None = None,
        records: str | None = None,
        settings: Settings = SETTINGS,
    ) -> None:
        """`loss`, `duplicate`: of datagrams between brokers, as probabilities. `delay_s`: how long everything is on its
        way, drawn between two bounds; so datagrams overtake each other. `table`: as for a broker. `records`: a
        directory for `antecede check`. `settings`: of the brokers' machines."""
        if not 1 <= brokers <= len(NAMES):
            raise InputError(f"A cluster in memory has 1 to {len(NAMES)} brokers, not {brokers}.")
        self.network = VirtualNetwork(loss=loss, duplicate=duplicate, delay_s=delay_s, seed=seed)
        self.brokers: dict[str, Broker] = {}
        """The brokers that run, by the name they were started under."""
        self._count = brokers
        self._table, self._records, self._settings = table, records, settings
        self._ports: dict[str, int] = {}
        self._state = ""
        """Where brokers remember their lives: one that comes back alone could not be told."""
        self._clients = 0
        self._faults: list[BaseException] = []

    def run(self, scenario: Callable[[LocalCluster], Awaitable[T]]) -> T:
        """Start the brokers, carry out the scenario, an `async def`, stop the brokers. An hour in it takes no time
        outside; what might never come is waited for with `inbox.get(60)` or `asyncio.timeout(60)`: virtual seconds."""
        with tempfile.TemporaryDirectory() as self._state, asyncio.Runner(loop_factory=VirtualLoop) as runner:
            result = runner.run(self._run(scenario))
        if self._faults:
            raise self._faults[0]
        return result

    async def _run(self, scenario: Callable[[LocalCluster], Awaitable[T]]) -> T:
        asyncio.get_running_loop().set_exception_handler(self._failed)
        for name in NAMES[: self._count]:
            await self.start(name)
        await asyncio.sleep(1.0)  # until all know each other
        try:
            return await scenario(self)
        finally:
            for broker in reversed(list(self.brokers.values())):
                await broker.stop()

    def _failed(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        fault = context.get("exception")
        self._faults.append(fault if isinstance(fault, BaseException) else RuntimeError(context["message"]))

    async def start(self, name: str) -> Broker:
        """One more broker, or one that comes back."""
        join = [broker.url for broker in self.brokers.values()]
        listen = f"127.0.0.1:{self._ports.setdefault(name, 7400 + len(self._ports))}"  # who comes back is where it was
        broker = Broker(
            listen, name=name, join=join, table=self._table, records=self._records, state=self._state,
            network=self.network, settings=self._settings,
        )  # fmt: skip
        await broker.start()
        self.brokers[name] = broker
        return broker

    def kill(self, name: str) -> None:
        """A broker crashes: it says nothing, and its connections break."""
        self.brokers.pop(self._running(name)).crash()

    def _running(self, name: str) -> str:
        if name not in self.brokers:
            raise InputError(f"No broker {name!r} runs here: there are {', '.join(self.brokers) or 'none'}.")
        return name

    def connect(
        self,
        name: str | None = None,
        *,
        at: str | None = None,
        on_state: Callable[[str, str], None] | None = None,
        on_fate: Callable[[Fate], None] | None = None,
    ) -> Client:
        """A client, as `antecede.connect` makes one. `at`: the broker it calls first; left out, each calls another."""
        self._clients += 1
        names = list(self.brokers)
        if not names:
            raise InputError("No broker runs here any more: await cluster.start(name) first.")
        first = names.index(self._running(at)) if at is not None else self._clients % len(names)
        urls = [self.brokers[one].url for one in (*names[first:], *names[:first])]
        return connect(
            *urls, name=name or f"c{self._clients}", records=self._records, on_state=on_state, on_fate=on_fate,
            network=self.network,
        )  # fmt: skip
