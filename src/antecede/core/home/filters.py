"""Filters of a client that change while it is attached (PROTOCOLS s3.6, GROW): what it is owed, from when and to when.

A client that shrinks its filters says so, and from that moment is owed nothing that only the old filters match. A
client that grows them must hear from its home broker from which number on, and behind which cut, messages of the new
groups are owed (H8); what a new filter shares with an old one is owed all the while. The client repeats a change (GROW)
until the home confirms it (GROWN), or until an ATTACH states all filters anyway. Changes are numbered, so that the
answer to an old change is not taken for that to a new one. Example: Bob has `a`, asks for `a` and `b` (change 1), then
for `a` alone (change 2). GROWN of change 1 confirms nothing that he still wants: `b` is not owed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from antecede.core.begin.cut import Cuts
from antecede.core.effects import Leave
from antecede.core.frames import Grow, Origins
from antecede.core.interest import Interest
from antecede.core.marks import cut_of
from antecede.core.message import Message, split_id
from antecede.core.topics import covers

if TYPE_CHECKING:
    from antecede.core.home.client import Client

__all__ = ["Growing"]


class Growing:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.change = 0
        """The number of the last change."""
        self.owed = Interest(())
        """The filters of which it is known where they begin: nothing is delivered for the sake of others."""
        self.at_us: int | None = None
        """When to ask again."""
        self.passed: dict[int, bool] = {}
        """Numbers of this attachment that were not wanted when they came, and whether more than a header came: then
        another copy is a repeat."""
        self._began: dict[str, tuple[str, ...]] = {}
        """Per filter that is owed, the cut at which it begins."""
        self._missed: dict[str, int] = {}
        """Per sender, the newest message that was passed: any filter that is wanted later begins behind it."""
        self._asked: dict[int, tuple[str, ...]] = {}
        """Changes that are not confirmed yet: the filters that the client wanted then."""

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters that are owed."""
        return self.owed.filters

    def came(self, number: int) -> bool:
        """Whether more than a header came of a number that was not wanted: then another copy is a repeat."""
        return self.passed.get(number, False)

    def want(self, filters: Sequence[str], now_us: int) -> None:
        """The client wants these filters from now on: the others are given up at once."""
        client = self.client
        client.interest = Interest(filters)
        self._narrow()
        self.leave(tuple(f for f in self.owed.filters if not any(covers(one, f) for one in filters)))
        for number, message in client.dismiss(self._still_owed, now_us):
            self.dismiss(number, message, came=True)
        self.change += 1
        self._asked[self.change] = client.interest.filters

    def _still_owed(self, message: Message) -> bool:
        return self.owed.takes(message, self.client.content)

    def _narrow(self) -> None:
        """A new filter that an owed one covers begins where that one began and goes on. Example: Bob has `room/#` and
        now wants `room/7` instead: nothing of `room/7` is passed over."""
        client = self.client
        for new in [f for f in client.interest.filters if f not in self.owed.filters]:
            wide = next((f for f in self.owed.filters if covers(f, new)), None)
            if wide is not None and client.home is not None:
                cuts = Cuts(client.cut())
                cuts.widen(Cuts(self._began[wide]))
                self._join(cuts, (new,), client.home)

    def began(self, filters: Iterable[str] | None = None) -> list[tuple[str, ...]]:
        """The cuts at which these filters begin, as far as they are owed; None: of all that are."""
        return [self._began[f] for f in (self._began if filters is None else filters) if f in self._began]

    def dismiss(self, number: int, message: Message, *, came: bool) -> None:
        """An item came that is not wanted now; its home will not send it again."""
        self.passed[number] = came or self.passed.get(number, False)
        sender, seq = split_id(message.id)
        self._missed[sender] = max(seq, self._missed.get(sender, 0))

    def attached(self) -> None:
        """A new attachment begins: numbers begin anew, and the new home looks itself at what was passed."""
        self.passed.clear()
        self._missed.clear()

    def leave(self, filters: tuple[str, ...]) -> None:
        if filters:
            self.owed = Interest(f for f in self.owed.filters if f not in filters)
            for filter in filters:
                del self._began[filter]
            self.client.say(Leave(filters))

    def ask(self, now_us: int) -> None:
        client = self.client
        assert client.home is not None
        self.at_us = now_us + 2 * client.settings.retry_us
        filters, index = client.interest.filters, client.behind()
        client.send((client.home,), Grow(client.attachment, self.change, filters, index, *client.frontier()))

    def attaching(self) -> int:
        """The change that an attachment confirms, 0 if there is none: only the last one counts then."""
        self.at_us = None
        self._asked = {self.change: self._asked[self.change]} if self.change in self._asked else {}
        return self.change if self._asked else 0

    def confirmed(self, change: int, peer: str, cut: tuple[str, ...], origins: Origins = ()) -> None:
        """The home broker says at which cut a change of filters begins. A filter that was given up in between, and is
        wanted again, begins later. Example: Bob asks for `b` (1), for `a` (2), for `b` again (3): GROWN of change 1
        begins nothing."""
        wanted = self._asked.get(change)
        if wanted is None:
            return
        for older in [one for one in self._asked if one <= change]:
            del self._asked[older]
        if change == self.change:
            self.at_us = None
        later = [self.client.interest.filters, *self._asked.values()]
        new = tuple(f for f in wanted if f not in self.owed.filters and all(f in one for one in later))
        self.join(new, peer, cut, origins)

    def join(self, filters: tuple[str, ...], peer: str, cut: tuple[str, ...], origins: Origins = ()) -> None:
        cuts = Cuts(cut, origins)
        cuts.widen(Cuts(cut_of(self._missed)))
        self._join(cuts, filters, peer)

    def _join(self, cuts: Cuts, filters: tuple[str, ...], peer: str) -> None:
        self.owed = Interest((*self.owed.filters, *filters))
        joins = cuts.joins(filters, peer, self.client.guard_us, self.client.groups)
        self._began.update((filter, join.cut) for join in joins for filter in join.filters)
        self.client.say(*joins)
