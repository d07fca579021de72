"""What a machine asks of its driver. Each effect but `Send`, `Dropped`, `Shed` and `Expelled` is a row (or one per
message) of the trace.

`publish`, `arrive`, `crash`, `restart` and `end` rows are the driver's own, so that a machine cannot hide an arrival.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from antecede.core.frames import Frame
from antecede.core.message import Message

__all__ = [
    "Answer",
    "Ask",
    "Collect",
    "Deliver",
    "Discard",
    "Dropped",
    "Effect",
    "Expelled",
    "Join",
    "Leave",
    "Move",
    "Send",
    "Shed",
]


@dataclass(slots=True, eq=False)
class Send:
    """Put one frame on the wire, towards each of `to` (no order among them is implied)."""

    to: tuple[str, ...]
    frame: Frame


@dataclass(slots=True, eq=False)
class Deliver:
    message: Message
    reason: str
    """`causes`: everything before it lies behind; `deadline`: its logical deadline forced it out; `own`: this process
    published it, and asked for what it publishes."""
    missing: tuple[str, ...] = ()
    """What it is delivered without, as far as ids are known: causes that were missing when its deadline forced it out,
    here or at its home, or that nobody has any more. Those that still come are superseded. Not in the row."""


@dataclass(slots=True, eq=False)
class Discard:
    message: str
    reason: str
    """`late`, `superseded`, `duplicate`, `expired`, `overflow`, `foreign`, `gone`."""
    peer: str | None = None
    """The process whose queue the message was in: with `overflow` at a home broker the client; with `late` this process
    itself, where its application did not take the message in time."""
    missing: tuple[str, ...] = ()
    """With `late`: what it waited for, as far as ids are known (their senders blocked it). With `superseded`: what
    follows it and was delivered before. Not in the row."""


@dataclass(slots=True, eq=False)
class Dropped:
    """A queue of the application let go of a message. It is no row: that is a Discard, where the node has not had the
    message by another of its queues."""

    queue: str
    message: str
    reason: str
    """`late` or `overflow`."""


@dataclass(slots=True, eq=False)
class Shed:
    """The home broker `peer` had no more room for so many messages to this client, or they expired there: they will not
    come. Which ones, nobody says. It is no row: the home has one for each. (One that still comes, as the word of it has
    overtaken it, has a Discard here as well.)"""

    peer: str
    messages: int


@dataclass(slots=True, eq=False)
class Ask:
    """A request for what is missing went to `peer`; `messages` are ids where the Order knows them, else empty."""

    peer: str
    messages: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Answer:
    peer: str
    messages: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Join:
    """This process is owed what matches `filters` from here on, except what lies behind `cut`."""

    filters: tuple[str, ...]
    peer: str | None
    cut: tuple[str, ...]
    guard_us: int


@dataclass(slots=True, eq=False)
class Leave:
    filters: tuple[str, ...]
    peer: str | None = None


@dataclass(slots=True, eq=False)
class Move:
    peer: str
    cut: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Collect:
    """The Store lets go of a message."""

    message: str


@dataclass(slots=True, eq=False)
class Expelled:
    """Other processes declared this one dead, so it is: stop it, and start it again, empty, under its next name."""

    by: str


Effect: TypeAlias = Send | Deliver | Discard | Dropped | Shed | Ask | Answer | Join | Leave | Move | Collect | Expelled
