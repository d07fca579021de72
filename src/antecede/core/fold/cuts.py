"""Where cuts fall, and what is in each, for one group: the fold that `fuse` runs, without Spark.

Decided in this file: a cut is a prefix of `causal_pos`: after every k rows, after each marker row, or - by the rows'
own time - before the first row with which the latest time seen passes a multiple of `every_us`. A row that is older
than what came before it never opens a cut; it belongs to the next one. So every cut is a causal prefix of what was
delivered; which rows of it count is decided in `counting`.

What a cut holds is a function of the rows by `causal_pos` alone: it does not matter in what portions they come, nor
whether the fold was saved and loaded in between.

An interest may be divided by what its readings say (`by`: of which room they are): each value is a *place* of its own,
found on the way, with its own latest readings and its own senders. What counts is decided for all of them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from antecede.core.fold.counting import HOLD, Counting, Reading, as_reading
from antecede.errors import InputError

__all__ = ["HOLD", "MOST_BY", "Cut", "CutRule", "Fold", "Reading"]

FORMAT = 3
"""Version of the saved state; older ones stay readable. 2: causes of nobody known are waited for one by one. 3: places.
"""
MOST_BY = 1000
"""Values of `by` that are told apart; further ones are one, without a name. Raising it costs state, and a result each.
"""


@dataclass(frozen=True, slots=True)
class CutRule:
    """Exactly one of: every `rows` rows, every `time_us` of the rows' own time, at `marks` (a boolean column)."""

    rows: int | None = None
    time_us: int | None = None
    marks: str | None = None

    def __post_init__(self) -> None:
        if sum(rule is not None for rule in (self.rows, self.time_us, self.marks)) != 1:
            raise InputError("Say where cuts fall, in one way: every=ROWS, every_us=MICROSECONDS or marks=COLUMN.")
        for name, value in (("every", self.rows), ("every_us", self.time_us)):
            if value is not None and value < 1:
                raise InputError(f"{name} is {value}: it must be at least 1.")


class Cut(NamedTuple):
    """A cut, before anything is aggregated. One entry per place (an interest, where nothing divides it)."""

    number: int
    pos: int
    time_us: int | None
    rows: int
    """Delivered rows since the cut before, counted or held."""
    causes: list[str]
    """The vector as ids, by sender."""
    latest: list[list[Reading]]
    """Per interest, by sender: the latest counted reading."""
    fresh: list[list[Reading]]
    """Per interest, by position: what has come to count since the cut before."""
    held: list[list[tuple[Reading, int]]]
    """Per interest, by sender: the first delivered row that does not count, and how many there are."""
    seen: list[set[str]]
    """Per interest: senders of whom anything was delivered."""
    missing: list[str]
    """Skipped causes that neither came nor were followed by a later counted message of their sender."""
    dropped: int
    """Held rows that were let go, so far."""
    given_up: int
    """Causes of nobody known that are no longer waited for, so far; those of this cut are in `missing` once more."""
    places: list[tuple[int, str | None]]
    """The interest of each place, and its value of `by`."""


@dataclass(slots=True)
class Fold:
    """One group, from its first row on. `push` takes rows in any order and gives the cuts that are complete."""

    rule: CutRule
    interests: int
    split: Callable[[str], tuple[str, int] | None]
    """An id as (sender, number); None where ids do not tell."""
    hold: int = HOLD
    patience: int | None = None
    brief: bool = False
    by: bool = False
    """Whether readings divide interests."""
    next_pos: int = 0
    number: int = 0
    rows: int = 0
    time_us: int | None = None
    waiting: dict[int, Reading] = field(default_factory=dict)
    """Rows whose predecessors by position have not come yet."""
    places: dict[tuple[int, str | None], int] = field(default_factory=dict)
    seen: list[set[str]] = field(default_factory=list)
    counting: Counting = field(init=False)

    def __post_init__(self) -> None:
        self.counting = Counting(0, self.split, self.hold, self.patience, self.brief)
        if not self.by:
            for interest in range(self.interests):
                self._place(interest, None)

    def _place(self, interest: int, by: str | None) -> int:
        place = self.places.get((interest, by))
        if place is None and len(self.places) >= MOST_BY and by is not None:
            return self._place(interest, None)
        if place is None:
            place = self.places[interest, by] = len(self.seen)
            self.seen.append(set())
            self.counting.widen()
        return place

    def push(self, readings: Iterable[Reading]) -> Iterator[Cut]:
        """Rows of any positions; those seen before are ignored, those ahead of their turn wait."""
        for reading in sorted(readings, key=lambda reading: reading.pos):
            if reading.pos > self.next_pos:
                self.waiting.setdefault(reading.pos, reading)
            elif reading.pos == self.next_pos:
                yield from self._take(reading)
                while self.waiting and (following := self.waiting.pop(self.next_pos, None)):
                    yield from self._take(following)

    def close(self) -> Iterator[Cut]:
        """The last, unfinished cut, if anything came since the one before. Only a batch knows that it has ended."""
        if self.waiting:
            raise InputError(
                f"causal_pos is not contiguous: {self.next_pos} is not there, {min(self.waiting)} is; "
                "order the rows with causal_order, and keep all delivered ones."
            )
        if self.rows:
            yield self._cut()

    def _take(self, reading: Reading) -> Iterator[Cut]:
        if self.by:
            reading = reading._replace(interests=tuple(self._place(i, reading.by) for i in reading.interests))
        time_us = reading.time_us
        if time_us is not None and (self.time_us is None or time_us > self.time_us):
            every_us = self.rule.time_us
            if every_us and self.time_us is not None and time_us // every_us > self.time_us // every_us and self.rows:
                yield self._cut()
            self.time_us = time_us
        for interest in reading.interests:
            self.seen[interest].add(reading.sender)
        self.counting.enter(reading)
        self.next_pos += 1
        self.rows += 1
        if (self.rule.rows and self.rows == self.rule.rows) or (self.rule.marks and reading.mark):
            yield self._cut()

    def _cut(self) -> Cut:
        count = self.counting
        count.settle()
        count.give_up(self.next_pos - 1, self.next_pos - 1 - self.rows)
        cut = Cut(
            number=self.number,
            pos=self.next_pos - 1,
            time_us=self.time_us,
            rows=self.rows,
            causes=[count.front[sender][1] for sender in sorted(count.front) if sender not in count.gone],
            latest=[[of[sender] for sender in sorted(of) if sender not in count.gone] for of in count.latest],
            fresh=[sorted(readings, key=lambda r: r.pos) for readings in count.fresh],
            held=[
                [(self._first_held(sender, i), of[sender]) for sender in sorted(of)] for i, of in enumerate(count.held)
            ],
            seen=[set(senders) for senders in self.seen],
            missing=count.all_missing(),
            dropped=count.dropped,
            given_up=count.given_up,
            places=list(self.places),
        )
        count.forget_given_up()
        count.fresh = [[] for _ in self.places]
        self.number += 1
        self.rows = 0
        return cut

    def _first_held(self, sender: str, interest: int) -> Reading:
        queue = self.counting.queues[sender]
        return next(held.reading for held in queue if interest in held.reading.interests)

    # -- for whoever keeps something for each reading ----------------------------------------------------------------

    def held_behind(self, past: Mapping[str, int]) -> tuple[str, ...]:
        """Of each sender the latest held reading that this past holds."""
        return self.counting.held_behind(past)

    def live(self) -> set[str]:
        """Readings that are held, or that the next cut may end with."""
        return self.counting.live()

    # -- as plain values -------------------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """Versioned: equal folds give equal values."""
        body = {
            "format": FORMAT,
            "place": [self.next_pos, self.number, self.rows, self.time_us],
            "waiting": [list(self.waiting[pos]) for pos in sorted(self.waiting)],
            "seen": [sorted(senders) for senders in self.seen],
            "counting": self.counting.to_plain(),
        }
        return {**body, "places": [list(place) for place in self.places]} if self.by else body

    def from_plain(self, body: dict[str, Any]) -> Fold:
        """Become what was saved; the rule, the interests and the bounds are those given anew."""
        cure = "start with a new checkpoint"
        if body.get("format") not in range(1, FORMAT + 1):
            raise InputError(f"The saved state of fuse has format {body.get('format')}, not {FORMAT}: {cure}.")
        if ("places" in body) != self.by:
            raise InputError(f"The saved state of fuse is {'' if self.by else 'not '}without by=: {cure}.")
        if self.by:
            self.places.clear()
            self.seen.clear()
            for interest, by in body["places"]:
                self._place(interest, by)
        elif len(body["seen"]) != self.interests:
            raise InputError(
                f"The saved state of fuse is for {len(body['seen'])} interests, not {self.interests}: {cure}."
            )
        self.next_pos, self.number, self.rows, self.time_us = body["place"]
        self.waiting = {row[0]: as_reading(row) for row in body["waiting"]}
        self.seen = [set(senders) for senders in body["seen"]]
        self.counting.from_plain(body["counting"])
        return self
