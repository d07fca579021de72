"""How long a broker heard of no other one, and what it may leave to its next incarnation after that.

A broker that was stopped, or cut off, for many minutes may keep messages that all others have had, let go of and
forgotten: nobody could tell any more that these are no news. So what was here when a long silence began is no part of
the legacy; what came since is, for nobody else may have it. Example: A has Ann's first message, as all brokers do, and
is cut off for half an hour; Bob publishes at A meanwhile. A.1 takes Bob's message over, and asks the others for Ann's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from antecede.core.frames import Snapshot

__all__ = ["Silence"]

QUIET_US = 2_000_000
"""Without a word of other brokers for so long a silence has begun: they say something several times a second. Lowering
it costs a look at all ids whenever the network halts."""
STOOD_US = 30_000_000
"""A broker that runs finds a silence before that; one that finds a longer one stood still itself."""


class Silence:
    def __init__(
        self,
        now_us: Callable[[], int],
        long_us: int,
        ids: Callable[[], Collection[str]],
        unsafe: Callable[[], Collection[str]],
    ) -> None:
        """`now_us`: a clock that runs on while the machine sleeps. `long_us`: from when on others may have forgotten
        something. `ids`: the messages that are here; `unsafe`: those that no other broker is known to have."""
        self._now_us, self._long_us, self._ids, self._unsafe = now_us, long_us, ids, unsafe
        self._heard_us = now_us()
        self._before: frozenset[str] | None = None
        """What was here when the silence began; None: there is none, as far as is known."""
        self._old: frozenset[str] = frozenset()
        """What was here when the last long silence began, and when that ended."""
        self._ended_us = 0

    def look(self) -> None:
        """A driver calls this now and then: a silence may have begun. What no other broker is known to have came in it,
        or was on its way, unless this broker stood still: then its clients went elsewhere and published it again."""
        quiet_us = self._now_us() - self._heard_us
        if self._before is None and quiet_us > QUIET_US:
            stood = quiet_us > STOOD_US
            self._before = frozenset(self._ids()).difference(() if stood else self._unsafe())

    def heard(self) -> None:
        """Frames of another broker came, and were not looked at yet."""
        now_us = self._now_us()
        if now_us > self._heard_us + self._long_us:
            self._old = frozenset(self._ids()) if self._before is None else self._before
            self._ended_us = now_us
        self._heard_us, self._before = now_us, None

    def rest(self, legacy: Snapshot | None) -> Snapshot | None:
        """Of a legacy what may be left after the last silence."""
        if legacy is None or not self._old or self._now_us() > self._ended_us + self._long_us:
            return legacy
        news = tuple(e for e in legacy.envelopes if e.message.id not in self._old)
        return replace(legacy, envelopes=news, headers=())
