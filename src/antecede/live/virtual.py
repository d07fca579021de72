"""Time and network without either: an event loop whose clock moves when nothing is left to do, and a network in memory.

Decided here: waiting costs nothing, since the clock leaps to the next timer; datagrams take a drawn time and may be
lost, connections keep their order and lose nothing, as UDP and TCP do; and all that is drawn comes from one seed, so
that a failure can be repeated.
"""

from __future__ import annotations

import asyncio
import random
import selectors
import ssl
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from antecede.errors import EnvironmentFault, InputError
from antecede.live.address import Address
from antecede.live.arriving import Arriving
from antecede.live.faults import Faults
from antecede.live.hub import Datagrams
from antecede.live.network import Place
from antecede.live.node import Clock
from antecede.live.session import Session
from antecede.live.transport import DatagramSender, Received

if TYPE_CHECKING:
    from antecede.live.keys.protection import Protection

__all__ = ["VirtualClock", "VirtualLoop", "VirtualNetwork"]

BEGINNING_US = 1_700_000_000_000_000
"""What the wall says when a virtual clock begins: some moment in 2023, always the same."""


class _Leaping(selectors.BaseSelector):
    """Waits for nothing: instead of blocking it moves the clock."""

    def __init__(self) -> None:
        self._real = selectors.DefaultSelector()
        self.now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None:  # no timer at all: only another thread can wake this loop
            return self._real.select(1.0)
        self.now_s += timeout
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()


class VirtualLoop(asyncio.SelectorEventLoop):
    """As any event loop, but `asyncio.sleep(3600)` returns at once, an hour later."""

    def __init__(self) -> None:
        self._leaping = _Leaping()
        super().__init__(self._leaping)

    def time(self) -> float:
        return self._leaping.now_s


class VirtualClock(Clock):
    """The loop's clock, as microseconds since the epoch."""

    def __init__(self) -> None:
        super().__init__(BEGINNING_US)

    def now_us(self) -> int:
        return self.base_us + round(asyncio.get_running_loop().time() * 1e6)

    lasting_us = now_us


class VirtualDatagrams(DatagramSender):
    def __init__(self, name: str, address: Address, network: VirtualNetwork) -> None:
        super().__init__(name, network.faults)
        self.address = address
        self.where: Callable[[str], Address | None] = lambda name: None
        self._network = network
        self._known: dict[str, Address] = {}
        self._arriving = Arriving(self)
        self._on_batch: Callable[[Received], None] | None = None

    def open(self, on_batch: Callable[[Received], None]) -> None:
        self._on_batch = on_batch

    def close(self) -> None:
        self._arriving.close()
        self._on_batch = None
        self._network.places.pop(self.address, None)

    def skip(self) -> None:
        """What is on its way comes later."""

    def _post(self, peer: str, datagram: bytes) -> bool:
        address = self._known.get(peer) or self.where(peer)
        if address is None:
            return False
        self._network.post(address, datagram, self.address)
        return True

    def take(self, datagram: bytes, source: Address) -> None:
        if self._on_batch is None:
            return
        batch: Received = []
        sender = self._arriving.take(memoryview(datagram), batch)
        if sender is not None:
            self._known[sender] = source
        if batch:
            self._on_batch(batch)


class VirtualPipe:
    """One direction of a connection: what is written arrives later, in order."""

    def __init__(self, network: VirtualNetwork, to: Session) -> None:
        self._network, self._to = network, to
        self.other: VirtualPipe | None = None
        self._closed = False
        self._last_s = 0.0

    def write(self, data: bytes, /) -> None:
        if not self._closed:
            self._arrive(lambda: self._to.data_received(data) if self._to.is_open else None)

    def _arrive(self, act: Callable[[], object]) -> None:
        loop = asyncio.get_running_loop()
        self._last_s = max(self._last_s + 1e-6, loop.time() + self._network.draw_delay_s())
        loop.call_at(self._last_s, act)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._arrive(lambda: self._to.connection_lost(None))
            if self.other is not None and not self.other._closed:
                self.other._closed = True
                asyncio.get_running_loop().call_soon(self.other._to.connection_lost, None)

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self._closed

    def pause_reading(self) -> None:
        """Nothing is to be paused: in virtual time no writer is too fast."""

    resume_reading = pause_reading


class VirtualPlace:
    def __init__(self, network: VirtualNetwork, address: Address, datagrams: VirtualDatagrams) -> None:
        self.address = address
        self.datagrams: Datagrams = datagrams
        self._network = network

    def close(self) -> None:
        self._network.servers.pop(self.address, None)


class VirtualNetwork:
    def __init__(
        self,
        *,
        loss: float = 0.0,
        duplicate: float = 0.0,
        delay_s: tuple[float, float] = (0.0005, 0.002),
        seed: int = 0,
    ) -> None:
        """`loss`, `duplicate`: of datagrams, as probabilities. Delays that differ also let them overtake each other."""
        if not 0 <= loss < 1 or not 0 <= duplicate <= 1:
            raise InputError(f"loss is from 0 to below 1 and duplicate from 0 to 1, not {loss} and {duplicate}.")
        if not 0 <= delay_s[0] <= delay_s[1]:
            raise InputError(f"delay_s is two numbers of seconds, the smaller first, not {delay_s}.")
        self.seed = seed
        self.faults = Faults(loss=loss, seed=seed)
        self._duplicate = duplicate
        self._delay_s = delay_s
        self._dice = random.Random(f"{seed} network")
        self._port = 7399
        self.places: dict[Address, VirtualDatagrams] = {}
        self.servers: dict[Address, Callable[[], Session]] = {}

    def clock(self) -> Clock:
        return VirtualClock()

    def dice(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def draw_delay_s(self) -> float:
        return self._dice.uniform(*self._delay_s)

    def post(self, address: Address, datagram: bytes, source: Address) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(2 if self._duplicate and self._dice.random() < self._duplicate else 1):
            loop.call_later(self.draw_delay_s(), self._carry, address, datagram, source)

    def _carry(self, address: Address, datagram: bytes, source: Address) -> None:
        there = self.places.get(address)
        if there is not None:
            there.take(datagram, source)

    async def listen(
        self, name: str, address: Address, make: Callable[[], Session], protection: Protection | None = None
    ) -> Place:
        if protection is not None:
            raise InputError("A network in memory has no outside: use it without keys.")
        if address[1] == 0:
            self._port += 1
            address = (address[0], self._port)
        if address in self.places:
            raise EnvironmentFault(f"cannot listen on {address[0]}:{address[1]}: somebody does already")
        datagrams = self.places[address] = VirtualDatagrams(name, address, self)
        self.servers[address] = make
        return VirtualPlace(self, address, datagrams)

    async def call(self, address: Address, session: Session, tls: ssl.SSLContext | None = None) -> None:
        await asyncio.sleep(self.draw_delay_s())
        make = self.servers.get(address)
        if make is None:
            raise ConnectionRefusedError(f"nobody listens on {address[0]}:{address[1]}")
        there = make()
        to_there, to_here = VirtualPipe(self, there), VirtualPipe(self, session)
        to_there.other, to_here.other = to_here, to_there
        there.connection_made(to_here)
        session.connection_made(to_there)
