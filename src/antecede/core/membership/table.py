"""What one process knows of all others, and the view that follows from it.

Decided here: who is in the view (whoever is not out, suspects included), who is out for ever, what of all this a
subscriber is told (brokers), and which of two views stays when each has declared the other dead: the larger one,
counted in members or brokers; of two equally large ones the one that holds the smallest name. Subscribers that are out
are told to others for a while only, and remembered a while longer, so that a late rumour does not bring them back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from antecede.core.machine import Peer
from antecede.core.membership.news import News, beats, split_name

__all__ = ["STONES", "Claim", "Table", "claim_of"]


STONES = 10
"""So many times as long as others are told of it is it remembered that a subscriber is out. Costs memory."""


class Claim(NamedTuple):
    """The weight of a view, as it is held against another."""

    voters: int
    smallest: str
    holder: str

    def stays_before(self, other: Claim) -> bool:
        return (-self.voters, self.smallest, self.holder) < (-other.voters, other.smallest, other.holder)


def voters_among(news: Iterable[News]) -> list[str]:
    return [one.name for one in news if one.role != "subscriber" and not one.final]


def claim_of(news: Iterable[News], holder: str) -> Claim:
    """What the view weighs that follows from this news."""
    voters = voters_among(news)
    return Claim(len(voters), min(voters, default=holder), holder)


class Table:
    def __init__(self, me: News) -> None:
        self.name = me.name
        self._mirrors = me.role == "subscriber"
        self.entries: dict[str, News] = {me.name: me}
        """By name, what changed last at the end."""
        self.version = 0
        """Rises with every change."""
        self._latest: dict[str, int] = {}
        """Name without incarnation -> the latest one heard of."""
        self._ended: dict[str, int] = {}
        """Subscribers that are out, and since when that is known."""
        self._stones: dict[str, int] = {}
        """Processes that are out and that nobody is told of any more, and until when they are remembered, the first to
        go first."""
        self._present: tuple[int, list[News]] | None = None
        """The processes that are there, at that version."""
        self.floor = 0
        """A later incarnation than any that was forgotten: what one begins with of whose name nothing is known."""
        self._note_life(me.name)

    @property
    def me(self) -> News:
        return self.entries[self.name]

    def get(self, name: str) -> News | None:
        """What is known of a process."""
        return self.entries.get(name)

    def is_out(self, name: str) -> bool:
        """Whether a process is dead, left, or an incarnation that a later one has replaced. One that was never heard of
        is not out."""
        known = self.entries.get(name)
        if known is not None:
            return known.final
        if name in self._stones:
            return True
        base, life = split_name(name)
        return life < self._latest.get(base, 0)

    def merge(self, news: News) -> bool:
        """Take it in; False: nothing new. A subscriber only mirrors what brokers say: if those of the side it was on
        have yielded, the others are there again."""
        known = self.entries.get(news.name)
        if known is None:
            if self.is_out(news.name):
                return False
        elif not beats(news, known) and not (self._mirrors and known.final and not news.final):
            return False
        self.version += 1
        self.entries.pop(news.name, None)
        self.entries[news.name] = news
        self._note_life(news.name)
        return True

    def _note_life(self, name: str) -> None:
        base, life = split_name(name)
        before = self._latest.get(base, 0)
        if life > before:  # of those before only the latest was kept
            self.entries.pop(f"{base}.{before}" if before else base, None)
        self._latest[base] = max(life, before)

    def latest(self, base: str) -> int | None:
        """The latest incarnation that was heard of; None: none was, or it is forgotten."""
        return self._latest.get(base)

    def forget(self, at_us: int, told_us: int) -> None:
        """Of subscribers that have been out for `told_us` nobody is told any more: all others know it. For ten times as
        long it is remembered that they are out."""
        ended = {n.name for n in self.entries.values() if n.final and n.role == "subscriber" and n.name != self.name}
        self._ended = {name: self._ended.get(name, at_us) for name in ended}
        for name in [name for name, since_us in self._ended.items() if at_us >= since_us + told_us]:
            del self.entries[name], self._ended[name]
            self._stones[name] = at_us + STONES * told_us
        for name in [name for name, until_us in self._stones.items() if at_us >= until_us]:
            del self._stones[name]
            base, life = split_name(name)
            if self._latest.get(base) == life:
                del self._latest[base]
                self.floor = max(self.floor, life + 1)

    def drop(self, name: str) -> None:
        """As if nothing had been heard of it."""
        del self.entries[name]
        self._present = None

    def keep_only(self, named: set[str]) -> None:
        """Subscribers: a broker has named all it knows. Of whom it never heard nothing more would ever be told, so such
        are forgotten, except this one's own."""
        me = self.me
        for name in [name for name in self.entries if name not in named and name != me.name and name not in me.at]:
            self.version += 1
            del self.entries[name]

    # -- who is there ----------------------------------------------------------------------------------------------

    def present(self) -> list[News]:
        """In the order in which the latest news of each came. Asked each time anything comes: worked out once."""
        if self._present is None or self._present[0] != self.version:
            self._present = (self.version, [news for news in self.entries.values() if not news.final])
        return self._present[1]

    def voters(self) -> list[str]:
        """The members or brokers of the view, this process included if it is one."""
        return voters_among(self.entries.values())

    def view(self) -> dict[str, Peer]:
        """What the machine inside is to believe: a subscriber needs no other subscribers."""
        few = self.me.role == "subscriber"
        return {
            n.name: Peer(n.name, n.role, n.groups, n.site)
            for n in self.present()
            if not few or n.role != "subscriber" or n.name == self.name
        }

    def brokers(self) -> dict[str, tuple[str, ...]]:
        return {n.name: n.groups for n in self.present() if n.role == "broker"}

    def claim(self) -> Claim:
        return claim_of(self.entries.values(), self.name)

    def told_to(self, role: str, name: str) -> Iterable[News]:
        """All that a process of that role is told: a subscriber of brokers, and what is believed of itself."""
        return (n for n in self.entries.values() if role != "subscriber" or n.role != "subscriber" or n.name == name)
