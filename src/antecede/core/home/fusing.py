"""Fused subscriptions as a client keeps them: what it asked for, which home has the fold, and the results that wait.

A client asks its home until the home answers, at every attachment anew, and says which home answered last. Results are
taken in the order of their numbers, each once; the results that wait are bounded, and the oldest goes first. A result
that was taken may be named in `after=`: a message published then follows the cut that the result is of. Example: Bob
asks A for the mean of `temp/#` (Fuse 1) and has results 1 to 4 when he moves
to B. He asks B and names A: B takes the fold over from A and goes on with result 5.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from antecede.core.effects import Effect
from antecede.core.fold.spec import FuseSpec
from antecede.core.frames import Fuse, Fused
from antecede.errors import RemoteProtocolError

if TYPE_CHECKING:
    from antecede.core.home.client import Client

__all__ = ["LOST", "Fusing", "result_id"]


LOST = "-"
"""No broker is called so: who has the fold is gone."""


def result_id(client: str, number: int, n: int) -> str:
    """The name of a result, for `after=`: no message is called so."""
    return f"{client}/fused-{number}:{n}"


@dataclass(slots=True)
class Wanted:
    filters: tuple[str, ...]
    spec: FuseSpec
    size: int
    have: int = 0
    """Results up to here have come."""
    holder: str = ""
    """The home that answered last: it has the fold."""
    asked: bool = True
    """Whether an answer is waited for."""
    waiting: deque[tuple[int, dict[str, Any]]] = field(default_factory=deque)
    dropped: int = 0


class Fusing:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.wanted: dict[int, Wanted] = {}
        self.last = 0
        self.at_us: int | None = None
        """When to ask again."""

    # -- for the driver ----------------------------------------------------------------------------------------------

    def open(
        self, filters: Sequence[str], spec: FuseSpec, size: int, now_us: int, *, again: bool = False
    ) -> tuple[int, list[Effect]]:
        """Fuse from now on; returns the subscription's number. `again`: an earlier life had it, and lost the fold."""
        self.last += 1
        self.wanted[self.last] = Wanted(tuple(filters), spec, size, holder=LOST if again else "")
        self.ask(now_us)
        return self.last, self.client.flush(now_us)

    def close(self, number: int, now_us: int) -> list[Effect]:
        if self.wanted.pop(number, None) is not None and self.client.home is not None:
            self.client.say_home(Fuse(number, (), b""))
        return self.client.flush(now_us)

    def confirmed(self, number: int) -> bool:
        """Whether a home has answered for this subscription."""
        return number in self.wanted and not self.wanted[number].asked

    def ready(self, number: int) -> int:
        return len(self.wanted[number].waiting) if number in self.wanted else 0

    def take(self, number: int) -> tuple[int, dict[str, Any]]:
        """The next result: from now on it may be named as a cause."""
        client = self.client
        n, said = self.wanted[number].waiting.popleft()
        name = result_id(client.name, number, n)
        client.took_result(name, tuple(said["causes"]), said["marks"], said["rank"])
        return n, said

    # -- for the client ----------------------------------------------------------------------------------------------

    def attached(self, now_us: int) -> None:
        """The client has another home, which is asked for all fused subscriptions."""
        for one in self.wanted.values():
            one.asked = True
        self.ask(now_us)

    def ask(self, now_us: int) -> None:
        client = self.client
        self.at_us = None
        for number, one in self.wanted.items():
            if one.asked and client.home is not None:
                self._say(number, one)
                self.at_us = now_us + 2 * client.settings.retry_us

    def _say(self, number: int, one: Wanted) -> None:
        spec = one.spec
        self.client.say_home(Fuse(number, one.filters, spec.to_bytes(), one.have, one.holder))

    def on_fused(self, frame: Fused, sender: str, now_us: int) -> None:
        one = self.wanted.get(frame.number)
        if one is None or sender != self.client.home:
            return
        one.asked, one.holder = False, sender
        before = one.have
        for n, result in enumerate(frame.results, frame.first):
            if n > one.have:
                one.waiting.append((n, _read(result)))
                one.have = n
        while len(one.waiting) > one.size:
            one.waiting.popleft()
            one.dropped += 1
        if one.have > before:
            self._say(frame.number, one)  # which is how they are acknowledged


def _read(result: bytes) -> dict[str, Any]:
    try:
        said = json.loads(result)
    except (ValueError, RecursionError):
        said = None
    kinds = {"causes": list, "results": list, "marks": dict, "rank": int, "cut": int, "rows": int, "began": str}
    if not isinstance(said, dict) or not all(isinstance(said.get(name), kind) for name, kind in kinds.items()):
        raise RemoteProtocolError("this is no fused result")
    if not all(isinstance(n, int) for n in said["marks"].values()):
        raise RemoteProtocolError("this is no fused result: its marks are no numbers")
    return said
