"""The one face of every protocol: what a driver may call, and what it must tell.

A machine has no clock, no socket and no dice of its own: the driver says `now_us`, carries out the effects, and hands
in a `random.Random` of which only `random()` and `getrandbits()` are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from antecede.core.effects import Effect
from antecede.core.frames import Frame
from antecede.core.message import Message, Publication

__all__ = ["Dice", "Machine", "Peer", "Settings"]


class Dice(Protocol):
    def random(self) -> float: ...
    def getrandbits(self, k: int, /) -> int: ...


@dataclass(slots=True, frozen=True)
class Peer:
    """What the view says of a process."""

    name: str
    role: str
    """`member`, `broker` or `subscriber`."""
    groups: tuple[str, ...]
    site: str = ""
    """Where it is: members of one site are near each other. Empty: not known."""


@dataclass(slots=True, frozen=True)
class Settings:
    """Knobs of a machine; all times in microseconds. Each says what raising it costs."""

    deadlines: bool = True
    """Whether messages may carry deadlines. False: nothing is ever released early, everything is waited for."""
    guard_us: int = 0
    """How long before a deadline this process stops waiting (bound on clock error). Costs delivery time."""
    hop_us: int = 0
    """What a broker leaves for the last hop to its subscribers. Costs the broker waiting time."""
    round_us: int = 50_000
    """Between digests. Raising it finds lost tails later; lowering it costs frames."""
    fanout: int = 3
    """How many peers a digest goes to each round, and a message where few get it by itself. Costs frames."""
    colours: int = 0
    """How many rounds a message lives, where an Order counts by rounds (ceil(log2 N) + alpha). Costs waiting, where
    something is lost; 0: there are no lifetimes."""
    turns: bool = False
    """Whether each round belongs to one broker, in the order of their names (004 s1), where an Order counts by rounds.
    Costs a wait of up to as many rounds as there are brokers."""
    window: int = 0
    """So many of its own messages a publisher leaves unacknowledged, where acknowledgements are waited for; further
    ones wait. Raising it costs memory, lowering it throughput; 0: any number."""
    times: int = 1
    """In how many rounds everybody who has a message pushes it, where it is gossiped. Costs copies."""
    view_below: int = 0
    """Gossip goes to so many subscribers of all there are, wherever they are attached; 0: to a broker's own. Raising it
    costs memory, spreads evener."""
    forward: bool = False
    """Whether subscribers pass on what they got, once, to others that want the same, where it is gossiped. Costs
    copies."""
    renewed: float = 0.5
    """Which share of that view is replaced each round. Raising it costs knowing more of those who come and go."""
    view: int = 0
    """Rounds go to members of a local view of at most so many; 0: of all. Raising it costs memory, spreads evener."""
    near: float = 0.0
    """How often a near member is preferred in a round. Raising it saves long links, slows what must cross them."""
    patience_us: int = 0
    """How long to wait for a missing cause before asking. Raising it costs latency under loss, saves requests."""
    retry_us: int = 30_000
    """Between two requests for the same thing (about a round trip). Raising it costs latency under heavy loss."""
    trip_us: int = 10_000
    """The least an answer takes: no request leaves that could not be answered in time."""
    clock_bound_us: int = 0
    """Two clocks differ by at most twice this. Costs how long expired messages are remembered."""
    grace_us: int = 2_000_000
    """How long something stays after it could be dropped: at least crash detection and re-attach. Costs memory."""
    memory_us: int = 30_000_000
    """How long arrivals are remembered, to tell a repeat from a newcomer. Costs memory."""
    remember_us: int = 0
    """How long a sender that left is remembered after nobody names it any more (`home/retiring.py`): no copy of a
    message may be on its way for longer. Costs memory for each that left. 0: nobody is ever forgotten, and whoever
    published is named for ever."""
    backlog: int = 65_536
    """So many messages wait at a home broker for one client that does not acknowledge; of more the oldest overflow, for
    it alone. Raising it costs memory for each such client, and how long all brokers keep what it has not had."""
    backlog_bytes: int = 64 * 2**20
    """And so many bytes, payloads counted in full. Raising it costs the same."""

    @property
    def slack_us(self) -> int:
        """By so much two clocks may differ: what has expired here may be in time elsewhere for so long."""
        return 2 * self.clock_bound_us


class Machine(Protocol):
    name: str
    role: str

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        """Begin. `joining`: others have history (a restart, a newcomer): begin at a causal cut, not at nothing."""
        ...

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        """The processes this one should believe in (itself included)."""
        ...

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        """Subscribers only: attach to the brokers `at`, wanting `filters`. The Join rows come when they answer."""
        ...

    def unsubscribe(self, now_us: int) -> list[Effect]: ...

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        """Subscribers only: attach to these brokers instead."""
        ...

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        """The message it becomes. InputError: it may not be published here, and nothing has changed."""
        ...

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]: ...

    def wake(self, now_us: int) -> list[Effect]:
        """Time has reached `next_wake()`: deadlines, retries, rounds."""
        ...

    def next_wake(self) -> int | None:
        """When to call `wake`, in this process's clock; None: only a frame can change anything."""
        ...
