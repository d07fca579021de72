"""A broker's view of subscribers (001 s3, 004 GS1): so many of all there are, and a share of them others each round.

Decided here: whom of the subscribers a broker gossips to, attached to it or not. "These views ... are not constant, but
continue evolving": at the beginning of each round a share of the view is replaced by others, drawn evenly.
"""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.machine import Dice, Settings
from antecede.core.spread.chance import some_of

__all__ = ["ViewBelow", "view_below"]


def view_below(dice: Dice, settings: Settings) -> ViewBelow | None:
    """None: gossip goes to a broker's own subscribers, or to all that want the same."""
    if not settings.view_below:
        return None
    return ViewBelow(dice, size=settings.view_below, renewed=settings.renewed)


class ViewBelow:
    def __init__(self, dice: Dice, *, size: int, renewed: float) -> None:
        self._dice = dice
        self.size = size
        """How many subscribers a view has at most."""
        self.renewed = renewed
        """Which share of the view is replaced each round."""
        self.names: list[str] = []
        self._known: tuple[str, ...] = ()
        self._round = 0

    def update(self, names: Sequence[str]) -> None:
        """The subscribers there are now. Those that are gone leave the view; others take their places."""
        self._known = tuple(names)
        self.names = [name for name in self.names if name in self._known]
        self._fill()

    def draw(self, count: int, number: int) -> list[str]:
        """So many members of the view as it is in round `number`, each at most once."""
        if number > self._round:
            self._round = number
            self._renew()
        return some_of(self._dice, self.names, count)

    def _renew(self) -> None:
        share = self.renewed * len(self.names)
        out = int(share) + (self._dice.random() < share - int(share))
        before = set(self.names)
        for name in some_of(self._dice, self.names, out):
            self.names.remove(name)
        self._fill(avoid=before)

    def _fill(self, avoid: set[str] | None = None) -> None:
        """Fill the view up to its size; names that have just left it come back only where no other is left."""
        room = min(self.size, len(self._known)) - len(self.names)
        others = [name for name in self._known if name not in self.names]
        fresh = [name for name in others if avoid is None or name not in avoid]
        drawn = some_of(self._dice, fresh, room)
        if len(drawn) < room:
            drawn = [*drawn, *some_of(self._dice, [n for n in others if n not in drawn], room - len(drawn))]
        self.names += drawn
