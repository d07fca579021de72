"""A client as an application holds it in its hand: publish, subscribe, request. `antecede.connect` makes one.

Decided here: a client attaches when it first publishes or subscribes; publishing returns when the message is safe, or
says that it was not by its deadline; a request is a message whose reply comes to a topic of its own; and whoever leaves
says good-bye after what it published is safe. Everything about order, deadlines and queues is the machine's.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import overload

from antecede.core.effects import Deliver, Discard, Dropped, Effect, Shed
from antecede.core.fold.spec import FuseSpec
from antecede.core.home.frontier import Frontier
from antecede.core.home.fusing import result_id
from antecede.core.membership.news import split_name
from antecede.core.message import Message as CoreMessage
from antecede.core.message import Publication
from antecede.core.names import check_process
from antecede.core.where import Value
from antecede.errors import EnvironmentFault, InputError, RemoteProtocolError
from antecede.live.connection import Connection
from antecede.live.fusing import FusedInbox, Result
from antecede.live.inbox import Fate, Inbox
from antecede.live.keys.caller import Caller, caller_for
from antecede.live.message import Message, check_topic, ids_of, pack_content, read_message
from antecede.live.network import Network, SocketNetwork
from antecede.live.when import deadline_of
from antecede.wire import restore

__all__ = ["OUTBOX", "REPLY_TO", "Client", "connect"]

log = logging.getLogger("antecede.client")

OUTBOX = 10_000
"""Messages published and not yet safe; then `publish_nowait` refuses and `publish` waits. Costs memory."""
LEAVE_S = 5.0
"""How long a client that leaves waits until all it published is safe."""
REPLY_TO = "reply-to"
"""The header of a request: the topic its reply is published to."""

After = Message | Result | str | Iterable[Message | Result | str] | None


def connect(
    *addresses: str,
    name: str | None = None,
    records: str | None = None,
    on_state: Callable[[str, str], None] | None = None,
    on_fate: Callable[[Fate], None] | None = None,
    tls: str | Path | ssl.SSLContext | None = None,
    token: str | Path | None = None,
    network: Network | None = None,
) -> Client:
    """`async with antecede.connect("antecede://127.0.0.1:7400") as node:`

    `name`: what this client is called in ids (`name:1`); left out, one is made up. `records`: a directory to write what
    this client did, for `antecede check`. `on_state(state, broker)`: `connected`, `away`, `closed`. `on_fate(fate)`:
    called for every message that was not delivered here (`fate.id`, `fate.fate`, `fate.missing`, `fate.blocked_by`),
    once for several (`fate.messages`, no id) that its home had no more room for, and as `delivered` for one that was
    delivered without some of its causes.
    With `antecedes://` brokers are verified: `tls` is the ca.pem of their cluster (left out: ANTECEDE_CA, then the
    usual directory of keys, then the system's), `token` what `antecede keys token` printed, as text or as a Path to a
    file (left out: ANTECEDE_TOKEN).
    """
    if name is not None:
        check_process(name)
    how = caller_for(addresses or ("antecede://127.0.0.1:7400",), tls, token)
    name = name or f"{how.prefix}{os.urandom(5).hex()}"
    return Client(how, name, records, on_state, on_fate, network or SocketNetwork())


class Client(Connection):
    def __init__(
        self,
        how: Caller,
        name: str,
        records: str | None,
        on_state: Callable[[str, str], None] | None,
        on_fate: Callable[[Fate], None] | None,
        network: Network,
    ) -> None:
        super().__init__(how.places, name, records, on_state, network, how.tls, how.token)
        self._on_fate = on_fate
        self._inboxes: list[Inbox] = []
        self._fused: list[FusedInbox] = []
        self._opened = 0
        self._safe: dict[str, asyncio.Future[None]] = {}
        self._fates: Counter[str] = Counter()
        self._in_none: Counter[str] = Counter()
        """Those among them of messages that no inbox of this client let go of: they were in none."""
        self._let_go = ""
        """The message that an inbox let go of last: its Discard, if there is one, comes next."""
        self._replies: asyncio.Task[None] | None = None
        self._reply_inbox: Inbox | None = None
        self._reply_to = ""
        """What the topics of replies begin with: the name of the life that asked for the first one."""
        self._asking = asyncio.Lock()
        self._requests = 0
        self._asked: dict[str, asyncio.Future[Message]] = {}
        self._lost = 0
        """Publications for whose safety nobody waited when a life of this client ended; `flush` tells."""

    async def __aenter__(self) -> Client:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # -- publishing ------------------------------------------------------------------------------------------------

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
        after: After = None,
        order: str = "causal",
        headers: Mapping[str, Value] | None = None,
    ) -> str:
        """Returns the id once the message is safe: another broker has it too, or there is no other.

        `within`: seconds from now, or `deadline`: a moment, after which nobody is to be shown it. `after`: the messages
        it answers; left out, everything this client has delivered. `order`: `causal`, `fifo` or `none`.
        """
        await self.until(lambda: self.closed or self._frontier is None)
        node = self.node
        if self.pending >= OUTBOX:
            await self.until(lambda: self.closed or self.pending < OUTBOX)
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
        after: After,
        order: str,
        headers: Mapping[str, Value] | None,
    ) -> CoreMessage:
        node = self.node
        now_us = node.clock.now_us()
        deadline_us = deadline_of(within, deadline, now_us)
        content = pack_content(payload, headers, now_us)
        named, topics = ids_of(after), (check_topic(topic),)
        self._check_publish(topic, len(content))
        if not self.attached:
            self.attach(())
        return node.publish(Publication(topics, content, deadline_us, named, order))

    def _check_publish(self, topic: str, size: int) -> None:
        """Before anything has a number: its broker would end the connection."""
        if self.rights is not None and not self.rights.may_publish(topic):
            raise InputError(self.rights.why_not_publish(topic))
        if 0 < self.limits[0] < size:
            raise InputError(f"A message has at most {self.limits[0]} bytes at this broker, not {size}.")

    @property
    def pending(self) -> int:
        """How many published messages are not safe yet."""
        return len(self.machine.outbox.unacked) if self._node is not None else 0

    def published(self, ids: Sequence[str]) -> None:
        for message_id in ids:
            safe = self._safe.get(message_id)
            if safe is not None and not safe.done():
                safe.set_result(None)

    async def flush(self, within: float | None = None) -> None:
        """Wait until everything published so far is safe; TimeoutError when it is not `within` so many seconds.

        EnvironmentFault when some of it may be lost, since this client was taken for dead or has ended: how much of
        what `publish_nowait` took since the last flush. What `publish` waited for has raised there.
        """
        if self._node is not None:
            machine, outbox = self.machine, self.machine.outbox
            mine = set(outbox.unacked)
            async with asyncio.timeout(within):
                await self.until(
                    lambda: (
                        self.closed
                        or self._node is None
                        or self._machine is not machine
                        or mine.isdisjoint(outbox.unacked)
                    )
                )
        lost, self._lost = self._lost, 0
        if lost:
            raise EnvironmentFault(
                f"{lost} message{'s' * (lost > 1)} of {self.name} may be lost: not known to be safe before it was "
                "taken for dead, another client came under its name, or it was closed."
            )

    # -- subscribing -----------------------------------------------------------------------------------------------

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
    ) -> Inbox: ...

    @overload
    def subscribe(self, *filters: str, queue: int = 1000, where: str | None = None, fuse: FuseSpec) -> FusedInbox: ...

    def subscribe(
        self,
        *filters: str,
        queue: int = 1000,
        overflow: str = "drop_oldest",
        own: bool = False,
        since: bytes | None = None,
        where: str | None = None,
        fuse: FuseSpec | None = None,
    ) -> Inbox | FusedInbox:
        """`async with node.subscribe("room/#") as inbox: async for message in inbox: ...`

        `queue`: how many messages may wait to be taken; `overflow`: `drop_oldest`, `drop_newest` or `block`. `own`:
        whether this client's own messages are handed to it too. `since`: the `inbox.frontier` of an earlier life of
        this client, under the same name: everything after it that some broker still holds is delivered, but for what
        expired meanwhile, which is not owed and in no fates. A frontier is
        the whole client's, so its first inbox resumes, and no other one can. `where`: only
        messages of which this is true, for example "temp > 20 and payload.room in ('a', 'b')", over headers and values
        of a JSON payload; the home broker sends no others (docs/live.md). `fuse`: `antecede.fuse(...)`; the home broker
        then sends results instead, one per cut.
        """
        self.node  # noqa: B018 - a closed node says so here
        if fuse is not None:
            if overflow != "drop_oldest" or own or since is not None:
                raise InputError("fuse= goes with queue= and where= only: a fold has no overflow=, own= or since=.")
            return FusedInbox(self, filters, fuse, queue, where)
        return Inbox(self, filters, queue, overflow, own, since, where)

    # -- fused -----------------------------------------------------------------------------------------------------

    async def open_fused(self, inbox: FusedInbox) -> None:
        groups = self.managed.groups
        groups.check_filters(inbox.filters)
        if not groups.everywhere(inbox.filters):
            raise InputError(
                f"Not every broker carries {', '.join(inbox.filters)}: fuse what one entry of the table gives to all."
            )
        if not self.attached:
            self.attach(())
        self._open_fused(inbox, again=False)
        self._fused.append(inbox)
        await self.until(lambda: self.closed or self.machine.fusing.confirmed(inbox.number))

    def _open_fused(self, inbox: FusedInbox, *, again: bool) -> None:
        def ask(now_us: int) -> list[Effect]:
            fusing = self.machine.fusing
            inbox.number, effects = fusing.open(inbox.filters, inbox.spec, inbox.size, now_us, again=again)
            return effects

        self.node.tell(ask)

    def close_fused(self, inbox: FusedInbox) -> None:
        if inbox in self._fused:
            self._fused.remove(inbox)
            if not self.closed and self._frontier is None:
                self.node.tell(lambda now_us: self.machine.fusing.close(inbox.number, now_us))

    def take_fused(self, inbox: FusedInbox) -> Result | None:
        """The next result: from now on it may be named in `after=`."""
        if self._node is None or self._frontier is not None or not self.machine.fusing.ready(inbox.number):
            return None
        n, said = self.machine.fusing.take(inbox.number)
        return Result(
            result_id(self.machine.name, inbox.number, n), n, said["cut"], said.get("cut_us"), said["rows"],
            tuple(said["causes"]), said["results"], said["began"],
        )  # fmt: skip

    # -- messages --------------------------------------------------------------------------------------------------

    async def open_inbox(self, inbox: Inbox) -> None:
        filters = self._filters(inbox)
        self.managed.groups.check_filters(filters)
        self._check_subscribe(inbox.filters, len(filters))
        if not self.carried(filters):
            log.warning("%s: no broker is there that carries %s: it waits for one", self.name, ", ".join(filters))
            await self.until(lambda: self.closed or self.carried(filters))
        if inbox.since is not None:
            frontier = restored(inbox.since)
            if self.attached:
                raise InputError(
                    f"{self.name} has begun already: the first inbox resumes for the whole client, before anything is "
                    "published. Give that one all filters: node.subscribe('a', 'b', since=...)."
                )
            (base, life), (whose, earlier) = split_name(self.name), split_name(frontier.process)
            if base == whose and life <= earlier and not self.attached:
                await self.begin_behind(frontier)
            else:
                self.machine.application.resume(frontier)
        self._opened += 1
        inbox.name = f"inbox-{self._opened}"
        self._open_queue(inbox)
        self._inboxes.append(inbox)
        self.attach(filters)
        await self.until(lambda: self.closed or set(inbox.filters) <= set(self.machine.growing.owed.filters))
        if self.refusal:
            raise EnvironmentFault(self.refusal)

    def _check_subscribe(self, filters: Sequence[str], count: int) -> None:
        for filter in filters:
            if self.rights is not None and not self.rights.may_subscribe(filter, self.name):
                raise InputError(self.rights.why_not_subscribe(filter, self.name))
        if 0 < self.limits[1] < count:
            raise InputError(f"A client has at most {self.limits[1]} filters at this broker, not {count}.")

    def _open_queue(self, inbox: Inbox) -> None:
        app = self.machine.application
        app.open(inbox.name, inbox.filters, size=inbox.size, policy=inbox.policy, own=inbox.own)

    def close_inbox(self, inbox: Inbox) -> None:
        if inbox in self._inboxes:
            self._inboxes.remove(inbox)
            if not self.closed and self._frontier is None:
                inbox.counts["overflow"] += self.ready(inbox)
                self.node.tell(lambda now_us: self.machine.application.close(inbox.name, now_us))
                self.attach(self._filters())

    def _filters(self, *more: Inbox) -> tuple[str, ...]:
        open_ones = [inbox for inbox in (*self._inboxes, *more) if not inbox.drains]
        return tuple(dict.fromkeys(f for inbox in open_ones for f in inbox.filters))

    def ready(self, inbox: Inbox) -> int:
        return 0 if self._node is None or self._frontier is not None else self.machine.application.ready(inbox.name)

    def take(self, inbox: Inbox, limit: int) -> list[Message]:
        """The next ones of a queue: they are delivered now."""
        if self._node is None or self._frontier is not None:
            return []
        machine = self.machine
        if not machine.application.ready(inbox.name):
            return []
        taken, without = self.node.hand_over(machine.application, inbox.name, limit), machine.handover.without
        return [read_message(one, machine.causes_of, without.get(one.id, ())) for one in taken]

    def turned(self) -> None:
        for fused in self._fused:
            if self._frontier is None and self.machine.fusing.ready(fused.number):
                fused.wake()
        for inbox in self._inboxes:
            if inbox.waited_for and self.ready(inbox):
                inbox.wake()

    def said(self, effect: Effect) -> None:
        if isinstance(effect, Dropped):
            self._let_go = effect.message
            for inbox in [one for one in self._inboxes if one.name == effect.queue]:
                inbox.counts[effect.reason] += 1
        elif isinstance(effect, Deliver):
            if self._on_fate is not None:
                self.call_back(self._on_fate, Fate(effect.message.id, "delivered", effect.missing))
        elif isinstance(effect, Shed):
            log.warning("%s: %s had no more room for %d messages to it", self.name, effect.peer, effect.messages)
            self._tell(Fate("", "overflow", (), effect.messages), in_none=True)
        elif isinstance(effect, Discard) and effect.reason in _FATES:
            fate = Fate(effect.message, _FATES[effect.reason], effect.missing)
            self._tell(fate, in_none=effect.message != self._let_go)

    def _tell(self, fate: Fate, *, in_none: bool) -> None:
        self._fates[fate.fate] += fate.messages
        if in_none:
            self._in_none[fate.fate] += fate.messages
        if self._on_fate is not None:
            self.call_back(self._on_fate, fate)

    def fates(self) -> dict[str, int]:
        """What was not delivered at this node, by fate: one for each message, however many inboxes wanted it."""
        return dict(self._fates)

    def fates_of(self, inbox: Inbox) -> Counter[str]:
        """What an inbox handed over and let go of, and what was in none."""
        return inbox.counts + self._in_none

    # -- asking ----------------------------------------------------------------------------------------------------

    async def request(
        self, topic: str, payload: bytes, *, within: float, headers: Mapping[str, Value] | None = None
    ) -> Message:
        """Publish a question and wait for the first reply, an ordinary message (see `reply`); TimeoutError when none
        comes `within` so many seconds."""
        deadline_of(within, None, 0)  # a number, before anything waits for it
        async with self._asking:
            if self._reply_inbox is None:
                prefix = f"$reply/{self.name}/"
                inbox = self.subscribe(f"{prefix}+")
                await self.open_inbox(inbox)
                self._reply_inbox, self._reply_to = inbox, prefix
                self._replies = asyncio.create_task(self._take_replies(inbox))
        self._requests += 1
        place = f"{self._reply_to}{self._requests}"
        answer = self._asked[place] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(within):
                await self.publish(topic, payload, within=within, headers={**(headers or {}), REPLY_TO: place})
                said: Message = await answer
                return said
        except TimeoutError:
            raise TimeoutError(f"No reply came within {within:g} s to what was asked on {topic}.") from None
        finally:
            del self._asked[place]

    async def _take_replies(self, inbox: Inbox) -> None:
        async for message in inbox:
            answer = self._asked.get(message.topic)
            if answer is not None and not answer.done():
                answer.set_result(message)

    async def reply(self, message: Message, payload: bytes, *, within: float | None = None) -> str:
        """Answer a request: publishes to the topic that it names, after it."""
        if not isinstance(message, Message):
            raise InputError(f"reply takes the message that asks, not {message!r}.")
        place = message.headers.get(REPLY_TO)
        if not isinstance(place, str):
            raise InputError(f"{message.id} asks for no reply: publish to a topic instead.")
        return await self.publish(place, payload, within=within, after=message)

    # -- the end ---------------------------------------------------------------------------------------------------

    async def drain(self, within: float | None = None) -> None:
        """Take no more in, and wait until all that was published is safe. What is queued can still be taken until this
        node is closed, by its deadline as ever; replies still come."""
        ending = [inbox for inbox in self._inboxes if inbox is not self._reply_inbox]
        for inbox in ending:
            inbox.drains = True
            if not self.closed and self._frontier is None:
                self.machine.application.stop(inbox.name)
        if ending and not self.closed and self._frontier is None:
            self.attach(self._filters())
        for inbox in ending:
            inbox.wake()
        await self.flush(within)

    async def aclose(self) -> None:
        """Leave: what was published is made safe first, as far as that is possible in a few seconds."""
        if self.closed:
            return
        if self._node is not None and self.pending:
            try:
                await self.flush(LEAVE_S)
            except EnvironmentFault as fault:
                log.error("%s", fault)
            except TimeoutError:
                log.error("%s left though %d messages were not safe", self.name, self.pending)
        if self._node is not None and not self.closed:
            self._node.tell(self.managed.leave)
        await self.stop()
        if self._replies is not None:
            await self._replies

    def interrupted(self) -> None:
        """What was not safe may be lost: its publisher is told, for another life numbers its messages anew."""
        if self.pending:
            log.error("%d messages of %s were not known to be safe", self.pending, self.name)
        self._fail(
            f"{self.name} was taken for dead, or another client has its name, before the message was known to be safe: "
            "publish it again."
        )

    def resumed(self) -> None:
        for inbox in [one for one in self._inboxes if one.drains]:  # its queue went with the earlier machine
            self._inboxes.remove(inbox)
            inbox.closed = True
            inbox.wake()
        for inbox in self._inboxes:
            self._open_queue(inbox)
        if self.attached:
            self.attach(self._filters())
        for fused in self._fused:
            self._open_fused(fused, again=True)

    def _fail(self, reason: str) -> None:
        if self._machine is not None:
            self._lost += len(self._machine.outbox.unacked.keys() - self._safe.keys())
        for safe in self._safe.values():
            if not safe.done():
                safe.set_exception(EnvironmentFault(reason))

    def ended(self) -> None:
        self._fail(self.refusal or "This node was closed before the message was safe.")
        for inbox in self._inboxes:
            inbox.wake()
        for fused in self._fused:
            fused.wake()


def restored(frontier: bytes) -> Frontier:
    if not isinstance(frontier, bytes):
        raise InputError(f"since= takes an inbox.frontier, which is bytes, not {type(frontier).__name__}.")
    try:
        return restore(frontier)
    except RemoteProtocolError as fault:
        raise InputError(f"since= takes an inbox.frontier as it was saved: {fault}.") from None


_FATES = {"late": "late", "superseded": "superseded", "expired": "expired", "gone": "lost", "overflow": "overflow"}
"""Reasons why a message was discarded that are its fate here; the others mean another copy of it."""
