"""Everything that goes on the wire, one class per kind. `wire/` turns them into bytes; `FRAMES` is the whole list.

Frames are shared by all their receivers in the simulator: nobody changes one after sending it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias, get_args

from antecede.core.membership.news import News
from antecede.core.message import Envelope, Message

__all__ = [
    "FRAMES",
    "Ack",
    "Attach",
    "Attached",
    "Data",
    "Detach",
    "Digest",
    "Frame",
    "Fuse",
    "Fused",
    "Gone",
    "Grow",
    "Grown",
    "Item",
    "Items",
    "Kept",
    "Node",
    "Origins",
    "Out",
    "PageRequest",
    "Ping",
    "PingRequest",
    "Pong",
    "Publish",
    "Published",
    "Quiet",
    "Ranges",
    "Received",
    "Request",
    "Retired",
    "Rumours",
    "Snapshot",
    "SnapshotPage",
    "SnapshotRequest",
    "Sync",
    "Top",
    "Want",
]

Node: TypeAlias = tuple[str, int, tuple[str, ...], tuple[tuple[str, int], ...], int | None]
"""(sender, seq, groups, predecessors, deadline_us): a node of the context graph as it travels."""

Ranges: TypeAlias = tuple[tuple[str, int, int], ...]
"""(stream, low, high): the marks low < n <= high of a stream."""

Origins: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""(group, message ids that lie behind there beyond a common cut)."""


@dataclass(slots=True, eq=False)
class Base:
    kind: ClassVar[str] = ""
    """The name of the class in lower case: `page-request` for PageRequest."""
    size: int = field(default=-1, init=False)
    control: int = field(default=-1, init=False)
    """Bytes on the wire and, of those, encoded stamps; -1 until the wire was asked (it remembers here)."""

    def __init_subclass__(cls) -> None:
        cls.kind = re.sub(r"(?<=.)([A-Z])", r"-\1", cls.__name__).lower()

    def messages(self) -> tuple[Message, ...]:
        """What arrives with this frame: the driver writes one `arrive` row for each."""
        return ()


@dataclass(slots=True, eq=False)
class Data(Base):
    """Messages between brokers, between members, or from a broker to a subscriber; also answers to a Request."""

    envelopes: tuple[Envelope, ...]
    answer: bool = False

    def messages(self) -> tuple[Message, ...]:
        return tuple(e.message for e in self.envelopes)


@dataclass(slots=True, eq=False)
class Digest(Base):
    """Finds lost tails, and lets two processes agree that neither lacks anything.

    offer   newest message here per stream that the receiver may want: what can be asked for
    have    what the sender does not lack, for streams either side offered: it lies behind, or is held
    done    what lies behind, at a broker's subscribers too; empty where it is as `have` (or where all expires);
            from brokers of `colour` to subscribers the summary: in which rounds before the newest there is a message
    stable  what is known to be done everywhere (likewise)
    reply   please answer with yours: I do not know yet that you have all this
    """

    offer: Mapping[str, int]
    have: Mapping[str, int]
    done: Mapping[str, int] = field(default_factory=dict)
    stable: Mapping[str, int] = field(default_factory=dict)
    reply: bool = False


@dataclass(slots=True, eq=False)
class Request(Base):
    ranges: Ranges
    lasting: bool = False
    """Whether something that has no deadline waits for any of it: then it is said what cannot be had."""


@dataclass(slots=True, eq=False)
class Gone(Base):
    """Answer about messages that can no longer be had: `headers` are of expired ones (stamp, no payload); `lacks` names
    those that are not here and, as far as is known, can no longer come from their sender either."""

    headers: tuple[Envelope, ...]
    lacks: Ranges = ()


@dataclass(slots=True, eq=False)
class Publish(Base):
    """Client to home broker: publish these for me (PUB). Without payload where the deadline passed unacknowledged."""

    envelopes: tuple[Envelope, ...]
    headers_only: bool = False

    def messages(self) -> tuple[Message, ...]:
        return () if self.headers_only else tuple(e.message for e in self.envelopes)


@dataclass(slots=True, eq=False)
class Published(Base):
    """Home broker to client: these are safe (PUBACK)."""

    ids: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Kept(Base):
    """Broker to the home broker that relayed them: these publications are here too."""

    ids: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Received(Base):
    """Home broker to client: these have come, but are not safe yet. Without it a client publishes again soon."""

    ids: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Attach(Base):
    """Subscriber to broker: attach me.

    frontier   marks of all messages in the subscriber's past; None: it is new, and begins at the broker's own cut
    began      marks beyond the frontier of where the subscriber began
    published  number of its newest publication (`loose`: of its newest unordered one)
    unacked    ids of those publications up to there that it will publish again; it publishes no other again
    change     which change of its filters begins to hold with this attachment; 0: none does
    missed     ids of messages that came too late, or were said to have expired: they are not to be sent again
    """

    attachment: int
    filters: tuple[str, ...]
    frontier: Mapping[str, int] | None
    unacked: tuple[str, ...] = ()
    published: int = 0
    loose: int = 0
    change: int = 0
    began: Mapping[str, int] = field(default_factory=dict)
    missed: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Attached(Base):
    """Broker to subscriber. `start`: the marks that lie behind; `cut` and `origins`: the same as message ids, for the
    record (see `begin/cut.py`)."""

    attachment: int
    start: Mapping[str, int]
    cut: tuple[str, ...]
    origins: Origins = ()


@dataclass(slots=True, eq=False)
class Item:
    """One numbered message of an attachment; `after` is a bitmap: bit j set means index - 1 - j is a cause."""

    index: int
    after: int
    envelope: Envelope
    gone: bool = False
    """Header only: it expired while it was being resent."""


@dataclass(slots=True, eq=False)
class Items(Base):
    """Home broker to client."""

    attachment: int
    items: tuple[Item, ...]

    def messages(self) -> tuple[Message, ...]:
        return tuple(i.envelope.message for i in self.items if not i.gone)


@dataclass(slots=True, eq=False)
class Grow(Base):
    """Client to home: from now on I want `filters`, more or fewer than before; behind me are all numbers up to `index`;
    my past is `frontier`, and I began at `began`. Changes are numbered; this is also how a client shrinks."""

    attachment: int
    change: int
    filters: tuple[str, ...]
    index: int
    frontier: Mapping[str, int]
    began: Mapping[str, int] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class Grown(Base):
    """Home broker to client: that change of filters holds from number `first` on; `cut` and `origins`, in message ids,
    lie behind it.

    Items numbered from `first` on travel in this frame until the client has acknowledged one of them: so no message of
    a new group comes to a client that does not know where the group begins.
    """

    attachment: int
    change: int
    first: int
    cut: tuple[str, ...]
    items: tuple[Item, ...] = ()
    origins: Origins = ()

    def messages(self) -> tuple[Message, ...]:
        return tuple(i.envelope.message for i in self.items if not i.gone)


@dataclass(slots=True, eq=False)
class Fuse(Base):
    """Client to home: fuse for me what matches `filters`, as `spec` says; I have the results up to number `have`, and
    `previous` answered last, so the fold is there. No filters: no more. A home asks another one with `client` instead:
    give me the fold of that client of yours."""

    number: int
    filters: tuple[str, ...]
    spec: bytes
    have: int = 0
    previous: str = ""
    client: str = ""


@dataclass(slots=True, eq=False)
class Fused(Base):
    """Home to client: results, from number `first` on. To another home, whose `client` it is now: the fold as `state`,
    empty if there is none."""

    number: int
    first: int
    results: tuple[bytes, ...] = ()
    state: bytes = b""
    client: str = ""


@dataclass(slots=True, eq=False)
class Top(Base):
    """Home broker to client: the highest index there is (finds lost tails). Items up to `low` cannot be had any more:
    the client did not acknowledge them, and there was no more room."""

    attachment: int
    top: int
    low: int = 0


@dataclass(slots=True, eq=False)
class Want(Base):
    attachment: int
    indexes: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Ack(Base):
    """Client to home: everything up to `index` lies behind."""

    attachment: int
    index: int


@dataclass(slots=True, eq=False)
class Detach(Base):
    attachment: int


@dataclass(slots=True, eq=False)
class Quiet(Base):
    """Broker to broker: up to these numbers, these streams are over at one that carries their groups (see
    `home/retiring.py`)."""

    marks: Mapping[str, int]


@dataclass(slots=True, eq=False)
class Retired(Base):
    """Up to these numbers, these streams are over everywhere: nobody need name them any more. `heard`: the answer."""

    marks: Mapping[str, int]
    heard: bool = False


@dataclass(slots=True, eq=False)
class SnapshotRequest(Base):
    """A joining member or broker asks where to begin. `whole`: also what is retained."""

    whole: bool


@dataclass(slots=True, eq=False)
class Snapshot(Base):
    """Where to begin: `past` lies behind, `cut` says the same in message ids; `envelopes` are retained, in order.

    headers of what expired not long ago: it still carries order
    nodes   the whole context graph (only where the Order is one)
    origins groups in which the sender itself began at a cut: (group, whose cut, the cut)
    dropped what the sender has forgotten of its graph, of any group: who takes over from it cannot tell what follows it
    blank   the sender is joining itself and knows nothing: two newcomers must not wait for each other
    """

    past: Mapping[str, int]
    cut: tuple[str, ...]
    envelopes: tuple[Envelope, ...] = ()
    headers: tuple[Envelope, ...] = ()
    nodes: tuple[Node, ...] = ()
    origins: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    blank: bool = False

    def messages(self) -> tuple[Message, ...]:
        return tuple(e.message for e in self.envelopes)


@dataclass(slots=True, eq=False)
class SnapshotPage(Base):
    """One of `count` pages of a snapshot that is too large for one frame; `number` tells snapshots of a donor apart."""

    number: int
    index: int
    count: int
    snapshot: Snapshot

    def messages(self) -> tuple[Message, ...]:
        return self.snapshot.messages()


@dataclass(slots=True, eq=False)
class PageRequest(Base):
    """A newcomer asks for a page of a snapshot, and those after it. `first` beyond the last page: it has them all."""

    number: int
    first: int


@dataclass(slots=True, eq=False)
class Rumours(Base):
    """Gossip: messages, names of messages that can be asked for, and names of members that are to be passed on."""

    envelopes: tuple[Envelope, ...]
    digest: Ranges = ()
    names: tuple[str, ...] = ()

    def messages(self) -> tuple[Message, ...]:
        return tuple(e.message for e in self.envelopes)


@dataclass(slots=True, eq=False)
class Ping(Base):
    """Are you there? Answered by a Pong of the same number. All frames of membership carry news of others."""

    number: int
    news: tuple[News, ...] = ()


@dataclass(slots=True, eq=False)
class PingRequest(Base):
    """Ping `target` for me and pass on its answer: I cannot reach it."""

    number: int
    target: str
    news: tuple[News, ...] = ()


@dataclass(slots=True, eq=False)
class Pong(Base):
    """`of` was there a moment ago: the sender itself, or whom it was asked to ping."""

    number: int
    of: str
    news: tuple[News, ...] = ()


@dataclass(slots=True, eq=False)
class Sync(Base):
    """All that the sender knows of who is there: to join, to leave, and every so often. `reply`: tell me yours."""

    news: tuple[News, ...]
    reply: bool = False


@dataclass(slots=True, eq=False)
class Out(Base):
    """`name` is out of the sender's view, which has `voters` members or brokers, the smallest name being `smallest`.
    The name tells incarnations apart: when a process begins again at the same address, such frames are on their way."""

    name: str
    voters: int
    smallest: str


Frame: TypeAlias = (
    Data | Digest | Request | Gone | Publish | Published | Received | Attach | Attached | Items | Top | Want | Ack
    | Detach | SnapshotRequest | Snapshot | Rumours | Ping | PingRequest | Pong | Sync | Out | Grow | Grown | Kept
    | Fuse | Fused | Quiet | Retired | SnapshotPage | PageRequest
)  # fmt: skip

FRAMES: tuple[type[Base], ...] = get_args(Frame)
