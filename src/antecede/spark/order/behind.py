"""What lies behind in one domain, who waits for what, and what is forgotten: the Reader's part, for names.

A name lies behind because it was delivered, because it came and was not delivered (late, superseded, on a cycle), or
because it was passed over before it came. In numbered domains names are `sender:n`, and n - 1 precedes n: to pass
over one passes over all below it: `front` says up to where, and at which position. There forgetting loses no order
either: what was forgotten is known to lie behind by its number.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from heapq import heappush
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

__all__ = ["BEGIN", "CAME", "NEVER", "Behind", "Held", "Ready", "Rules", "split_name"]

NEVER = 2**63 - 1
BEGIN = -(2**63)

CAME = -1
"""In `past`: it came and was not delivered. Lower values: it was passed over before it came, at position -2 - value."""

SHARES = 16
"""Memory is let go of in so many steps: a name is kept for `remember_us` and at most two of these steps more."""


class Rules(NamedTuple):
    """What the user decided, for every domain of a table."""

    numbered: bool = False
    """Names are `sender:n`, and n - 1 precedes n."""
    max_held: int | None = None
    """So many rows may wait in a domain; of more the oldest go out."""
    remember_us: int | None = None
    """How long a name that lies behind is known. Raising it costs memory: each name its length and about 100 bytes."""


class Held:
    """A row that waits. A ghost is one that was late: it is out, but what needs it needs what it waits for."""

    __slots__ = ("by", "due", "ghost", "gone", "hope", "name", "needs", "no", "open", "other", "slot")

    def __init__(
        self, no: int, slot: int, name: str, other: str | None, needs: Sequence[str], due: int, by: int, ghost: bool
    ) -> None:
        self.no = no
        self.slot = slot
        self.name = name
        self.other = other
        self.needs = needs
        """As the row names them: some perhaps twice, blank, or itself. `wants` is without these."""
        self.due = due
        self.by = by
        self.ghost = ghost
        self.open: dict[str, None] = {}
        """What of its needs did not lie behind when it came, and does not yet."""
        self.gone = False
        self.hope: str | None = None
        """Of a row without a bound: one of `open` that does not wait for this row in turn; see `cycles`."""

    def frozen(self) -> list[Any]:
        fixed = (self.no, self.slot, self.name, self.other, list(self.needs), self.due, self.by, self.ghost)
        return [*fixed, list(self.open)]

    def wants(self) -> list[str]:
        own = self.names()
        return [need for need in dict.fromkeys(self.needs) if need and need not in own]

    def turn(self) -> int:
        """Of several that may go the first to come goes first; ghosts, who take nobody's place, before all."""
        return -1 - self.no if self.ghost else self.no

    def names(self) -> tuple[str, ...]:
        return (self.name,) if self.other is None else (self.name, self.other)


Ready: TypeAlias = list[tuple[int, Held]]
"""A heap of rows that wait for nothing any more: the one that came first goes first."""


def split_name(name: str) -> tuple[str, int] | None:
    """Sender and number of `sender:n`, None for other names."""
    sender, colon, digits = name.rpartition(":")
    return (sender, int(digits)) if colon and digits.isdecimal() else None


class Behind:
    __slots__ = (
        "_numbers",
        "_waited",
        "_waits",
        "ages",
        "front",
        "gaps",
        "held",
        "loose",
        "now",
        "old",
        "past",
        "rules",
        "told",
        "waiting",
    )

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.now = BEGIN
        self.past: dict[str, int] = {}
        """Every name that lies behind: its position, or how it came to lie there (below 0). In the order of time."""
        self.gaps = False
        """Whether anything lies behind that was not delivered: as long as nothing does, nothing is missing."""
        self.told: dict[str, list[str]] = {}
        """What those needed that came and were not delivered: order runs through them all the same."""
        self.front: dict[str, list[list[int]]] = {}
        """Numbered: per sender [n, position]: all up to n lies behind since then; what is not in `past` was passed."""
        self.old: dict[str, int] = {}
        """Numbered: all of the sender up to here lies behind and was forgotten."""
        self.ages: list[list[int]] = []
        """With `remember_us`: [share of time, names that came to lie behind in it]."""
        self.held: dict[str, Held] = {}
        self.waiting = 0
        """Rows in `held`, ghosts included."""
        self.loose: list[Held] = []
        """Rows that may have lost their hope, and with it any way out but the end."""
        self._waits: dict[str, list[Held]] = {}
        self._waited: dict[str, set[int]] = {}
        self._numbers: dict[str, dict[int, Held]] = {}

    # -- what lies behind ------------------------------------------------------------------------------------------

    def is_behind(self, name: str) -> bool:
        if name in self.past:
            return True
        return bool(self.front or self.old) and (self.passed_at(name) is not None or self.is_old(name))

    def passed_at(self, name: str) -> int | None:
        """The first position at which this name, or a later one of its sender, was passed over; None if it was not."""
        value = self.past.get(name, CAME - 1)
        if value >= CAME:
            return None
        found = [-2 - value] if name in self.past else []
        mark = split_name(name) if self.front else None
        if mark is not None and not self.is_old(name):
            steps = self.front.get(mark[0], [])
            found += [at_pos for _, at_pos in steps[bisect_left(steps, mark[1], key=_first) :]]
        return min(found) if found else None

    def is_old(self, name: str) -> bool:
        if self.old:
            mark = split_name(name)
            return mark is not None and mark[1] <= self.old.get(mark[0], -1)
        return False

    def undelivered(self, name: str) -> bool:
        """It lies behind without having been delivered."""
        value = self.past.get(name)
        return value < 0 if value is not None else self.passed_at(name) is not None

    def put_behind(self, row: Held, value: int, ready: Ready) -> None:
        self.past[row.name] = value
        if value == CAME:
            self.gaps = True
            self.told.update(dict.fromkeys(row.names(), row.wants()))
        self.free(row.name, ready)
        if row.other is not None and self.past.get(row.other, CAME - 1) < CAME:
            self.past[row.other] = value
            self.free(row.other, ready)

    def pass_over(self, name: str, at_pos: int, ready: Ready) -> None:
        """It has not come, and what it precedes goes out at `at_pos`. Its sender's earlier ones are passed over too."""
        self.gaps = True
        self.past[name] = max(self.past.get(name, -2 - at_pos), -2 - at_pos)
        self.free(name, ready)
        mark = split_name(name) if self.rules.numbered else None
        if mark is None:
            return
        sender, n = mark
        steps = self.front.setdefault(sender, [])
        if not steps or n > steps[-1][0]:
            steps.append([n, at_pos])
            for k in [k for k in self._waited.get(sender, ()) if k < n]:
                self.free(f"{sender}:{k}", ready)

    def implied(self, name: str) -> list[Held]:
        """Numbered: held rows of the same sender that precede a name that has not come."""
        mark = split_name(name) if self.rules.numbered else None
        if mark is None:
            return []
        return [row for n, row in self._numbers.get(mark[0], {}).items() if n < mark[1]]

    # -- who waits for what ----------------------------------------------------------------------------------------

    def watch(self, row: Held) -> bool:
        """Hold the row if something it needs does not lie behind."""
        if self.front or self.old:
            row.open = dict.fromkeys(need for need in row.wants() if not self.is_behind(need))
        else:
            past = self.past
            row.open = {need: None for need in row.needs if need and need not in past}
            if row.ghost:  # whoever is not late and names itself was turned away before
                for name in row.names():
                    row.open.pop(name, None)
        if not row.open:
            return False
        self.keep(row)
        return True

    def keep(self, row: Held) -> None:
        waits = self._waits
        for need in row.open:
            rows = waits.get(need)
            if rows is None:
                waits[need] = [row]
            else:
                rows.append(row)
        self.waiting += 1
        if row.due == NEVER:
            self._give_hope(row)
        if row.other is None and not self.rules.numbered:
            self.held[row.name] = row
            return
        if self.rules.numbered:
            for need in row.open:
                if mark := split_name(need):
                    self._waited.setdefault(mark[0], set()).add(mark[1])
        for name in row.names():
            self.held.setdefault(name, row)
            if self.rules.numbered and (mark := split_name(name)):
                self._numbers.setdefault(mark[0], {}).setdefault(mark[1], row)

    def _give_hope(self, row: Held) -> None:
        """It comes from what has not come, or, where nobody waits for the row, from anything it waits for."""
        if not any(name in self._waits for name in row.names()):
            row.hope = next(iter(row.open))
            return
        for need in row.open:
            if need not in self.held:
                row.hope = need
                return
        self.loose.append(row)

    def let_go(self, row: Held) -> None:
        """The row is no longer held."""
        row.gone = True
        self.waiting -= 1
        if row.other is None and not self.rules.numbered:
            del self.held[row.name]
            return
        for name in row.names():
            if self.held.get(name) is row:
                del self.held[name]
                if self.rules.numbered and (mark := split_name(name)):
                    numbers = self._numbers[mark[0]]
                    del numbers[mark[1]]
                    if not numbers:
                        del self._numbers[mark[0]]

    def free(self, name: str, ready: Ready) -> None:
        """`name` lies behind now."""
        rows = self._waits.pop(name, None)
        if rows is None:
            return
        for row in rows:
            del row.open[name]
            if not row.open and not row.gone:
                heappush(ready, (row.turn(), row))
            elif row.hope == name:
                self.loose.append(row)
        if self.rules.numbered and (mark := split_name(name)):
            numbers = self._waited[mark[0]]
            numbers.discard(mark[1])
            if not numbers:
                del self._waited[mark[0]]

    def rows(self) -> list[Held]:
        """Everything held, ghosts too, in the order of arrival."""
        return sorted({row.no: row for row in self.held.values()}.values(), key=by_arrival)

    def unknown(self) -> Iterator[tuple[Held, str]]:
        """Rows that wait for names that have not come, and these names."""
        for row in self.rows():
            for need in row.open:
                if need not in self.held:
                    yield row, need

    # -- memory ----------------------------------------------------------------------------------------------------

    def turn_at(self) -> int:
        """When the present share of time ends."""
        if self.rules.remember_us is None:
            return NEVER
        if self.now == BEGIN:
            return BEGIN
        share_us = max(1, self.rules.remember_us // SHARES)
        return (self.now // share_us + 1) * share_us

    def forget(self) -> None:
        """A new share of time begins: names that came to lie behind too long ago are let go of."""
        assert self.rules.remember_us is not None
        share = self.now // max(1, self.rules.remember_us // SHARES)
        if self.ages:
            self.ages[-1][1] = len(self.past) - sum(count for _, count in self.ages[:-1])
        self.ages.append([share, 0])
        while self.ages[0][0] < share - SHARES - 1:
            for name in list(islice(self.past, self.ages[0][1])):
                del self.past[name]
                self.told.pop(name, None)
                if self.rules.numbered and (mark := split_name(name)) and mark[1] > self.old.get(mark[0], -1):
                    self.old[mark[0]] = mark[1]
            del self.ages[0]


def by_arrival(row: Held) -> int:
    return row.no


def _first(step: list[int]) -> int:
    return step[0]
