"""One process as both of its halves know it: its name, the members it believes in, and the past that the halves share.

The receiving half (`receiver.py`) writes the past, the serving half (`server.py`) reads it. Decided here: what else the
halves have in common, and what a process is put together from.
"""

from __future__ import annotations

from typing import NamedTuple

from antecede.core.content import Read, Seen, plain_content
from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Effect, Send
from antecede.core.entries import EACH, Groups, Interests
from antecede.core.frames import Frame
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Peer, Settings
from antecede.core.marks import cut_of
from antecede.core.message import ORDERS, Mark, sender_of
from antecede.core.order.past import Past
from antecede.core.order.reader import Reader
from antecede.core.order.writer import NoWriter, Writer
from antecede.core.repair.asking import Solicitation
from antecede.core.repair.store import Store

__all__ = ["Parts", "Process"]


class Parts(NamedTuple):
    """The pieces that a process is put together from."""

    name: str
    interest: Interest
    settings: Settings
    dice: Dice
    writer: Writer
    reader: Reader
    guard_us: int
    asks: bool = True
    digests: bool = True
    inbox: type[Inbox] = Inbox
    orders: tuple[str, ...] = ORDERS
    """What a publisher may ask for here; the first unless it says otherwise."""
    dated: bool = False
    """Whether every message needs a deadline."""
    groups: Groups = EACH
    """Under which messages fall."""
    read: Read = plain_content
    """What predicates look at, in a payload."""
    asking: type[Solicitation] = Solicitation
    store: type[Store] = Store

    @property
    def reads_only(self) -> bool:
        """Whether the process only reads stamps of brokers: then they say which messages cannot be had any more."""
        return isinstance(self.writer, NoWriter)


class Process:
    role = "member"

    def __init__(self, parts: Parts) -> None:
        self.name, self.interest, self.settings, self.dice = parts.name, parts.interest, parts.settings, parts.dice
        self.groups, self.orders, self.dated = parts.groups, parts.orders, parts.dated
        self.writer = parts.writer
        self.past: Past = parts.reader
        self.tops = self.past.tops
        self.seen = Seen(parts.read)
        self.out: list[Effect] = []
        self.joined = False
        self.members: dict[str, Peer] = {}
        self.departed: dict[str, int] = {}
        """Members that were in view and are not, and since when."""
        self.unseen: dict[str, int] = {}
        """Senders that were never in view, and since when a message of theirs is wanted: each is waited for once."""
        self._interests = Interests(parts.groups)

    def send(self, to: tuple[str, ...], frame: Frame) -> None:
        self.out.append(Send(to, frame))

    def say(self, *effects: Effect) -> None:
        """Add effects that are no frames: each is a row."""
        self.out.extend(effects)

    def peer(self, name: str) -> Peer | None:
        """What the view says of a process."""
        return self.members.get(name)

    def check_topics(self, topics: tuple[str, ...]) -> None:
        """Raise unless each falls under a group."""
        self.groups.check_topics(topics)

    def known_interest(self, filters: tuple[str, ...], *, carried: bool = False) -> Interest:
        """`carried`: of a broker, by the groups that it carries."""
        return self._interests.known(filters, carried=carried)

    def cut(self) -> tuple[str, ...]:
        """The newest message of each sender that was delivered or published here, as ids."""
        return cut_of(self.tops)

    def absent_since(self, mark: Mark, wanted_us: int) -> int | None:
        """Since when a message can no longer come from its sender; None: it still can."""
        sender = sender_of(mark[0])
        if sender in self.members:
            return None
        if sender in self.departed:
            return self.departed[sender]
        return self.unseen.setdefault(sender, wanted_us)  # gone long ago, or not yet in view
