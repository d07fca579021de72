"""What an application publishes, how it is named, and the stamp an Order puts on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

__all__ = [
    "COLLECTED",
    "LOOSE",
    "NO_STAMP",
    "ORDERS",
    "UNORDERED",
    "Envelope",
    "Mark",
    "Message",
    "Publication",
    "Stamp",
    "header_of",
    "id_of_mark",
    "in_time",
    "is_loose",
    "make_id",
    "sender_of",
    "series_of",
    "split_id",
]

ORDERS = ("causal", "fifo", "none")
"""What a publisher may ask for, strongest first; what each means is in docs/promises.md."""

UNORDERED = ("-",)
"""The causes of a message of order `none`, for the record: it follows nothing, and nothing follows it."""

LOOSE = "~"
"""Ends the sender in ids and streams of unordered messages (`p~:1`, `p~@G1`): they are numbered apart, since what is
said of the ordered ones says nothing of these."""

COLLECTED = "@"
"""Ends a broker's name in a cut (`A@:17`): the first 17 messages that A let go of, whoever sent them."""

Mark: TypeAlias = tuple[str, int]
"""(stream, n): message number n of a sender, seen in one stream: all it sends (`p`), or what it addresses to one group
(`p@G1`; numbers then have holes). Sender names hold no `@`, `:` or `~`; what follows the first `@` is the group."""


def make_id(sender: str, seq: int) -> str:
    return f"{sender}:{seq}"


def series_of(stream: str) -> str:
    """Which of its sender's two series, each with its own numbers, a stream is part of.

    >>> series_of("p"), series_of("p@G1"), series_of("p~@G1")
    ('p', 'p', 'p~')
    """
    return stream.partition("@")[0]


def id_of_mark(mark: Mark) -> str:
    """The message a mark of a sender's stream means."""
    return f"{series_of(mark[0])}:{mark[1]}"


def is_loose(stream: str) -> bool:
    """Whether it is a stream of unordered messages. A topic may hold any character.

    >>> is_loose("p~"), is_loose("p~@G1"), is_loose("p@G1"), is_loose("p@home~ann")
    (True, True, False, False)
    """
    return LOOSE in stream and series_of(stream).endswith(LOOSE)


def sender_of(stream: str) -> str:
    """The sender of a stream.

    >>> sender_of("p"), sender_of("p@G1"), sender_of("p~@G1")
    ('p', 'p', 'p')
    """
    return series_of(stream).rstrip(LOOSE)


def split_id(message_id: str) -> tuple[str, int]:
    sender, _, seq = message_id.rpartition(":")
    return sender, int(seq)


@dataclass(slots=True, eq=False)
class Message:
    """Immutable by convention: in the simulator one object is shared by all who hold it."""

    sender: str
    seq: int
    topics: tuple[str, ...]
    payload: bytes = b""
    deadline_us: int | None = None
    expires_us: int | None = None
    after: tuple[str, ...] | None = None
    """Declared causes, for the record only (never sent): None means everything delivered so far."""
    order: str = "causal"
    """One of ORDERS."""
    id: str = field(init=False)

    def __post_init__(self) -> None:
        self.id = f"{self.sender}:{self.seq}" if self.order != "none" else f"{self.sender}{LOOSE}:{self.seq}"

    @property
    def series(self) -> str:
        """The name of the sender's messages that are numbered with this one: the ordered ones, or the others."""
        return self.sender if self.order != "none" else self.sender + LOOSE


class Publication(NamedTuple):
    """What an application asks a machine to publish; it becomes a message when the machine has numbered it."""

    topics: Sequence[str]
    payload: bytes = b""
    deadline_us: int | None = None
    """On the clock of the process that publishes."""
    after: Sequence[str] | None = None
    """The causes it declares: ids of delivered or own messages. None: everything delivered so far."""
    order: str | None = None
    """One of ORDERS that the recipe offers (without `after` unless it is `causal`). None: the strongest."""

    def message(self, sender: str, seq: int, expires_us: int | None = None) -> Message:
        after = None if self.after is None else tuple(self.after)
        order = self.order or ORDERS[0]
        return Message(sender, seq, tuple(self.topics), self.payload, self.deadline_us, expires_us, after, order)


@dataclass(slots=True, eq=False)
class Stamp:
    """Causality as marks: what all Orders with marks share. Opaque to everything but Orders, Store and the wire.

    own     this message's place: one mark per stream it belongs to
    needs   enough to test: once these lie behind by delivery, so does everything in `covers`
    covers  every cause, closed: stream -> the newest cause in it (older ones of the stream are causes too)
    rank    grows along causality; a sort key for held messages, nothing else
    """

    own: tuple[Mark, ...]
    needs: tuple[Mark, ...] = ()
    covers: Mapping[str, int] = field(default_factory=dict)
    rank: int = 0
    extra: object = None
    """What one Order alone adds: the context graph's nodes, or when what it covers expires, per stream (`delta`).
    Nothing else travels."""

    def place(self) -> tuple[tuple[str, ...], int]:
        """The streams of its own marks, and the number in the first of them."""
        return tuple([stream for stream, _ in self.own]), self.own[0][1]

    def newest_needs(self) -> tuple[Mark, ...]:
        """Of each stream that it needs anything of the newest that it needs (perhaps others too)."""
        return self.needs

    def replaces(self, earlier: Stamp) -> bool:
        """Whether it is known, without a look at either, that its message comes right after that of an earlier stamp,
        in the same streams, and that it covers and needs what the other does, and that one."""
        return False

    def reaches_out(self) -> bool:
        """Whether it needs messages of groups that its own message is not addressed to."""
        groups = {stream.partition("@")[2] for stream, _ in self.own}
        return any(stream.partition("@")[2] not in groups for stream, _ in self.needs)


NO_STAMP = Stamp(())
"""Where a stamp is not known."""


@dataclass(slots=True, eq=False)
class Envelope:
    """A message and its stamp, as they travel and as they are stored."""

    message: Message
    stamp: Stamp
    size: int = -1
    """Bytes on the wire, remembered by the wire after the first look; -1: not asked yet."""
    stamp_size: int = -1
    wire: object = None
    """The encoded parts, kept by the wire so that an envelope in many frames is encoded once."""


def in_time(envelope: Envelope, now_us: int) -> bool:
    """Whether a message has not expired."""
    deadline = envelope.message.deadline_us
    return deadline is None or now_us <= deadline


def header_of(envelope: Envelope) -> Envelope:
    """A message without its payload: what is left to say of one that expired."""
    return Envelope(replace(envelope.message, payload=b"", after=None), envelope.stamp)
