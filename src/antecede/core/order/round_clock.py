"""Rounds, colours and lifetimes (001 s2.2, 004 s2.2; PROTOCOLS s3.4, s3.5): one clock for the Order and the Spread.

Time is cut into rounds of `round_us`, the same for everybody up to the error of clocks, numbered from 1. `colours`
rounds have different colours; then they repeat, and an epoch has passed. A message lives `colours` rounds, counted from
the one it was sent in, so of what lives no two rounds below a given one share a colour: a colour is a round.
A message gets a round greater than that of everything its sender had delivered or sent, and is not sent before that
round has begun. So rounds grow along causality, and so do the ends of lifetimes.
"""

from __future__ import annotations

from antecede.core.machine import Settings
from antecede.errors import InputError

__all__ = ["RoundClock", "colours_for"]


def colours_for(count: int, alpha: int) -> int:
    """001 s2.2, 004 s2.2: log N rounds reach N processes, and `alpha` more are for what is lost on the way.

    >>> colours_for(4, 1), colours_for(3, 1), colours_for(1, 1)
    (3, 3, 1)
    """
    return max(0, count - 1).bit_length() + alpha


class RoundClock:
    def __init__(self, round_us: int, colours: int) -> None:
        self.round_us = round_us
        self.colours = colours
        """The length of a lifetime in rounds; 0: there are no lifetimes."""
        self.newest = 0
        """The greatest round of anything delivered or sent here."""
        self.turn: tuple[int, int] | None = None
        """(place, of how many): only rounds that leave this remainder are this one's to send in; None: all are."""

    def check(self, recipe: str, settings: Settings) -> None:
        """Refuse what cannot work: rounds that clocks cannot tell apart (one who lags would still take what others no
        longer name), and lifetimes that end before a message has passed the last hop."""
        skew_us = settings.slack_us - settings.guard_us
        if self.round_us <= skew_us:
            raise InputError(
                f"Recipe {recipe} cannot tell rounds of {self.round_us / 1000:g} ms apart: clocks and guard leave "
                f"{skew_us / 1000:g} ms open, so make rounds longer (--round-ms)."
            )
        spent_us = settings.guard_us + settings.hop_us
        if self.colours * self.round_us <= spent_us:
            raise InputError(
                f"Recipe {recipe} has lifetimes of {self.colours} rounds of {self.round_us / 1000:g} ms, and guard and "
                f"last hop take {spent_us / 1000:g} ms of them: give more rounds or longer ones (--alpha, --round-ms)."
            )

    def round_at(self, now_us: int) -> int:
        return now_us // self.round_us + 1

    def start_us(self, number: int) -> int:
        return (number - 1) * self.round_us

    def next_us(self, now_us: int) -> int:
        """The beginning of the next round."""
        return self.start_us(self.round_at(now_us) + 1)

    def end_us(self, number: int) -> int:
        """The last microsecond in which a message of that round lives: expired means current - round >= colours."""
        return self.start_us(number + self.colours) - 1

    def may_be(self, number: int, now_us: int) -> bool:
        """Whether some clock can have reached that round. Two differ by less than a round and the guard (`check`), and
        the guard is shorter than a lifetime: so none is ahead by more than a lifetime and one round."""
        return number <= self.round_at(now_us) + self.colours + 1

    def upcoming(self, now_us: int) -> int:
        """The round that a message would get if it were published now."""
        first = max(self.round_at(now_us), self.newest + 1)
        if self.turn is None:
            return first
        place, count = self.turn
        return first + (place - first) % count

    def take(self, now_us: int) -> int:
        """The round of a message that is published now."""
        self.newest = self.upcoming(now_us)
        return self.newest

    def saw(self, number: int) -> None:
        if number > self.newest:
            self.newest = number

    # -- colours ---------------------------------------------------------------------------------------------------

    def colour_of(self, number: int, below: int) -> int:
        """A round as a colour, for a message of round `below`; 0: it had expired by then, or there is none."""
        return number % self.colours + 1 if number > 0 and below - number <= self.colours else 0

    def round_of(self, colour: int, below: int) -> int:
        """The newest round below `below` of that colour; 0 for none."""
        if not colour:
            return 0
        return max(0, below - 1 - (below - colour) % self.colours)
