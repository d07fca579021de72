"""One client process: its machine, its link to a home, its turns, its beginning and its end.

Decided here: a client exists once its first broker has welcomed it, under the name, by the clock and with the table
that broker says; whenever it is connected to another broker it moves there and asks it who is there; and when the
machine itself wants another home, the connection follows. What an application does with it is in `client`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable, Iterator, Sequence
from typing import ParamSpec

from antecede.core.effects import Effect, Expelled
from antecede.core.entries import Entries
from antecede.core.home.client import Client as ClientMachine
from antecede.core.home.frontier import Frontier
from antecede.core.machine import Peer
from antecede.core.membership.news import split_name
from antecede.core.membership.wrapper import Managed
from antecede.core.recipes import build
from antecede.errors import EnvironmentFault, InputError
from antecede.live.address import Address, nobody_at, parse_address, stranger_at, text_of
from antecede.live.calling import Answered
from antecede.live.keys.rights import Rights
from antecede.live.link import Link
from antecede.live.message import read_content
from antecede.live.network import Network
from antecede.live.node import Node
from antecede.live.records import Records, load_arrow
from antecede.live.session import Welcome
from antecede.live.timing import CLIENT_SETTINGS, PROBING

__all__ = ["Connection"]

log = logging.getLogger("antecede.client")

P = ParamSpec("P")

FIRST_S = 5.0
"""How long the first broker is looked for before `connect` gives up."""


class Connection:
    def __init__(
        self,
        addresses: list[Address],
        name: str,
        records: str | None,
        on_state: Callable[[str, str], None] | None,
        network: Network,
        tls: ssl.SSLContext | None = None,
        token: Callable[[], str] = str,
    ) -> None:
        self._addresses = addresses
        self._directory = records
        self._on_state = on_state
        self.clock = network.clock()
        self._dice = network.dice(name)
        self.clock_bound_us = 0
        """How far this client's clock may be from its first broker's."""
        self.closed = False
        self.state = "away"
        self.attached = False
        """Whether it has to be at some broker: it publishes, or subscribes."""
        self._link = Link(
            network, self.clock, name, places=self._places, on_linked=self._linked, on_away=self._away,
            on_published=self.published, on_final=self._refused, accepts=self._accepts, tls=tls, token=token,
        )  # fmt: skip
        self._told: dict[str, str] = {}
        """Which brokers there are and where, as the last one that answered said."""
        self._secure = tls is not None
        self.rights: Rights | None = None
        """What this client's token lets it do, as its broker said; None: nobody asked for one."""
        self.limits = (0, 0)
        """Bytes of a message and filters at a time; 0: as many as there can be."""
        self._node: Node | None = None
        self._machine: ClientMachine | None = None
        """What is inside the node, as long as there is one."""
        self._records: Records | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._frontier: Frontier | None = None
        """Where the last life of this client ended, until the next one has begun."""

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._link.name

    @property
    def home(self) -> str | None:
        """The broker it is attached to."""
        return self.machine.home if self._node is not None else None

    @property
    def refusal(self) -> str:
        """Why no broker will have this client any more; empty while some may."""
        return self._link.refusal if self._link.is_final else ""

    @property
    def node(self) -> Node:
        if self.closed:
            raise InputError(f"This node is closed: {self.refusal or 'connect again.'}")
        if self._frontier is not None:
            raise EnvironmentFault("This node is beginning again after it was taken for dead: try in a moment.")
        if self._node is None:
            raise InputError("This node is not connected: use it inside `async with antecede.connect(...) as node`.")
        return self._node

    @property
    def managed(self) -> Managed:
        machine = (self._node or self.node).machine  # `node` says why there is none
        assert isinstance(machine, Managed)
        return machine

    @property
    def machine(self) -> ClientMachine:
        if self._machine is None:
            self.node  # noqa: B018 - says why there is none
            raise AssertionError("a node without a machine")
        return self._machine

    # -- what an application adds ----------------------------------------------------------------------------------

    def published(self, ids: Sequence[str]) -> None:
        """Publications are safe now."""

    def said(self, effect: Effect) -> None:
        """The machine says something that is no frame."""

    def turned(self) -> None:
        """The machine has finished a turn."""

    def interrupted(self) -> None:
        """The machine is gone, another one will go on from its frontier."""

    def resumed(self) -> None:
        """The machine has begun."""

    def ended(self) -> None:
        """Nothing is received or sent any more."""

    # -- the beginning ---------------------------------------------------------------------------------------------

    async def open(self) -> None:
        if self._directory is not None:
            load_arrow()
        self._keeping = asyncio.create_task(self._link.keep())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FIRST_S):
                await self.until(lambda: self._link.is_final or self._has_begun())
        if not self._has_begun():
            await self.stop()
            raise EnvironmentFault(self._link.refusal or self._why_nobody())
        self._watching = asyncio.create_task(self._watch())

    def _why_nobody(self) -> str:
        if self._link.stranger is None:
            return nobody_at(self._addresses)
        return stranger_at(self._link.stranger, secure=self._secure)

    def _accepts(self, said: Welcome) -> bool:
        """Whether it can be the home of this client: it carries what is wanted."""
        self._told = dict(said.brokers)
        if self._node is None or not self.attached or not self.managed.filters:
            return True
        groups = self.managed.groups
        assert isinstance(groups, Entries)
        if groups.carrying({said.broker: groups.carried_by(said.broker)}, self.managed.filters):
            return True
        log.info("%s: %s does not carry %s", self.name, said.broker, ", ".join(self.managed.filters))
        return False

    def _has_begun(self) -> bool:
        return self._node is not None and self.managed.begun

    def _linked(self, answered: Answered) -> None:
        said = answered.welcome
        self.rights, self.limits = said.rights, (said.size, said.subscriptions)
        if self._node is None:
            self.clock_bound_us = answered.adopt_clock(self.clock)
            self._begin(said.name, said.run, Entries(said.table), said.broker, said.brokers.get(said.broker, ""))
        else:
            node = self._node
            node.tell(lambda now_us: self.managed.contact((said.broker,), now_us))
            if not self.attached:
                self.managed.detector.say(at=(said.broker,))
            elif self.managed.at != (said.broker,):
                node.move((said.broker,))
        self._say_state("connected", said.broker)

    def _begin(self, name: str, run: str, table: Entries, broker: str, site: str) -> None:
        inner = build(
            "home", "repaired", name=name, role="subscriber", groups=(), settings=CLIENT_SETTINGS, dice=self._dice,
            table=table, read=read_content,
        )  # fmt: skip
        assert isinstance(inner, ClientMachine)
        self._machine = inner
        self._link.site = f"{self.clock.now_us():014x} {broker}"
        me = Peer(name, "subscriber", (), self._link.site)
        there = Peer(broker, "broker", table.carried_by(broker), site)
        machine = Managed(inner, me, PROBING, self._dice, single=True, groups=table)
        self._records = None if self._directory is None else Records(self._directory, name)
        self._node = Node(
            machine, self._link, run=run, records=self._records, on_effect=self._heard, on_turn=self._wake,
            clock=self.clock,
        )  # fmt: skip
        machine.detector.say(at=(broker,))  # others need not look after it
        if self._frontier is not None:
            self._node.note("restart")
            self.machine.application.resume(self._frontier)
        self._node.start({name: me, broker: there}, joining=True)

    def _begin_again(self, by: str) -> None:
        """Brokers took this client for dead, or its name has a later life. In the first case the client goes on where
        it was, under its next name; in the second, any broker that it asks tells it."""
        if self.closed or self._node is None:
            return
        base, life = split_name(self.name)
        log.warning(
            "%s was declared dead by %s, or another client has its name: it tries to go on where it was", self.name, by
        )
        frontier = self.machine.application.frontier()
        self.interrupted()
        self._node.close("expelled", kind="crash")
        self._close_records()
        self._node, self._frontier = None, frontier
        self._link.begin_again(base, life)

    async def begin_behind(self, frontier: Frontier) -> None:
        """The broker that welcomed this client had not heard of the life that this frontier is of, and gave it a name
        that was used before. It has done nothing under it: it asks for a later one."""
        base, life = split_name(frontier.process)
        assert self._node is not None
        self._node.abandon()
        self._close_records()
        self._node, self._frontier = None, frontier
        self._link.begin_again(base, life)
        await self.until(lambda: self.closed or self._frontier is None)

    def _refused(self) -> None:
        """No broker will have it: while it is being opened that is said there."""
        self._changed.set()
        if self._watching is not None:
            self.end()

    def _away(self, broker: str) -> None:
        if not self.closed:
            self._say_state("away", broker)

    def _say_state(self, state: str, broker: str) -> None:
        self.state = state
        log.info("%s: %s%s", self.name, state, broker and f" ({broker})")
        if self._on_state is not None:
            self.call_back(self._on_state, state, broker)
        self._changed.set()

    def call_back(self, callback: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        """Tell the application. A mistake of its own ends neither this turn nor the connection."""
        try:
            callback(*args, **kwargs)
        except Exception:
            log.exception("%s: a callback of the application failed", self.name)

    def _places(self) -> Iterator[tuple[str, Address]]:
        """The brokers to call, the best first: the home, others that carry what this client wants, others, the
        addresses given."""
        if self._node is not None:
            managed = self.managed
            there = managed.brokers()
            sites = {n.name: n.site for n in managed.table.present() if n.name in there and n.site}
            good = set(managed.groups.carrying(there, managed.filters))
            others = [name for name in sites if name not in managed.at]
            self._dice.shuffle(others)
            others.sort(key=lambda name: name not in good)
            for name in (*(name for name in managed.at if name in sites), *others):
                yield name, parse_address(sites[name], beyond_loopback=self._secure)
            for name, site in self._told.items():
                yield name, parse_address(site, beyond_loopback=self._secure)
        for address in self._addresses:
            yield text_of(address), address

    # -- turns -----------------------------------------------------------------------------------------------------

    def attach(self, filters: Sequence[str]) -> None:
        """Attach, or say that something else is wanted now."""
        at = self.managed.at or (self._link.peer or next(iter(self.managed.brokers()), ""),)
        if set(at).isdisjoint(self.managed.groups.carrying(self.managed.brokers(), filters)):
            at = self._elsewhere(filters) or at
        self.attached = True
        self.node.subscribe(filters, at)

    def carried(self, filters: Sequence[str]) -> bool:
        """Whether some broker is there that carries them."""
        return bool(self.managed.groups.carrying(self.managed.brokers(), filters))

    def _elsewhere(self, filters: Sequence[str]) -> tuple[str, ...]:
        """Another broker, one that carries these filters."""
        carriers = self.managed.groups.carrying(self.managed.brokers(), filters)
        return (self._dice.choice(carriers),) if carriers else ()

    def _heard(self, effect: Effect) -> None:
        if isinstance(effect, Expelled):
            asyncio.get_running_loop().call_soon(self._begin_again, effect.by)
        else:
            self.said(effect)

    def _wake(self) -> None:
        """The machine has done something: whoever waits looks again."""
        self._changed.set()
        if self._frontier is not None and self.managed.begun:
            self._frontier = None
            self.resumed()
        self.turned()
        at, peer = self.managed.at, self._link.peer
        if at and peer is not None and at[0] != peer:
            self._link.go_elsewhere()

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _watch(self) -> None:
        """A client that hears of no process asks the broker it is connected to for the view."""
        while not self.closed:
            await asyncio.sleep(PROBING.period_us / 1e6)
            peer, node = self._link.peer, self._node
            if peer is None or self.closed or node is None:
                continue
            if not self.managed.begun or self.managed.alone():
                node.tell(lambda now_us, peer=peer: self.managed.contact((peer,), now_us))  # type: ignore[misc]

    # -- the end ---------------------------------------------------------------------------------------------------

    def _close_records(self) -> None:
        if self._records is not None:
            self._records.close()
            self._records = None

    async def stop(self) -> None:
        self.end()
        for task in (self._keeping, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def end(self) -> None:
        if self.closed:
            return
        self.closed = True
        if self._node is not None:
            expelled = self.managed.detector.expelled_by is not None
            self._node.close("expelled" if expelled else "left", kind="crash")
        self._link.shut()
        self._close_records()
        self.ended()
        self._say_state("closed", "")
