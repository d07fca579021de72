"""One machine on a real network: the third driver, the same loop as the simulator's, with a clock and a socket.

    frames arrive       effects = machine.receive(frame, sender, now_us)      for each of the batch
    time has come       effects = machine.wake(now_us)                        when next_wake() says so
    the caller speaks   effects = machine.publish(...)
    then, once per turn: rows are appended where frames leave, frames leave, one timer is set for machine.next_wake()

Decided here: what one turn is (everything the socket held, and everything published within one turn of the event loop),
that rows are on disk before the frames they tell of leave, and that the application hears of deliveries after the
machine has finished, so that what it publishes then follows all of them. The clock is read here and nowhere else.
And what a frame spoils: itself. If its sender is at fault it is counted; if the machine fails on it, or on a timer,
that is a mistake of ours, raised when the rest of the batch, which may be from others, has been seen to.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from antecede.core.content import fields_of, write_fields
from antecede.core.effects import Deliver, Effect, Send
from antecede.core.home.application import Application
from antecede.core.machine import Machine, Peer
from antecede.core.membership.wrapper import admission
from antecede.core.message import Message, Publication
from antecede.errors import InputError, RemoteProtocolError
from antecede.live.datagram import bundle
from antecede.live.message import read_content
from antecede.live.transport import Received, Transport
from antecede.trace.record import Recorder
from antecede.trace.rows import facts, shares
from antecede.wire import MAX_PAYLOAD, measure

__all__ = ["Appender", "Clock", "Node"]

NO_LESS_S = 0.0002
"""Seconds between two timers: a machine that is never satisfied must not keep the socket from being read."""
FAILED_S = 1.0
"""Seconds until the machine is woken again after it failed to be. Raising it costs time in which it does nothing of its
own accord; lowering it, the same fault in the log again and again."""

WAITING_ROWS = 512
WAITING_S = 0.05
"""Rows of turns in which nothing leaves may wait this long and be this many: nobody else can know of them yet, and one
write costs as much as a few dozen rows. A kill -9 takes them along; raising either costs more of them."""


class Appender(Protocol):
    """Where rows go: `trace.parquet.StreamAppender`, or a list in a test."""

    def append(self, rows: Sequence[Sequence[Any]]) -> None: ...


class Clock:
    """Microseconds that never jump: the monotonic clock plus a base that is read from the wall once.

    CLOCK_MONOTONIC is one clock for the whole machine on Linux, so processes with the same `base_us` agree exactly;
    with bases of their own they differ by what the wall clock was corrected between their starts. A wall clock read
    every time would move deadlines whenever somebody sets it.
    """

    def __init__(self, base_us: int | None = None) -> None:
        self.base_us = (time.time_ns() - time.monotonic_ns()) // 1000 if base_us is None else base_us

    def now_us(self) -> int:
        return self.base_us + time.monotonic_ns() // 1000

    def lasting_us(self) -> int:
        """Microseconds from some moment on, which also count while the machine sleeps, where a clock tells."""
        clock = getattr(time, "CLOCK_BOOTTIME", None)
        return (time.monotonic_ns() if clock is None else time.clock_gettime_ns(clock)) // 1000


class Node:
    def __init__(
        self,
        machine: Machine,
        transport: Transport,
        *,
        run: str = "live",
        records: Appender | None = None,
        on_deliver: Callable[[Message], None] | None = None,
        on_effect: Callable[[Effect], None] | None = None,
        on_turn: Callable[[], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`records`: without it nothing is noted. `on_deliver`: called once per delivered message, may publish.
        `on_effect`: called with whatever else the machine says that is no frame, and with deliveries that lack a cause,
        at the same time. `on_turn`: called when a turn is over and its frames have left."""
        self.machine = machine
        self.transport = transport
        self.run = run
        self.clock = clock or Clock()
        self.on_deliver = on_deliver
        self.on_effect = on_effect
        self.on_turn = on_turn
        self._records = records
        self._admits = admission(machine)
        self._recorder = Recorder(run, self._append)
        self._sends: list[Send] = []
        self._delivered: list[Message] = []
        self._said: list[Effect] = []
        self._timer: asyncio.TimerHandle | None = None
        self._turn: asyncio.Handle | None = None
        self._writing: asyncio.TimerHandle | None = None
        self._due_us: int | None = None
        self._not_before_us = 0
        """The machine is not woken before then: it failed the last time."""
        self._loop: asyncio.AbstractEventLoop | None = None

    # -- the loop --------------------------------------------------------------------------------------------------

    def arrived(self, batch: Received) -> None:
        now_us = self.clock.now_us()
        failed = self._wake_if_due(now_us)  # first: what a frame frees may have expired meanwhile
        receive, perform, recording = self.machine.receive, self._perform, self._records is not None
        for sender, frame in batch:
            try:
                if recording:
                    self._note_arrival(frame, sender, now_us)
                effects = receive(frame, sender, now_us)
            except RemoteProtocolError:
                self.transport.counts.refused += 1
                continue
            except Exception as fault:
                if failed is None:
                    failed = fault
                    fault.add_note(f"at {self.machine.name}, on a {frame.kind} frame from {sender}")
                continue
            if effects:
                perform(effects, now_us)
        self._finish_after(failed)

    def _time_has_come(self) -> None:
        self._timer = self._due_us = None
        self._finish_after(self._wake_if_due(self.clock.now_us()))

    def _wake_if_due(self, now_us: int) -> Exception | None:
        """Wake the machine if it is time; returns what it failed with."""
        due_us = self.machine.next_wake()
        if due_us is None or due_us > now_us or now_us < self._not_before_us:
            return None
        try:
            effects = self.machine.wake(now_us)
        except Exception as fault:
            fault.add_note(f"at {self.machine.name}, on a timer")
            self._not_before_us = now_us + int(FAILED_S * 1e6)
            return fault
        self._perform(effects, now_us)
        return None

    def _finish_after(self, failed: Exception | None) -> None:
        try:
            self._finish()
        finally:
            if failed is not None:
                raise failed

    def _finish(self) -> None:
        """The end of a turn: tell the application, then rows, then frames, then the timer."""
        try:
            while self._said and self.on_effect is not None:
                effects, self._said = self._said, []
                for effect in effects:
                    self.on_effect(effect)
            while self._delivered and self.on_deliver is not None:
                messages, self._delivered = self._delivered, []
                for message in messages:
                    self.on_deliver(message)
        finally:  # also where the application failed: peers still get what the machine decided
            if self._turn is not None:
                self._turn.cancel()
                self._turn = None
            if self._recorder.rows:
                if self._sends or len(self._recorder.rows) >= WAITING_ROWS:
                    self._write()
                elif self._writing is None and self._loop is not None:
                    self._writing = self._loop.call_later(WAITING_S, self._write)
            if self._sends:
                sends, self._sends = self._sends, []
                self.transport.send(bundle(sends))
            self._set_timer()
        if self.on_turn is not None:
            self.on_turn()

    def _write(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        self._recorder.flush()

    def _append(self, rows: list[tuple[Any, ...]]) -> None:
        if self._records is not None:
            self._records.append(rows)

    def _set_timer(self) -> None:
        due_us = self.machine.next_wake()
        if due_us == self._due_us or self._loop is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._due_us = due_us
        if due_us is not None:
            wait_s = max(NO_LESS_S, (max(due_us, self._not_before_us) - self.clock.now_us()) / 1e6)
            self._timer = self._loop.call_later(wait_s, self._time_has_come)

    def _perform(self, effects: list[Effect], now_us: int) -> None:
        """Carry out what the machine asked for: frames wait for the end of the turn, everything else is a row."""
        recording, machine = self._records is not None, self.machine
        for effect in effects:
            if isinstance(effect, Send):
                self._sends.append(effect)
            elif isinstance(effect, Deliver):
                message = effect.message
                if recording:  # the most frequent rows: laid out here
                    self._recorder.row(
                        machine.name, machine.role, now_us, "deliver", message.id, None, None, effect.reason
                    )
                if self.on_deliver is not None:
                    self._delivered.append(message)
                if effect.missing and self.on_effect is not None:
                    self._said.append(effect)
            else:
                if recording:
                    for fact in facts(effect):
                        self._note(now_us, **fact)
                if self.on_effect is not None:
                    self._said.append(effect)

    # -- what the application asks for -----------------------------------------------------------------------------

    def start(self, members: Mapping[str, Peer], *, joining: bool = False) -> None:
        """Begin, in the running event loop, believing in these processes (this one included)."""
        self._loop = asyncio.get_running_loop()
        self.transport.open(self.arrived)
        now_us = self.clock.now_us()
        self._told(self.machine.view(members, now_us), now_us)
        self._told(self.machine.start(now_us, joining=joining), now_us)

    def view(self, members: Mapping[str, Peer]) -> None:
        now_us = self.clock.now_us()
        self._told(self.machine.view(members, now_us), now_us)

    def subscribe(self, filters: Sequence[str], at: Sequence[str]) -> None:
        now_us = self.clock.now_us()
        self._told(self.machine.subscribe(filters, at, now_us), now_us)

    def unsubscribe(self) -> None:
        now_us = self.clock.now_us()
        self._told(self.machine.unsubscribe(now_us), now_us)

    def move(self, to: Sequence[str]) -> None:
        now_us = self.clock.now_us()
        self._told(self.machine.move(to, now_us), now_us)

    def publish(self, publication: Publication) -> Message:
        """Publish a message: it leaves with everything else of this turn of the event loop."""
        payload = publication.payload
        if len(payload) > MAX_PAYLOAD:  # it would be waited for, and never come
            raise InputError(f"a payload of {len(payload)} bytes: at most {MAX_PAYLOAD} travel, publish a reference")
        now_us = self.clock.now_us()
        message, effects = self.machine.publish(publication, now_us)
        if self._records is not None:
            self._note(
                now_us, "publish", message=message.id, groups=message.topics, deadline_us=message.deadline_us,
                after=message.after, expires_us=message.expires_us,
                headers=write_fields(fields_of(read_content(payload))),
            )  # fmt: skip
        self._told(effects, now_us)
        return message

    def tell(self, act: Callable[[int], list[Effect]]) -> None:
        """Let the machine do something that only some machines can, at the time it is called with."""
        now_us = self.clock.now_us()
        self._told(act(now_us), now_us)

    def hand_over(self, application: Application, queue: str, limit: int) -> list[Message]:
        """The next messages of one queue of a client's application: they are delivered now."""
        now_us = self.clock.now_us()
        messages, effects = application.hand_over(queue, limit, now_us)
        self._told(effects, now_us)
        return messages

    def note(self, kind: str, **columns: Any) -> None:
        """A row of the driver's own, such as `restart`."""
        if self._records is not None:
            self._note(self.clock.now_us(), kind, **columns)

    def settle(self) -> None:
        """End the turn now: what the machine has decided so far leaves."""
        self._finish()

    def close(self, reason: str | None = "stopped", kind: str = "end") -> None:
        """`quiet`: the caller knows that nothing is in flight. Rows and frames of this turn still leave. A process that
        left, or was expelled, has a `crash` of that reason instead of an `end`."""
        if self._loop is None:
            return
        if self._records is not None:
            self._note(self.clock.now_us(), kind, reason=reason)
        self._finish()
        self._write()
        if self._timer is not None:
            self._timer.cancel()
        self._loop = None
        self.transport.close()

    def abandon(self) -> None:
        """Stop as if it had never begun: no row, no frame."""
        for handle in (self._timer, self._turn, self._writing):
            if handle is not None:
                handle.cancel()
        self._loop = None
        self.transport.close()

    def _told(self, effects: list[Effect], now_us: int) -> None:
        self._perform(effects, now_us)
        if self._turn is None and self._loop is not None:
            self._turn = self._loop.call_soon(self._finish)

    def note_legacy(self, frame: Any, earlier: str) -> None:
        """Rows for what the machine was given by its earlier incarnation, in the same process: nothing travelled."""
        if self._records is not None and (ids := [message.id for message in frame.messages()]):
            none, machine = (0,) * len(ids), self.machine
            self._recorder.arrivals(machine.name, machine.role, self.clock.now_us(), earlier, ids, none, none)

    def _note_arrival(self, frame: Any, sender: str, now_us: int) -> None:
        """One row per message; the bytes of the frame are shared out among them. A frame of a process that membership
        declared dead does not reach the machine inside: it has not arrived."""
        ids = [message.id for message in frame.messages()]
        if ids and (self._admits is None or self._admits(sender)):
            size, control = measure(frame)
            sizes, controls = shares(size, len(ids)), shares(control, len(ids))
            machine = self.machine
            self._recorder.arrivals(machine.name, machine.role, now_us, sender, ids, sizes, controls)

    def _note(self, now_us: int, kind: str, **columns: Any) -> None:
        self._recorder.row(self.machine.name, self.machine.role, now_us, kind, **columns)
