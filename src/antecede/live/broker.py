"""A broker on a network: the `home` machine inside membership, its port, its clients, its beginning and its end.

Decided here: a broker asks the addresses it was told to join who is there, and takes over their execution's name and
clock; a name that was used before comes back as its next incarnation, and a name that somebody else has is refused. A
broker that others have declared dead begins again under its next name, behind the same port, and takes over what it
had (`core/begin/joining.py`; after a long silence not all of it: `live/silence.py`). One that is told to stop sends its
clients elsewhere, waits until nothing that it accepted is only here, and says good-bye. Example: A is the only broker,
and 2,000 messages wait there for Bob, who reads slowly. A takes no more publications, waits until Bob has what waits
for him, at most `drain`, and warns of what is left; the next broker at this address gets from Ann what A did not take.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from antecede.core.effects import Effect, Expelled
from antecede.core.entries import REPLIES, Entries, with_replies
from antecede.core.frames import Snapshot
from antecede.core.home.broker import HomeBroker
from antecede.core.machine import Peer, Settings
from antecede.core.membership.news import split_name
from antecede.core.membership.wrapper import Managed
from antecede.core.message import Message
from antecede.core.names import check_process
from antecede.core.recipes import build
from antecede.errors import EnvironmentFault, InputError
from antecede.live.address import Address, parse_address, text_of, url_of
from antecede.live.calling import Turned
from antecede.live.http import Pages
from antecede.live.hub import Hub
from antecede.live.keys.limits import Limits
from antecede.live.keys.needed import protection_for
from antecede.live.message import read_content
from antecede.live.network import Network, Place, SocketNetwork
from antecede.live.node import Clock, Node
from antecede.live.reception import Reception
from antecede.live.records import Records, load_arrow
from antecede.live.session import Welcome
from antecede.live.silence import Silence
from antecede.live.state import State, remember, remembered
from antecede.live.strangers import Strangers
from antecede.live.tally import Tally
from antecede.live.timing import PROBING, SETTINGS, machine_id, run_name
from antecede.live.visiting import visit

if TYPE_CHECKING:
    from antecede.live.mqtt.door import Door

__all__ = ["Broker"]

log = logging.getLogger("antecede.broker")

JOIN_S = 3.0
"""How long the addresses to join are tried before a broker begins alone."""
CLOCKS = 4
"""Periods of pings after which another broker's clock is asked for. Raising it makes offsets older, costs no frames."""
DRAIN_S = 5.0
"""How long a broker that stops waits for its clients to go and for others to have what it accepted."""


_EVER_US = 2**62


class Broker:
    def __init__(
        self,
        listen: str = "127.0.0.1:7400",
        *,
        name: str | None = None,
        join: str | Sequence[str] = (),
        table: Mapping[str, Sequence[str]] | None = None,
        records: str | None = None,
        http: int | None = None,
        mqtt: int | None = None,
        state: str | None = None,
        network: Network | None = None,
        keys: str | Path | None = None,
        advertise: str | None = None,
        limits: Limits | None = None,
        settings: Settings = SETTINGS,
    ) -> None:
        """Port 0: the system chooses. `start` binds it; `address` says which. `join`: the addresses of brokers to join,
        or one. `table`: filter -> the brokers that carry
        it (none named: all of them), the same at every broker; left out, all carry every topic. All carry replies,
        unless it says who does. `state`: a directory where a broker at a fixed port remembers its lives. `keys`: a
        directory that `antecede keys` made; beyond the loopback there must be one. `advertise`: how others call it, if
        not by the address it listens on. `limits`: of each client, where there are keys. `settings`: of its machine,
        the same at every broker."""
        self.listen = parse_address(listen, beyond_loopback=True)
        self.advertise = parse_address(advertise, beyond_loopback=True) if advertise else None
        self.seeds = [parse_address(one, beyond_loopback=True) for one in ([join] if isinstance(join, str) else join)]
        self.entries = Entries(with_replies(table))
        if name is not None:
            check_process(name)
            if split_name(name)[1]:
                raise InputError(f"{name!r} ends like an incarnation: name the broker {split_name(name)[0]!r}.")
        self.asked_name = name
        self.settings = settings
        self.network = network or SocketNetwork()
        self.clock: Clock = self.network.clock()
        self.protection = protection_for(self, keys, limits or Limits())
        self.run = ""
        self.directory = records
        self._open = False
        self.stopping = False
        self.tally = Tally()
        self.strangers = Strangers()
        self.offsets: dict[str, tuple[int, int]] = {}
        """By how many microseconds the clocks of other brokers are ahead, and how wrong that may be."""
        self._adrift: set[str] = set()
        """The brokers whose clocks are further off than the bound, as the log has said."""
        self.http_port = http
        self.mqtt_port = mqtt
        self.door: Door | None = None if mqtt is None else _door(self)
        self.state_directory = state
        self.pages = Pages(self)
        self._place: Place | None = None
        self._hub: Hub | None = None
        self._node: Node | None = None
        self._records: Records | None = None
        self._watching: asyncio.Task[None] | None = None
        self._refusals: dict[Address, str] = {}
        """Why brokers to join refuse, as the log has said."""
        self._others: set[str] = set()
        """The other brokers that the log has told of."""

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def address(self) -> Address:
        """How others call it."""
        assert self._place is not None, "not started"
        if self.advertise is None:
            return self._place.address
        return self.advertise[0], self.advertise[1] or self._place.address[1]

    @property
    def url(self) -> str:
        return url_of(self.address, secure=self.protection is not None)

    @property
    def hub(self) -> Hub:
        assert self._hub is not None, "not started"
        return self._hub

    @property
    def node(self) -> Node:
        assert self._node is not None, "not started"
        return self._node

    @property
    def managed(self) -> Managed:
        assert isinstance(self.node.machine, Managed)
        return self.node.machine

    @property
    def machine(self) -> HomeBroker:
        assert isinstance(self.managed.inner, HomeBroker)
        return self.managed.inner

    @property
    def name(self) -> str:
        return self.node.machine.name

    @property
    def receives(self) -> bool:
        """Whether it has begun and is not about to stop."""
        return self._node is not None and not self.stopping

    @property
    def ready(self) -> bool:
        """Whether it takes clients and has taken over what other brokers keep, so that another one may be stopped."""
        return self._open and self.machine.joined

    # -- beginning -------------------------------------------------------------------------------------------------

    async def start(self) -> None:
        if self.directory is not None:
            load_arrow()
        base = self.asked_name or (f"b{self.listen[1]}" if self.listen[1] else "b0")
        self._place = await self.network.listen(base, self.listen, Reception(self).session, self.protection)
        if self.asked_name is None:
            base = f"b{self._place.address[1]}"
        self._dice = self.network.dice(base)
        self._hub = Hub(self._place.datagrams)
        self._silence = Silence(
            self.clock.lasting_us, (self.settings.remember_us or _EVER_US) // 2,
            lambda: {*self.machine.store.by_id, *self.machine.inbox.held},
            lambda: [envelope.message.id for envelope in self.machine.unsafe()],
        )  # fmt: skip
        self._hub.on_brokers = self._silence.heard
        self._hub.guard = None if self.protection is None else self.protection.guard
        self._place.datagrams.where = self.where
        try:
            if self.http_port is not None:
                await self.pages.open(self.http_port)
            if self.door is not None and self.mqtt_port is not None:
                await self.door.open(self.listen[0], self.mqtt_port)
            past = self._recall(base)
            name, contacts = await self._find_others(base)
            name = max(name, f"{base}.{past}" if past else base, key=lambda one: split_name(one)[1])
            self._begin(name, contacts, restarted=False)
        except BaseException:
            self.pages.close()
            if self.door is not None:
                self.door.abort()
            self._place.close()
            self._hub.shut()
            raise
        self._watching = asyncio.create_task(self._watch())
        log.info("broker %s listens on %s", self.name, self.url)
        log.info("run %s", self.run)

    def _recall(self, base: str) -> int:
        """Which life of its name this broker has at least; the run and the clock of the last one go on."""
        if (known := remembered(self.state_directory, base, self.listen[1])) is None:
            return 0
        self.run = known.run
        if known.same_clock_us is not None:
            self.clock.base_us = known.same_clock_us
        return known.life + 1

    async def _find_others(self, base: str) -> tuple[str, dict[str, str]]:
        """What this broker is called, and whom it may ask who is there: name -> address."""
        loop = asyncio.get_running_loop()
        seeds = [seed for seed in self.seeds if seed != self.address]
        until_s = loop.time() + JOIN_S
        while seeds:
            for seed in seeds:
                try:
                    said = await self._visit(seed, base)
                except (OSError, TimeoutError) as fault:
                    log.debug("nobody answers at %s: %s", text_of(seed), fault)
                    continue
                except Turned as refusal:
                    if refusal.final:
                        raise InputError(str(refusal)) from None
                    continue
                return said.name, {said.broker: text_of(seed), **said.brokers}
            if loop.time() > until_s:
                log.warning("nobody answers at %s: begin alone", ", ".join(map(text_of, seeds)))
                break
            await asyncio.sleep(0.2)
        self.run = self.run or run_name()
        return base, {}

    async def _visit(self, seed: Address, name: str) -> Welcome:
        answered = await visit(self, seed, name, fresh=self._node is None)
        answered.session.close()
        if self._node is None:
            self.run = answered.welcome.run
            bound_us = answered.adopt_clock(self.clock)
            log.info("took over the clock of %s, within %d us", answered.welcome.broker, bound_us)
        elif answered.welcome.broker != self.name:
            self._compared_clock(answered.welcome.broker, *answered.offset_us())
        return answered.welcome

    def _begin(
        self, name: str, contacts: dict[str, str], *, restarted: bool, legacy: Snapshot | None = None, earlier: str = ""
    ) -> None:
        """A new machine under this name, empty but for what its earlier incarnation had."""
        site, carried = text_of(self.address), self.entries.carried_by(name)
        if set(self.entries.filters(carried)) <= {REPLIES}:
            log.warning(
                "%s carries nothing: no entry of the table names it. The table names %s: start it with --name, or add "
                "it to an entry at every broker", name, ", ".join(sorted(set(chain(*self.entries.table.values())))),
            )  # fmt: skip
        settings = self.settings if self.protection is None else self.protection.settings(self.settings)
        inner = build(
            "home", "repaired", name=name, role="broker", groups=carried, settings=settings, dice=self._dice,
            table=self.entries, read=read_content,
        )  # fmt: skip
        me = Peer(name, "broker", carried, site)
        machine = Managed(inner, me, PROBING, self._dice, groups=self.entries)
        self.hub.rename(name)
        self._records = None if self.directory is None else Records(self.directory, name)
        self._node = Node(
            machine, self.hub, run=self.run, records=self._records, on_deliver=self._delivered, on_effect=self._said,
            clock=self.clock,
        )  # fmt: skip
        if split_name(name)[1]:
            self._node.note("restart")
        if legacy is not None:
            self.machine.joining.inherit(legacy, earlier)
            self._node.note_legacy(legacy, earlier)
        others = {
            other: Peer(other, "broker", self.entries.carried_by(other), where)
            for other, where in contacts.items()
            if other != name
        }
        self._seed_sites = {other: self._parsed(peer.site) for other, peer in others.items()}
        self._node.start({name: me, **others}, joining=bool(others) or restarted)
        state = State(*split_name(name), self.run, machine_id(), self.clock.base_us)
        remember(self.state_directory, self.listen[1], state)
        self._open = True
        if self.door is not None:
            self.door.begun()

    def where(self, name: str) -> Address | None:
        """Membership knows where brokers listen: each says so in the news of itself."""
        known = self.managed.table.entries.get(name) if self._node is not None else None
        if known is not None and known.site and known.role == "broker":
            return self._parsed(known.site)
        return self._seed_sites.get(name)

    def _parsed(self, site: str) -> Address:
        return parse_address(site, beyond_loopback=self.protection is not None)

    def _delivered(self, message: Message) -> None:
        self.tally.delivered(message, self.clock.now_us())
        if self.door is not None:
            self.door.delivered(message)

    def _said(self, effect: Effect) -> None:
        self.tally.said(effect)
        if isinstance(effect, Expelled) and not self.stopping:
            asyncio.get_running_loop().call_soon(self._begin_again, effect.by)

    def _begin_again(self, by: str) -> None:
        """The other brokers go on without this one: it begins again as a newcomer, and its clients with it."""
        earlier, legacy = self.name, self._silence.rest(self.machine.joining.bequeath())
        base, life = split_name(earlier)
        others = {n.name: n.site for n in self.managed.table.present() if n.role == "broker" and n.name != self.name}
        name = f"{base}.{life + 1}"
        log.warning("%s was declared dead by %s and begins again as %s", self.name, by, name)
        self._open = False
        self.node.close("expelled", kind="crash")
        self._close_records()
        self.hub.drop_clients()
        where = self.where(by)
        if where is not None:
            others[by] = text_of(where)
        self._begin(name, others, restarted=True, legacy=legacy, earlier=earlier)

    async def _watch(self) -> None:
        """What a driver does for membership: whoever is alone, or might be, asks the addresses it was given."""
        periods = 0
        while True:
            await asyncio.sleep(PROBING.period_us / 1e6)
            periods += 1
            if self.protection is not None:
                self.protection.look_again()
            self._tell_of_others()
            self._silence.look()
            managed = self.managed
            lonely = not managed.begun or managed.alone()
            if not periods % CLOCKS:
                await self._compare_clocks(periods // CLOCKS)
            if not self.seeds or (not lonely and periods % PROBING.sync):
                continue
            names = []
            for seed in [seed for seed in self.seeds if seed != self.address]:
                try:
                    said = await self._visit(seed, self.name)
                except (OSError, TimeoutError):
                    continue
                except Turned as refusal:
                    self._refused_by(seed, refusal)
                    continue
                self._refusals.pop(seed, None)
                if said.broker != self.name:
                    names.append(said.broker)
                    site = said.brokers.get(said.broker)
                    self._seed_sites[said.broker] = seed if site is None else self._parsed(site)
            if managed is self.managed and names:
                managed.met(names)
                if lonely:
                    self.node.tell(lambda now_us, names=tuple(names): self.managed.contact(names, now_us))  # type: ignore[misc]

    def _refused_by(self, seed: Address, refusal: Turned) -> None:
        """A broker to join has another table, or the like: said once, until it answers otherwise."""
        if refusal.final and self._refusals.get(seed) != str(refusal):
            self._refusals[seed] = str(refusal)
            log.warning("%s cannot join %s: %s", self.name, text_of(seed), refusal)

    def _tell_of_others(self) -> None:
        """Log which other brokers came and went since the last look."""
        there = {n.name for n in self.managed.table.present() if n.role == "broker" and n.name != self.name}
        for name in sorted(there - self._others):
            log.info("%s is here", name)
        for name in sorted(self._others - there):
            log.warning("%s is gone: it stopped, crashed or cannot be reached", name)
        self._others = there

    async def _compare_clocks(self, turn: int) -> None:
        """Ask one other broker what time it is, each in turn; of those that are gone nothing is kept."""
        present = self.managed.table.present()
        sites = {n.name: n.site for n in present if n.role == "broker" and n.name != self.name and n.site}
        self.offsets = {name: known for name, known in self.offsets.items() if name in sites}
        if sites:
            with contextlib.suppress(OSError, TimeoutError, Turned):
                await self._visit(self._parsed(sites[sorted(sites)[turn % len(sites)]]), self.name)

    def _compared_clock(self, name: str, offset_us: int, error_us: int) -> None:
        """Warn of a clock that is certainly further off than deadlines allow for, once, until it is within again."""
        self.offsets[name] = offset_us, error_us
        if abs(offset_us) - error_us <= self.settings.clock_bound_us:
            self._adrift.discard(name)
        elif name not in self._adrift:
            self._adrift.add(name)
            log.warning(
                "the clock of %s is %.1f ms %s this one's, more than %.1f ms, with which deadlines are kept: restart "
                "the broker whose clock is wrong, it takes over another's", name, abs(offset_us) / 1e3,
                "ahead of" if offset_us > 0 else "behind", self.settings.clock_bound_us / 1e3,
            )  # fmt: skip

    # -- the end ---------------------------------------------------------------------------------------------------

    async def stop(self, drain_s: float = DRAIN_S) -> None:
        """Hand the clients to others, wait until others have what was accepted here, say good-bye. Clients for which
        there is no other broker get what waits for them first."""
        if self._node is None or self.stopping:
            return
        if self.door is not None:
            await self.door.stop()
        self.stopping = True
        self._open = False
        assert self._place is not None and self._watching is not None
        self._watching.cancel()
        self._place.close()
        await self._drain(drain_s)
        self.node.tell(self.managed.leave)
        self.node.close("left", kind="crash")
        self._close_records()
        self.pages.close()
        self.hub.shut()
        log.info("%s has stopped", self.name)

    async def _drain(self, drain_s: float) -> None:
        """Wait until clients have gone elsewhere, or, where no other broker carries what a client wants, until that
        client has what waits for it here; and until others have what was accepted."""
        going = [client for client in self.hub.sessions if self._goes_elsewhere(client)]
        if self.machine.all_brokers:
            log.info("%s stops: %d clients are sent elsewhere", self.name, len(going))
        else:
            self.hub.takes_publications = False  # a publisher keeps them for whoever begins here next
        self.hub.say_leaving("it stops", going)
        until_s = asyncio.get_running_loop().time() + drain_s
        while self._is_needed() and asyncio.get_running_loop().time() < until_s:
            await asyncio.sleep(0.02)
        if self.machine.unsafe():
            log.warning("%d messages that only %s has are lost", len(self.machine.unsafe()), self.name)
        for client, count in self._waiting().items():
            log.warning(
                "%s has not acknowledged %d messages, which no other broker can send it: those that have not reached "
                "it are lost", client, count,
            )  # fmt: skip

    def _goes_elsewhere(self, client: str) -> bool:
        """Whether another broker carries what a client wants."""
        machine = self.machine
        others = {name: machine.members[name].groups for name in machine.all_brokers}
        known = machine.logs.get(client)
        return bool(self.entries.carrying(others, () if known is None else known.interest.filters))

    def _waiting(self) -> dict[str, int]:
        """How many messages wait for each client that can go to no other broker."""
        waiting = {client: one.top - one.acked for client, one in self.machine.logs.items() if one.acked < one.top}
        return {client: count for client, count in waiting.items() if not self._goes_elsewhere(client)}

    def _is_needed(self) -> bool:
        sessions = self.hub.sessions
        if self.machine.unsafe() or any(map(self._goes_elsewhere, sessions)):
            return True
        return any(client in sessions for client in self._waiting())

    def crash(self) -> None:
        """Stop at once and say nothing, as if the process had been killed: for tests."""
        assert self._place is not None and self._watching is not None
        self.stopping = True
        if self.door is not None:
            self.door.abort()
        self._watching.cancel()
        self._place.close()
        self.pages.close()
        self.node.close(None, kind="crash")
        self._close_records()
        self.hub.abort()
        self.strangers.abort()

    def _close_records(self) -> None:
        if self._records is not None:
            self._records.close()
            self._records = None

    async def __aenter__(self) -> Broker:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()


def _door(broker: Broker) -> Door:
    try:
        from antecede.live.mqtt.door import Door
    except ModuleNotFoundError as fault:
        raise EnvironmentFault(f"MQTT needs the package {fault.name}: pip install 'antecede[mqtt]'.") from None
    return Door(broker)
