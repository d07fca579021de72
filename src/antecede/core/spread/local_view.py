"""Local views (Eugster et al. 2001; 001 s1; 004 GB1) and preference for near members (004 s1): whom a round goes to.

A process believes in everybody its driver tells it of, but goes each round to members of a view of at most `size` of
them. Views move: a gossip carries a name that its sender has put out of its view and, now and then, the sender's own;
the receiver takes them in and puts others out, which it passes on in turn. So names wander, and none is forgotten: if
every gossip told of its sender, those who have nothing to gossip about would soon be in nobody's view. Where rounds
only compare, one place is given to somebody else each round, and whoever must find out that
nobody lacks anything also goes to its neighbours in a ring (`Carrier.neighbours`), for chance alone may leave one out.
`near` prefers members of the same site when targets are drawn. It never decides who is in a view: views that hold only
near members would fall apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from antecede.core.machine import Dice
from antecede.core.spread.chance import some_of

__all__ = ["LocalView"]

WAITING = 4
"""How many names at most wait to be passed on, one with each gossip. Raising it forgets fewer in a burst."""
TELLS = 0.1
"""How often a gossip tells of its sender. Raising it makes views move faster, and the talkative better known."""


class LocalView:
    def __init__(self, dice: Dice, *, size: int, near: float) -> None:
        self._dice = dice
        self.size = size
        """How many peers a view has at most; 0: all."""
        self.near = near
        """How often a near member is preferred."""
        self.names: list[str] = []
        self._known: dict[str, None] = {}
        self._near_by: frozenset[str] = frozenset()
        self._passing: list[str] = []
        """Names to be passed on."""

    def update(self, peers: Sequence[str], near_by: Iterable[str]) -> None:
        """The peers changed: those that are gone leave the view, and of newcomers the view takes in its share."""
        first = not self._known
        new = [name for name in peers if name not in self._known]
        self._known = dict.fromkeys(peers)
        self._near_by = frozenset(near_by)
        self._passing = [name for name in self._passing if name in self._known]
        self.names = [name for name in self.names if name in self._known]
        if not self.size or self.size >= len(peers):
            self.names = list(peers)
            return
        if not first:
            self.learn(name for name in new if self._dice.random() * len(peers) < self.size)
        missing = [name for name in peers if name not in self.names]
        while len(self.names) < self.size and missing:
            self.names.append(missing.pop(self._below(len(missing))))

    def learn(self, names: Iterable[str]) -> None:
        """Names that came with a gossip."""
        if not self.size or self.size >= len(self._known):
            return
        for name in names:
            if name in self._known and name not in self.names:
                if len(self.names) >= self.size:
                    self._pass_on(self.names.pop(self._below(len(self.names))))
                self.names.append(name)

    def move(self) -> None:
        """Another name takes one's place."""
        if self.size and self.size < len(self._known):
            others = [name for name in self._known if name not in self.names]
            self.names[self._below(len(self.names))] = others[self._below(len(others))]

    def _pass_on(self, name: str) -> None:
        self._passing.append(name)
        if len(self._passing) > WAITING:
            self._passing.pop(self._below(len(self._passing)))

    def passed_on(self, sender: str) -> tuple[str, ...]:
        """The names that the next gossip of `sender` carries; they are not said again."""
        if not self.size or self.size >= len(self._known):
            return ()
        names = [self._passing.pop(0)] if self._passing else []
        return (*names, sender) if self._dice.random() < TELLS else tuple(names)

    def within(self, names: Sequence[str]) -> Sequence[str]:
        """The names among these that are in the view; all of them where none is, or there is no view."""
        if not self.size:
            return names
        return [name for name in names if name in self.names] or names

    def draw(self, names: Sequence[str], count: int) -> list[str]:
        """Draw so many of these names, each at most once; each time a near one is preferred with probability `near`."""
        if not self.near:
            return some_of(self._dice, names, count)
        left = list(names)
        if len(left) <= count:
            return left
        drawn = []
        for _ in range(count):
            among = range(len(left))
            if self.near and self._dice.random() < self.near:
                among = [i for i, name in enumerate(left) if name in self._near_by] or among  # type: ignore[assignment]
            drawn.append(left.pop(among[self._below(len(among))]))
        return drawn

    def _below(self, count: int) -> int:
        return int(self._dice.random() * count)
