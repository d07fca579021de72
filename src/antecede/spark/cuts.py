"""Which delivered rows a causally consistent cut counts, for one group: the fold that `fuse` runs, without Spark.

Decided in this file:

- *Where cuts fall.* A cut is a prefix of `causal_pos`: after every k rows, after each marker row, or - by the rows' own
  time - before the first row with which the latest time seen passes a multiple of `every_us`. A row that is older than
  what came before it never opens a cut; it belongs to the next one. So every cut is a causal prefix.
- *What a cut counts.* The order operator may have let a row out without one of its causes (`missing`). Such a row, and
  every row that comes after it by cause or from its sender, is held: it counts only once the cut holds the cause
  itself or a later message of the cause's sender. A cut is thus a vector, sender -> latest counted message, and no
  counted message knows of anything beyond that vector: of all such vectors over the delivered rows the largest (two
  senders that each lost what the other's next message knows of come to count together). A sender's own lost messages
  do not hold it: its newer reading stands in their place. Held rows are listed, never silently left out.
- *What is remembered.* The vector, the latest reading of each sender and interest, and at most `hold` held rows of each
  sender: the oldest gives way, is counted as dropped, and what it waited for is waited for by the next one.

What counts is a function of the rows by `causal_pos` alone: it does not matter in what portions they come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from antecede.errors import InputError
from antecede.wire import freeze, thaw

__all__ = ["HOLD", "Cut", "CutRule", "Fold", "Reading"]

HOLD = 1000
"""Held rows kept per sender. Raising it costs state while a sender whose message was lost stays silent."""
FORMAT = 1
"""Version of the saved state; older ones stay readable."""
NOBODY = ""
"""The sender of a cause that nothing can cover, since nobody can tell who sent it."""


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


class Reading(NamedTuple):
    """A delivered row, as the fold needs it."""

    pos: int
    id: str
    sender: str
    number: int
    """Grows along one sender's messages: its seq where known, else `pos`."""
    parents: tuple[str, ...]
    missing: tuple[str, ...]
    """Causes without which the order operator let this row out."""
    clock: tuple[tuple[str, int], ...]
    """What it knows of others, where vectors are given."""
    time_us: int | None
    mark: bool
    interests: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(slots=True)
class Held:
    reading: Reading
    needs: dict[str, int]
    """Sender -> the number the cut must reach there before this row counts."""


class Cut(NamedTuple):
    """A cut, before anything is aggregated. One entry per interest where it says so."""

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
    """Per interest: what has come to count since the cut before."""
    held: list[list[tuple[Reading, int]]]
    """Per interest, by sender: the first delivered row that does not count, and how many there are."""
    seen: list[set[str]]
    """Per interest: senders of whom anything was delivered."""
    missing: list[str]
    """Skipped causes that neither came nor were followed by a later counted message of their sender."""
    dropped: int
    """Held rows that were let go, so far."""


@dataclass(slots=True)
class Fold:
    """One group, from its first row on. `push` takes rows in any order and gives the cuts that are complete."""

    rule: CutRule
    interests: int
    split: Callable[[str], tuple[str, int] | None]
    """An id as (sender, number); None where ids do not tell."""
    hold: int = HOLD
    next_pos: int = 0
    number: int = 0
    rows: int = 0
    time_us: int | None = None
    dropped: int = 0
    front: dict[str, tuple[int, str]] = field(default_factory=dict)
    let_go: dict[str, int] = field(default_factory=dict)
    waiting: dict[int, Reading] = field(default_factory=dict)
    """Rows whose predecessors by position have not come yet."""
    queues: dict[str, deque[Held]] = field(default_factory=dict)
    open: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Delivered and not counted: id -> (sender, number)."""
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    """Sender -> skipped cause -> its number, until the cut holds it or something later."""
    latest: list[dict[str, Reading]] = field(default_factory=list)
    fresh: list[list[Reading]] = field(default_factory=list)
    seen: list[set[str]] = field(default_factory=list)
    held: list[dict[str, int]] = field(default_factory=list)
    """Per interest: sender -> how many of its rows are held. Follows from `queues`, like the rest."""
    tail: dict[str, int] = field(default_factory=dict)
    """Sender -> the largest number delivered, counted or held."""
    lacking: dict[str, int] = field(default_factory=dict)
    """Sender -> the number that must come before any held row can count."""
    unsettled: bool = False
    """Whether some of that has come: `settle` has work to do. It is put off until somebody looks."""

    def __post_init__(self) -> None:
        for _ in range(self.interests - len(self.latest)):
            self.latest.append({})
            self.fresh.append([])
            self.seen.append(set())
            self.held.append({})

    # -- rows in, cuts out -----------------------------------------------------------------------------------------

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
        every_us = self.rule.time_us
        if every_us is not None and reading.time_us is not None:
            before_us = self.time_us
            if before_us is not None and reading.time_us // every_us > before_us // every_us and self.rows:
                yield self._cut()
        if reading.time_us is not None and (self.time_us is None or reading.time_us > self.time_us):
            self.time_us = reading.time_us
        self._enter(reading)
        self.next_pos += 1
        self.rows += 1
        if (self.rule.rows and self.rows == self.rule.rows) or (self.rule.marks and reading.mark):
            yield self._cut()

    def _cut(self) -> Cut:
        self.settle()
        whole = range(self.interests)
        cut = Cut(
            number=self.number,
            pos=self.next_pos - 1,
            time_us=self.time_us,
            rows=self.rows,
            causes=[self.front[sender][1] for sender in sorted(self.front)],
            latest=[[self.latest[i][sender] for sender in sorted(self.latest[i])] for i in whole],
            fresh=[sorted(readings, key=lambda r: r.pos) for readings in self.fresh],
            held=[
                [(self._first(sender, i), held[sender]) for sender in sorted(held)] for i, held in enumerate(self.held)
            ],
            seen=[set(senders) for senders in self.seen],
            missing=sorted(cause for causes in self.missing.values() for cause in causes),
            dropped=self.dropped,
        )
        self.fresh = [[] for _ in whole]
        self.number += 1
        self.rows = 0
        return cut

    # -- what counts -----------------------------------------------------------------------------------------------

    def _enter(self, reading: Reading) -> None:
        for interest in reading.interests:
            self.seen[interest].add(reading.sender)
        sender, number = reading.sender, reading.number
        needs = self._needs(reading)
        queue = self.queues.get(sender)
        if self.tail.get(sender, -1) < number:
            self.tail[sender] = number
        if not queue and self._fits(needs):
            self._count(reading)
        else:
            if not queue:
                queue = self.queues[sender] = deque()
                self._lack(needs)
            queue.append(Held(reading, needs))
            self.open[reading.id] = (sender, number)
            for interest in reading.interests:
                self.held[interest][sender] = self.held[interest].get(sender, 0) + 1
        # Held rows can come to count only when a number has come that one of them lacks.
        if self.lacking.get(sender, number + 1) <= number:
            self.unsettled = True
        if queue and len(queue) > self.hold:
            self.settle()
            if len(queue) > self.hold:
                self._let_go(queue)

    def _first(self, sender: str, interest: int) -> Reading:
        return next(held.reading for held in self.queues[sender] if interest in held.reading.interests)

    def _unheld(self, reading: Reading) -> None:
        del self.open[reading.id]
        for interest in reading.interests:
            left = self.held[interest][reading.sender] - 1
            if left:
                self.held[interest][reading.sender] = left
            else:
                del self.held[interest][reading.sender]

    def _needs(self, reading: Reading) -> dict[str, int]:
        """What the cut must hold of others. A parent that is neither held nor missing counts already."""
        found = list(reading.clock)
        if not reading.clock and (self.open or self.let_go):
            for parent in reading.parents:
                place = self.open.get(parent) or self._gone(parent)
                if place is not None:
                    found.append(place)
        for cause in reading.missing:
            sender, number = self.split(cause) or (NOBODY, 1)
            if not reading.clock:
                found.append((sender, number))
            if self.front.get(sender, (-1, ""))[0] < number:
                skipped = self.missing.setdefault(sender, {})
                skipped[cause] = number
                if len(skipped) > self.hold:
                    del skipped[next(iter(skipped))]
        needs: dict[str, int] = {}
        for sender, number in found:
            if sender != reading.sender and needs.get(sender, -1) < number:
                needs[sender] = number
        return needs

    def _gone(self, parent: str) -> tuple[str, int] | None:
        """A held row that had to give way: known by its number, where ids tell it."""
        place = self.split(parent)
        return place if place is not None and place[1] <= self.let_go.get(place[0], -1) else None

    def _fits(self, needs: dict[str, int]) -> bool:
        """Whether the cut holds all that is needed."""
        front = self.front
        return all(sender in front and front[sender][0] >= number for sender, number in needs.items())

    def _lack(self, needs: dict[str, int]) -> bool:
        """Note what has not come at all; whether there is any."""
        lacks = False
        for sender, number in needs.items():
            if self.tail.get(sender, -1) < number:
                lacks = True
                self.lacking[sender] = min(number, self.lacking.get(sender, number))
        return lacks

    def _count(self, reading: Reading) -> None:
        sender, number = reading.sender, reading.number
        # From here on only the reading itself is of interest: its causes would but fill the saved state.
        bare = Reading(*reading[:4], (), (), (), *reading[7:])
        for interest in reading.interests:
            self.fresh[interest].append(bare)
            known = self.latest[interest].get(sender)
            if known is None or known.number < number:
                self.latest[interest][sender] = bare
        front = self.front.get(sender)
        if front is None or front[0] < number:
            self.front[sender] = (number, reading.id)
            skipped = self.missing.get(sender)
            if skipped:
                left = {cause: of for cause, of in skipped.items() if of > number}
                self.missing[sender] = left
                if not left:
                    del self.missing[sender]

    def settle(self) -> None:
        """Count all that can: of every sender's held rows as many as need no more than is then counted of the others.

        Begins with all of them and shortens what asks for too much until nothing does; what is left is the largest.
        """
        if not self.unsettled:
            return
        self._look()
        keep: dict[str, int] = {}
        top = dict(self.tail)
        reach: dict[str, list[int]] = {}
        """Per sender: how far the cut goes with none, one, two ... of its held rows."""
        for sender, queue in self.queues.items():
            keep[sender] = len(queue)
            far = reach[sender] = [self.front[sender][0] if sender in self.front else -1]
            for held in queue:
                far.append(max(far[-1], held.reading.number))
        shortened = True
        while shortened:
            shortened = False
            for sender, queue in self.queues.items():
                for place, held in zip(range(keep[sender]), queue, strict=False):
                    for other, number in held.needs.items():
                        if top.get(other, -1) < number:
                            break
                    else:
                        continue
                    keep[sender], top[sender] = place, reach[sender][place]
                    shortened = True
                    break
        for sender, count in keep.items():
            queue = self.queues[sender]
            for _ in range(count):
                reading = queue.popleft().reading
                self._unheld(reading)
                self._count(reading)
            if not queue:
                del self.queues[sender]

    def _look(self) -> None:
        """What has not come and holds a queue up: of each queue the first row that lacks any such thing."""
        self.lacking = {}
        for queue in self.queues.values():
            for held in queue:
                if held.needs and self._lack(held.needs):
                    break
        self.unsettled = False

    def _let_go(self, queue: deque[Held]) -> None:
        """The oldest held row of a sender gives way; the next one waits for all that it waited for."""
        oldest, heir = queue.popleft(), queue[0]
        for sender, number in oldest.needs.items():
            if heir.needs.get(sender, -1) < number:
                heir.needs[sender] = number
        reading = oldest.reading
        self._unheld(reading)
        self.dropped += 1
        if self.split(reading.id) is None:
            self.open[reading.id] = (NOBODY, 1)  # who comes after it can only be told by its id
        else:
            self.let_go[reading.sender] = max(reading.number, self.let_go.get(reading.sender, -1))

    # -- as bytes --------------------------------------------------------------------------------------------------

    def save(self) -> bytes:
        """Versioned and canonical: equal folds give equal bytes."""
        self.settle()
        return freeze(
            {
                "format": FORMAT,
                "place": [self.next_pos, self.number, self.rows, self.time_us, self.dropped],
                "front": {sender: list(entry) for sender, entry in self.front.items()},
                "let_go": self.let_go,
                "open": {name: list(place) for name, place in self.open.items() if place[0] == NOBODY},
                "missing": [[sender, list(causes.items())] for sender, causes in sorted(self.missing.items())],
                "waiting": [self.waiting[pos] for pos in sorted(self.waiting)],
                "queues": {name: [[h.reading, h.needs] for h in queue] for name, queue in self.queues.items()},
                "latest": [list(by_sender.values()) for by_sender in self.latest],
                "fresh": self.fresh,
                "seen": [sorted(senders) for senders in self.seen],
            }
        )

    def load(self, data: bytes) -> Fold:
        """Become what was saved; the rule, the interests and the bound are those given anew."""
        body: dict[str, Any] = thaw(data)
        if body.get("format") != FORMAT:
            raise InputError(
                f"The saved state of fuse has format {body.get('format')}; this version reads {FORMAT}: "
                "start with a new checkpoint."
            )
        if len(body["latest"]) != self.interests:
            raise InputError(
                f"The saved state of fuse is for {len(body['latest'])} interests, not {self.interests}: "
                "start with a new checkpoint."
            )
        self.next_pos, self.number, self.rows, self.time_us, self.dropped = body["place"]
        self.front = {sender: (entry[0], entry[1]) for sender, entry in body["front"].items()}
        self.let_go = body["let_go"]
        self.missing = {sender: dict(map(tuple, causes)) for sender, causes in body["missing"]}
        self.waiting = {row[0]: _reading(row) for row in body["waiting"]}
        self.queues = {
            name: deque(Held(_reading(row), needs) for row, needs in queue) for name, queue in body["queues"].items()
        }
        self.open = {name: (place[0], place[1]) for name, place in body["open"].items()}
        self.open.update(
            (h.reading.id, (h.reading.sender, h.reading.number)) for queue in self.queues.values() for h in queue
        )
        self.latest = [{row[2]: _reading(row) for row in rows} for rows in body["latest"]]
        self.fresh = [[_reading(row) for row in rows] for rows in body["fresh"]]
        self.seen = [set(senders) for senders in body["seen"]]
        self.tail = {sender: number for sender, (number, _) in self.front.items()}
        self.held = [{} for _ in range(self.interests)]
        for sender, queue in self.queues.items():
            for reading in (held.reading for held in queue):
                self.tail[sender] = max(reading.number, self.tail.get(sender, -1))
                for i in reading.interests:
                    self.held[i][sender] = self.held[i].get(sender, 0) + 1
        self._look()
        return self


def _reading(row: list[Any]) -> Reading:
    """What was frozen as a list; tuples again, since readings are never changed."""
    clock = tuple((sender, number) for sender, number in row[6])
    values = (*row[:4], tuple(row[4]), tuple(row[5]), clock, row[7], row[8], tuple(row[9]), tuple(row[10]))
    return Reading._make(values)
