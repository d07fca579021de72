"""From what happens to rows: which effect becomes which row, and where the rows go.

Decided here: one row per message of an effect or frame, and that a frame's bytes are shared out among its messages.
Deliveries, the most frequent rows, are written by the driver itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antecede.core.effects import Answer, Ask, Collect, Discard, Join, Leave, Move
from antecede.sim.process import Process
from antecede.trace.record import Digest

__all__ = ["FLUSH_ROWS", "Records", "Rows", "Sink"]

FLUSH_ROWS = 4_096
"""How many rows are kept before a sink gets them. Raising it costs memory, and time: rows take longer to write
once they have left the processor's cache."""

Rows = list[tuple[Any, ...]]
Sink = Callable[[Rows], object]
"""Takes rows in batches; it must be done with the list when it returns."""


class Records:
    def __init__(self, run: str, sink: Sink | None, digest: bool) -> None:
        self.run = run
        self.rows: Rows = []
        """One list for the whole run: emptied, never replaced."""
        self.sink = sink
        self.running = Digest() if sink is not None and digest else None
        """The digest so far, of rows that were handed on."""
        self._by_effect: dict[type, Callable[[Process, Any, int], None]] = {
            Discard: self._discard, Ask: self._ask, Answer: self._answer, Join: self._join, Leave: self._leave,
            Move: self._move, Collect: self._collect,
        }  # fmt: skip

    def effect(self, process: Process, effect: object, now_us: int) -> None:
        """The rows of any effect but `Send` and `Deliver`."""
        self._by_effect[effect.__class__](process, effect, now_us)

    def flush(self, at_least: int = 1) -> None:
        """Hand the rows on, if there are so many and somebody takes them."""
        if self.sink is not None and len(self.rows) >= at_least:
            if self.running is not None:
                self.running.update(self.rows)
            self.sink(self.rows)
            self.rows.clear()

    def note(
        self, process: Process, kind: str, now_us: int, *, message: str | None = None,
        groups: tuple[str, ...] | None = None, deadline_us: int | None = None, reason: str | None = None,
        after: tuple[str, ...] | None = None, cut: tuple[str, ...] | None = None, guard_us: int | None = None,
        expires_us: int | None = None, peer: str | None = None, size: int | None = None, control: int | None = None,
    ) -> None:  # fmt: skip
        step = process.step
        process.step = step + 1
        self.rows.append(
            (self.run, process.name, process.role, step, now_us + process.offset_us, kind, message, groups,
             deadline_us, reason, after, cut, guard_us, expires_us, now_us, peer, size, control)
        )  # fmt: skip

    def arrived(self, process: Process, sender: str, frame: Any, ids: tuple[str, ...], now_us: int) -> None:
        """One row per message; the bytes of the frame are shared out among them, so that they add up."""
        size, control = frame.size, frame.control
        share, control_share = size, control
        count = len(ids)
        if count > 1:
            share, control_share = size // count, control // count
            size -= share * (count - 1)
            control -= control_share * (count - 1)
        step = process.step
        local_us = now_us + process.offset_us
        for message in ids:
            self.rows.append((self.run, process.name, process.role, step, local_us, "arrive", message, None, None,
                              None, None, None, None, None, now_us, sender, size, control))  # fmt: skip
            step += 1
            size, control = share, control_share
        process.step = step

    def _discard(self, process: Process, effect: Discard, now_us: int) -> None:
        self.note(process, "discard", now_us, message=effect.message, reason=effect.reason)

    def _ask(self, process: Process, effect: Ask, now_us: int) -> None:
        for message in effect.messages or (None,):
            self.note(process, "ask", now_us, message=message, peer=effect.peer)

    def _answer(self, process: Process, effect: Answer, now_us: int) -> None:
        for message in effect.messages or (None,):
            self.note(process, "answer", now_us, message=message, peer=effect.peer)

    def _join(self, process: Process, effect: Join, now_us: int) -> None:
        self.note(process, "join", now_us, groups=tuple(effect.filters), cut=tuple(effect.cut),
                  guard_us=effect.guard_us, peer=effect.peer)  # fmt: skip

    def _leave(self, process: Process, effect: Leave, now_us: int) -> None:
        self.note(process, "leave", now_us, groups=tuple(effect.filters), peer=effect.peer)

    def _move(self, process: Process, effect: Move, now_us: int) -> None:
        self.note(process, "move", now_us, cut=tuple(effect.cut), peer=effect.peer)

    def _collect(self, process: Process, effect: Collect, now_us: int) -> None:
        self.note(process, "collect", now_us, message=effect.message)
