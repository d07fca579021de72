"""A client on a network: what an application holds in its hand. `antecede.connect` makes one.

Decided here: a client exists once its first broker has welcomed it, under the name and by the clock that broker says;
it attaches when it first publishes or subscribes; publishing returns when the message is safe, or says that it was not
by its deadline; and whoever leaves says good-bye after what it published is safe. Everything about order, deadlines and
moving from broker to broker is the machine's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from antecede.core.client import Client as ClientMachine
from antecede.core.effects import Discard, Effect, Expelled
from antecede.core.machine import Peer
from antecede.core.membership.managed import Managed
from antecede.core.message import Message as CoreMessage
from antecede.core.names import check_process
from antecede.core.recipes import build
from antecede.errors import EnvironmentFault, InputError
from antecede.live.address import Address, parse_address, text_of
from antecede.live.calling import Answered
from antecede.live.inbox import Inbox
from antecede.live.link import Link
from antecede.live.message import Message, check_topic, ids_of, pack_content, read_message
from antecede.live.network import Network, SocketNetwork
from antecede.live.node import Node
from antecede.live.records import Records
from antecede.live.timing import PROBING, SETTINGS
from antecede.live.when import deadline_of

__all__ = ["OUTBOX", "Client", "connect"]

log = logging.getLogger("antecede.client")

OUTBOX = 10_000
"""Messages published and not yet safe; then `publish_nowait` refuses and `publish` waits. Costs memory."""
FIRST_S = 5.0
"""How long the first broker is looked for before `connect` gives up."""
LEAVE_S = 5.0
"""How long a client that leaves waits until all it published is safe."""


def connect(
    *addresses: str,
    name: str | None = None,
    records: str | None = None,
    on_state: Callable[[str, str], None] | None = None,
    on_fate: Callable[[str, str], None] | None = None,
    network: Network | None = None,
) -> Client:
    """`async with antecede.connect("antecede://127.0.0.1:7400") as node:`

    `name`: what this client is called in ids (`name:1`); left out, one is made up. `records`: a directory to write what
    this client did, for `antecede check`. `on_state(state, broker)`: `connected`, `away`, `closed`. `on_fate(id,
    fate)`: called for every message that was not delivered here.
    """
    if name is not None:
        check_process(name)
    places = [parse_address(one) for one in addresses or ("antecede://127.0.0.1:7400",)]
    return Client(places, name or f"c{os.urandom(5).hex()}", records, on_state, on_fate, network or SocketNetwork())


class Client:
    def __init__(
        self,
        addresses: list[Address],
        name: str,
        records: str | None,
        on_state: Callable[[str, str], None] | None,
        on_fate: Callable[[str, str], None] | None,
        network: Network,
    ) -> None:
        self._addresses = addresses
        self._directory = records
        self._on_state, self._on_fate = on_state, on_fate
        self.clock = network.clock()
        self.clock_bound_us = 0
        """How far this client's clock may be from its first broker's."""
        self.closed = False
        self.state = "away"
        self._link = Link(
            network, self.clock, name, places=self._places, on_linked=self._linked, on_away=self._away,
            on_published=self._published,
        )  # fmt: skip
        self._node: Node | None = None
        self._records: Records | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._inboxes: list[Inbox] = []
        self._wanted = False
        """Whether it has to be attached: it publishes, or subscribes."""
        self._changed = asyncio.Event()
        self._safe: dict[str, asyncio.Future[None]] = {}
        self._fates: Counter[str] = Counter()

    # -- what it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        return self._link.name

    @property
    def home(self) -> str | None:
        """The broker it is attached to."""
        return self.machine.home if self._node is not None else None

    @property
    def node(self) -> Node:
        if self.closed or self._node is None:
            raise InputError("This node is closed: connect again." if self.closed else "Use it in `async with`.")
        return self._node

    @property
    def managed(self) -> Managed:
        assert self._node is not None and isinstance(self._node.machine, Managed)
        return self._node.machine

    @property
    def machine(self) -> ClientMachine:
        assert isinstance(self.managed.inner, ClientMachine)
        return self.managed.inner

    # -- the beginning ---------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Client:
        self._keeping = asyncio.create_task(self._link.keep())
        try:
            async with asyncio.timeout(FIRST_S):
                await self._until(lambda: self._node is not None and self.managed.begun)
        except TimeoutError:
            await self._stop()
            places = ", ".join(map(text_of, self._addresses))
            raise EnvironmentFault(
                self._link.refusal or f"No broker answers at {places}: start one with `antecede broker`."
            ) from None
        self._watching = asyncio.create_task(self._watch())
        return self

    def _linked(self, answered: Answered) -> None:
        said = answered.welcome
        if self._node is None:
            self.clock_bound_us = answered.adopt_clock(self.clock)
            self._begin(
                said.name, said.run, Peer(said.broker, "broker", tuple(said.carries), said.brokers[said.broker])
            )
        else:
            node = self._node
            node.tell(lambda now_us: self.managed.contact((said.broker,), now_us))
            if self._wanted and self.managed.at != (said.broker,):
                node.move((said.broker,))
        self._say_state("connected", said.broker)

    def _begin(self, name: str, run: str, broker: Peer) -> None:
        dice = random.Random()
        inner = build("home", "repaired", name=name, role="subscriber", groups=(), settings=SETTINGS, dice=dice)
        me = Peer(name, "subscriber", ())
        self._records = None if self._directory is None else Records(self._directory, name)
        self._node = Node(
            Managed(inner, me, PROBING, dice, single=True), self._link, run=run, records=self._records,
            on_deliver=self._delivered, on_effect=self._said, on_turn=self._wake, clock=self.clock,
        )  # fmt: skip
        self._node.start({name: me, broker.name: broker}, joining=True)

    def _away(self, broker: str) -> None:
        if not self.closed:
            self._say_state("away", broker)

    def _say_state(self, state: str, broker: str) -> None:
        self.state = state
        log.info("%s: %s (%s)", self.name, state, broker)
        if self._on_state is not None:
            self._on_state(state, broker)
        self._changed.set()

    def _places(self) -> Iterator[tuple[str, Address]]:
        """Whom to call, the best first."""
        if self._node is not None:
            managed = self.managed
            sites = {n.name: n.site for n in managed.table.present() if n.role == "broker" and n.site}
            others = [name for name in managed.brokers() if name in sites and name not in managed.at]
            random.shuffle(others)
            for name in (*(name for name in managed.at if name in sites), *others):
                yield name, parse_address(sites[name])
        for address in self._addresses:
            yield text_of(address), address

    # -- turns -----------------------------------------------------------------------------------------------------

    def _wake(self) -> None:
        """The machine has done something: whoever waits looks again."""
        self._changed.set()
        at, peer = self.managed.at, self._link.peer
        if at and peer is not None and at[0] != peer:
            self._link.go_elsewhere()

    async def _until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    async def _watch(self) -> None:
        """Whoever hears of nobody asks the broker it is connected to who is there."""
        while True:
            await asyncio.sleep(PROBING.period_us / 1e6)
            peer = self._link.peer
            if peer is not None and (not self.managed.begun or self.managed.alone()):
                self.node.tell(lambda now_us, peer=peer: self.managed.contact((peer,), now_us))  # type: ignore[misc]

    def _attach(self) -> None:
        """Attach, or say that something else is wanted now."""
        at = self.managed.at or (self._link.peer or next(iter(self.managed.brokers()), ""),)
        filters = tuple(dict.fromkeys(f for inbox in self._inboxes for f in inbox.filters))
        self._wanted = True
        self.node.subscribe(filters, at)

    def _said(self, effect: Effect) -> None:
        if isinstance(effect, Discard):
            if effect.reason in _FATES:
                self._note_fate(effect.message, _FATES[effect.reason])
        elif isinstance(effect, Expelled):
            log.error("%s was declared dead by %s, or another client has its name", self.name, effect.by)
            asyncio.get_running_loop().call_soon(self._end)

    def _note_fate(self, message_id: str, fate: str) -> None:
        self._fates[fate] += 1
        if self._on_fate is not None:
            self._on_fate(message_id, fate)

    def overflowed(self, message: Message) -> None:
        if self._on_fate is not None:
            self._on_fate(message.id, "overflow")

    def _delivered(self, message: CoreMessage) -> None:
        self._hand(message, own=False)

    def _hand(self, message: CoreMessage, *, own: bool) -> None:
        topic = message.topics[0]
        wanting = [inbox for inbox in self._inboxes if inbox.wants(topic) and (inbox.own or not own)]
        if wanting:
            read = read_message(message, lambda: self.machine.causes_of(message.id))
            for inbox in wanting:
                inbox.put(read)

    # -- publishing ------------------------------------------------------------------------------------------------

    def publish_nowait(
        self,
        topic: str,
        payload: bytes,
        *,
        within: float | None = None,
        deadline: datetime | None = None,
        after: Message | str | Iterable[Message | str] | None = None,
        order: str = "causal",
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Returns the id at once; `flush` waits until all is safe. Refuses when too much is not safe yet."""
        if self.pending >= OUTBOX:
            raise EnvironmentFault(f"{OUTBOX} messages are not safe yet: await node.flush(), or publish with await.")
        return self._publish(topic, payload, within, deadline, after, order, headers).id

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        within: float | None = None,
        deadline: datetime | None = None,
        after: Message | str | Iterable[Message | str] | None = None,
        order: str = "causal",
        headers: Mapping[str, str] | None = None,
    ) -> str:
        """Returns the id once the message is safe: another broker has it too, or there is no other.

        `within`: seconds from now, or `deadline`: a moment, after which nobody is to be shown it. `after`: the messages
        it answers; left out, everything this client has delivered. `order`: `causal`, `fifo` or `none`.
        """
        node = self.node
        if self.pending >= OUTBOX:
            await self._until(lambda: self.closed or self.pending < OUTBOX)
        message = self._publish(topic, payload, within, deadline, after, order, headers)
        if message.id in self.machine.outbox.unacked:
            safe = self._safe[message.id] = asyncio.get_running_loop().create_future()
            left_s = None if message.deadline_us is None else (message.deadline_us - node.clock.now_us()) / 1e6
            try:
                async with asyncio.timeout(left_s):
                    await safe
            except TimeoutError:
                raise EnvironmentFault(
                    f"{message.id} was not known to be safe by its deadline: some may have got it in time."
                ) from None
            finally:
                self._safe.pop(message.id, None)
        return message.id

    def _publish(
        self,
        topic: str,
        payload: bytes,
        within: float | None,
        deadline: datetime | None,
        after: Message | str | Iterable[Message | str] | None,
        order: str,
        headers: Mapping[str, str] | None,
    ) -> CoreMessage:
        node = self.node
        now_us = node.clock.now_us()
        deadline_us = deadline_of(within, deadline, now_us)
        content = pack_content(payload, headers, now_us)
        named, topics = ids_of(after), (check_topic(topic),)
        if not self._wanted:
            self._attach()
        message = node.publish(topics, content, deadline_us=deadline_us, after=named, order=order)
        if any(inbox.own for inbox in self._inboxes):
            self._hand(message, own=True)
        return message

    @property
    def pending(self) -> int:
        """How many published messages are not safe yet."""
        return len(self.machine.outbox.unacked) if self._node is not None else 0

    def _published(self, ids: Sequence[str]) -> None:
        for message_id in ids:
            safe = self._safe.get(message_id)
            if safe is not None and not safe.done():
                safe.set_result(None)

    async def flush(self, within: float | None = None) -> None:
        """Wait until everything published so far is safe; TimeoutError when it is not `within` so many seconds."""
        mine = set(self.machine.outbox.unacked)
        async with asyncio.timeout(within):
            await self._until(lambda: self.closed or mine.isdisjoint(self.machine.outbox.unacked))

    # -- subscribing -----------------------------------------------------------------------------------------------

    def subscribe(self, *filters: str, queue: int = 1000, overflow: str = "drop_oldest", own: bool = False) -> Inbox:
        """`async with node.subscribe("room/#") as inbox: async for message in inbox: ...`

        `queue`: how many messages may wait to be taken; `overflow`: `drop_oldest`, `drop_newest` or `block`. `own`:
        whether this client's own messages are handed to it too.
        """
        self.node  # noqa: B018 - a closed node says so here
        return Inbox(self, filters, queue, overflow, own)

    async def open_inbox(self, inbox: Inbox) -> None:
        self._inboxes.append(inbox)
        self._attach()
        await self._until(lambda: self.closed or set(inbox.filters) <= set(self.machine.growing.owed.filters))

    def close_inbox(self, inbox: Inbox) -> None:
        if inbox in self._inboxes:
            self._inboxes.remove(inbox)
            if not self.closed:
                self._attach()

    def fates(self) -> dict[str, int]:
        """What was not delivered at this node, by fate."""
        return dict(self._fates)

    # -- the end ---------------------------------------------------------------------------------------------------

    async def drain(self, within: float | None = None) -> None:
        """Take no more in, and wait until all that was published is safe. What is queued can still be taken."""
        for inbox in list(self._inboxes):
            await inbox.aclose()
        await self.flush(within)

    async def aclose(self) -> None:
        """Leave: what was published is made safe first, as far as that is possible in a few seconds."""
        if self.closed:
            return
        if self._node is not None and self.pending:
            try:
                await self.flush(LEAVE_S)
            except TimeoutError:
                log.error("%s left though %d messages were not safe", self.name, self.pending)
        if self._node is not None:
            self._node.tell(self.managed.leave)
        await self._stop()

    async def _stop(self) -> None:
        self._end()
        for task in (self._keeping, self._watching):
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def _end(self) -> None:
        """Nothing is received or sent any more."""
        if self.closed:
            return
        self.closed = True
        if self._node is not None:
            expelled = self.managed.detector.expelled_by is not None
            self._node.close("expelled" if expelled else "left", kind="crash")
        self._link.close()
        if self._records is not None:
            self._records.close()
        for safe in self._safe.values():
            if not safe.done():
                safe.set_exception(EnvironmentFault("This node was closed before the message was safe."))
        for inbox in self._inboxes:
            inbox.wake()
        self._say_state("closed", "")

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


_FATES = {"late": "late", "superseded": "superseded", "expired": "expired", "gone": "lost", "overflow": "overflow"}
"""Reasons why a message was discarded that are its fate here; the others mean another copy of it."""
