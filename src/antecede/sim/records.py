"""From what happens in a simulated process to rows, and where the rows go: kept, or handed on in batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from antecede.core.effects import Effect
from antecede.sim.process import Process
from antecede.trace.record import Digest
from antecede.trace.rows import facts, shares

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

    def effect(self, process: Process, effect: Effect, now_us: int) -> None:
        """The rows of any effect; deliveries, the most frequent ones, are laid out by the driver itself."""
        for fact in facts(effect):
            self.note(process, now_us=now_us, **fact)

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
        where: str | None = None, headers: str | None = None,
    ) -> None:  # fmt: skip
        step = process.step
        process.step = step + 1
        self.rows.append(
            (self.run, process.name, process.role, step, now_us + process.offset_us, kind, message, groups,
             deadline_us, reason, after, cut, guard_us, expires_us, now_us, peer, size, control, where, headers)
        )  # fmt: skip

    def inherited(self, process: Process, earlier: str, legacy: Any, now_us: int) -> None:
        """What the earlier incarnation of a process leaves it: nothing travels."""
        legacy.size = legacy.control = 0
        self.arrived(process, earlier, legacy, tuple(m.id for m in legacy.messages()), now_us)

    def arrived(self, process: Process, sender: str, frame: Any, ids: tuple[str, ...], now_us: int) -> None:
        """One row per message; the bytes of the frame are shared out among them, so that they add up."""
        count = len(ids)
        sizes = shares(frame.size, count) if count != 1 else (frame.size,)
        controls = shares(frame.control, count) if count != 1 else (frame.control,)
        step = process.step
        local_us = now_us + process.offset_us
        for message, size, control in zip(ids, sizes, controls, strict=True):
            self.rows.append((self.run, process.name, process.role, step, local_us, "arrive", message, None, None,
                              None, None, None, None, None, now_us, sender, size, control, None, None))  # fmt: skip
            step += 1
        process.step = step
