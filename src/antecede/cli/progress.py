"""One line on standard error while something takes long: what is done, how far it is, how much time is left.

Decided here: it is for people only (nothing is written when standard error is no terminal), it appears after half a
second and is gone when the work is; and time left is told from what this process did itself.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

__all__ = ["Progress"]

PATIENCE_S = 0.5
"""What is over sooner needs no line."""
EVERY_S = 0.1
CLEAR = "\r\x1b[K"


class Progress:
    """
    >>> with Progress("runs", 2) as progress:
    ...     progress.step("the first")
    """

    def __init__(self, what: str, total: int | None = None, stream: TextIO | None = None) -> None:
        """`total`: None where nobody knows."""
        self.what, self.total, self.done, self.before = what, total, 0, 0
        self.stream = stream or sys.stderr
        self.watched = self.stream.isatty()
        self.began = time.perf_counter()
        self._next = self.began + PATIENCE_S
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if not self._shown:
            return
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        print("" if interrupted else CLEAR, end="\n" if interrupted else "", file=self.stream, flush=True)

    def begin(self, done: int) -> None:
        """So much was there before this began: it says nothing of the time that the rest takes."""
        self.done = self.before = done

    def step(self, stage: str = "", count: int = 1) -> None:
        self.at(self.done + count, stage)

    def at(self, done: int, stage: str = "", *, now: bool = False) -> None:
        """So much is done now; `stage`: what is being done. `now`: it is known to take long, so it is said at once."""
        self.done = done
        at = time.perf_counter()
        if self.watched and (now or at >= self._next):
            self._next = at + EVERY_S
            self._shown = True
            print(f"{CLEAR}{self.line(stage, at - self.began)}", end="", file=self.stream, flush=True)

    def clear(self) -> None:
        """Room for what is printed in its place; the line comes again with the next news."""
        if self._shown:
            print(CLEAR, end="", file=self.stream, flush=True)

    def stage(self, what: str, done: int, total: int | None) -> None:
        """Another thing is being counted from here on: `what` of it is done, of `total`."""
        if what != self.what:
            self.what, self.before, self.began = what, done, time.perf_counter()
        self.total = total
        self.at(done)

    def line(self, stage: str, seconds: float) -> str:
        parts = [stage] if stage else []
        mine = self.done - self.before
        if self.total is None:
            parts.append(f"{self.done:,} {self.what}")
            parts.append(f"{seconds:.0f} s")
        else:
            parts.append(f"{self.done:,} of {self.total:,} {self.what}")
            if mine > 0:
                parts.append(f"about {seconds / mine * max(0, self.total - self.done):.0f} s left")
        return ": ".join([parts[0], ", ".join(parts[1:])]) if stage else ", ".join(parts)
