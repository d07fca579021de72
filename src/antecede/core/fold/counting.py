"""Which delivered rows count: the largest consistent cut of what one group's rows tell, kept up row by row.

Decided in this file: the order operator may have let a row out without one of its causes (`missing`). Such a row, and
every row that comes after it by cause or from its sender, is held: it counts only once the cut holds the cause itself
or a later message of the cause's sender. A cut is thus a vector, sender -> latest counted message, and no counted
message knows of anything beyond that vector: of all such vectors over the delivered rows the largest (two senders that
each lost what the other's next message knows of come to count together). A sender's own lost messages do not hold it:
its newer reading stands in their place.

Waiting has two bounds. At most `hold` held rows of each sender are kept: the oldest gives way, is counted as dropped,
and what it waited for is waited for by the next one. And with `patience` a sender that owes something to a row held for
so many rows of the group leaves the cut: nothing of it counts and nobody waits for it, until it is heard again.

A cause that never came and of which nobody can tell who sent it (ids that do not say so, and no clock) is another
matter: nothing that comes later can be known to stand in its place, so waiting cannot help. What comes after it is
held for `patience` rows too, or, if `brief`, until the second cut: then the cause is given up and counted as such,
`missing` of that cut names it, and what comes after it counts without it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

__all__ = ["HOLD", "NOBODY", "PATIENCE", "Counting", "Held", "Reading", "as_reading", "named"]

HOLD = 1000
"""Held rows kept per sender. Raising it costs state while a sender whose message was lost stays silent."""
PATIENCE = 1000
"""Rows of the group for which a sender that owes something is waited for, unless the caller says otherwise. Raising it
keeps silent senders in the cut for longer, and leaves out for longer what comes after what they owe."""
NOBODY = "\n"
"""Before a cause of which nobody can tell who sent it: it stands for its sender. Lists of names travel joined by this
character, so no other begins with it."""


class Reading(NamedTuple):
    """A delivered row, as far as it matters here."""

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
    by: str | None = None
    """What divides its interests."""


def named(id: str) -> tuple[str, int] | None:
    """`sender:seq` taken apart; None where a name is not of that form."""
    sender, _, seq = id.rpartition(":")
    return (sender, int(seq)) if sender and seq.isascii() and seq.isdigit() else None


@dataclass(slots=True)
class Held:
    reading: Reading
    needs: dict[str, int]
    """Sender -> the number the cut must reach there before this row counts."""


@dataclass(slots=True)
class Counting:
    """Rows of one group by position, one `enter` each; who looks at the rest calls `settle` first."""

    interests: int
    split: Callable[[str], tuple[str, int] | None]
    """An id as (sender, number); None where ids do not tell."""
    hold: int = HOLD
    patience: int | None = None
    brief: bool = False
    """Whether a cause of nobody known is given up at the second cut, however many rows that is."""
    dropped: int = 0
    given_up: int = 0
    """Causes of nobody known that are no longer waited for."""
    front: dict[str, tuple[int, str]] = field(default_factory=dict)
    """The cut: sender -> (number, id) of its latest counted row."""
    let_go: dict[str, int] = field(default_factory=dict)
    """Sender -> the largest number among its rows that had to give way."""
    queues: dict[str, deque[Held]] = field(default_factory=dict)
    open: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Delivered and not counted: id -> (sender, number)."""
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    """Sender -> skipped cause -> its number, until the cut holds it or something later."""
    gone: dict[str, int] = field(default_factory=dict)
    """Sender that left the cut -> the number it must reach to be back; a cause that was given up -> where."""
    owed: dict[str, int] = field(default_factory=dict)
    """A cause of nobody known -> the position of the first row that is held for it."""
    latest: list[dict[str, Reading]] = field(default_factory=list)
    """Per interest: sender -> its latest counted row."""
    fresh: list[list[Reading]] = field(default_factory=list)
    """Per interest: what has come to count since somebody emptied this."""
    # What follows from the above and is not saved.
    held: list[dict[str, int]] = field(default_factory=list)
    """Per interest: sender -> how many of its rows are held."""
    tail: dict[str, int] = field(default_factory=dict)
    """Sender -> the largest number delivered, counted or held."""
    lacking: dict[str, int] = field(default_factory=dict)
    """Sender -> the number that must come before any held row can count."""
    unsettled: bool = False
    """Whether some of that has come: `settle` has work to do. It is put off until somebody looks."""

    def __post_init__(self) -> None:
        self.interests, found = 0, self.interests
        for _ in range(found):
            self.widen()

    def widen(self) -> None:
        """There is one interest more."""
        self.interests += 1
        self.latest.append({})
        self.fresh.append([])
        self.held.append({})

    # -- a row comes -----------------------------------------------------------------------------------------------

    def enter(self, reading: Reading) -> None:
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
            for sender_of in needs:
                if sender_of.startswith(NOBODY):
                    self.owed.setdefault(sender_of, reading.pos)
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

    def _needs(self, reading: Reading) -> dict[str, int]:
        """What the cut must hold of others. A parent that is neither held nor missing counts already."""
        found = list(reading.clock)
        if not reading.clock and (self.open or self.let_go):
            for parent in reading.parents:
                place = self.open.get(parent) or self._given_way(parent)
                if place is not None:
                    found.append(place)
        for cause in reading.missing:
            sender, number = self.split(cause) or (NOBODY + cause, 1)
            if not reading.clock and not (sender.startswith(NOBODY) and sender in self.gone):
                found.append((sender, number))
            if self.front.get(sender, (-1, ""))[0] < number:
                skipped = self.missing.setdefault(NOBODY if sender.startswith(NOBODY) else sender, {})
                skipped[cause] = number
                if len(skipped) > self.hold:
                    # The lowest number gives way: what may be covered already must not push out what is not.
                    del skipped[min(skipped, key=skipped.__getitem__)]
        needs: dict[str, int] = {}
        for sender, number in found:
            if sender != reading.sender and needs.get(sender, -1) < number:
                needs[sender] = number
        return needs

    def _given_way(self, parent: str) -> tuple[str, int] | None:
        """A held row that had to give way: known by its number, where ids tell it."""
        place = self.split(parent)
        return place if place is not None and place[1] <= self.let_go.get(place[0], -1) else None

    def _fits(self, needs: dict[str, int]) -> bool:
        """Whether the cut holds all that is needed."""
        front, gone = self.front, self.gone
        for sender, number in needs.items():
            if (sender not in front or front[sender][0] < number) and gone.get(sender, -1) < number:
                return False
        return True

    def _lack(self, needs: dict[str, int]) -> bool:
        """Note what has not come at all; whether there is any."""
        lacks = False
        for sender, number in needs.items():
            if self.tail.get(sender, -1) < number and self.gone.get(sender, -1) < number:
                lacks = True
                self.lacking[sender] = min(number, self.lacking.get(sender, number))
        return lacks

    def _count(self, reading: Reading) -> None:
        sender, number = reading.sender, reading.number
        # From here on only the reading itself is of interest: its causes would but fill the saved state.
        bare = reading._replace(parents=(), missing=(), clock=())
        for interest in reading.interests:
            self.fresh[interest].append(bare)
            known = self.latest[interest].get(sender)
            if known is None or known.number < number:
                self.latest[interest][sender] = bare
        front = self.front.get(sender)
        if front is None or front[0] < number:
            self.front[sender] = (number, reading.id)
            if self.gone.get(sender, number + 1) <= number:
                del self.gone[sender]
            skipped = self.missing.get(sender)
            if skipped:
                left = {cause: of for cause, of in skipped.items() if of > number}
                self.missing[sender] = left
                if not left:
                    del self.missing[sender]

    # -- held rows come to count -----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Count all that can: of every sender's held rows as many as need no more than is then counted of the others.

        Begins with all of them and shortens what asks for too much until nothing does; what is left is the largest.
        """
        if not self.unsettled:
            return
        self._look()
        keep: dict[str, int] = {}
        top = {**self.gone, **self.tail}
        top.update((sender, max(number, top[sender])) for sender, number in self.gone.items())
        reach: dict[str, list[int]] = {}
        """Per sender: how far the cut goes with none, one, two ... of its held rows."""
        for sender, queue in self.queues.items():
            keep[sender] = len(queue)
            none = max(self.gone.get(sender, -1), self.front[sender][0] if sender in self.front else -1)
            far = reach[sender] = [none]
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

    def give_up(self, pos: int, before: int = -1) -> None:
        """At a cut at `pos`, the last having been at `before`: what has been waited for long enough is so no more."""
        given = []
        for cause, since in self.owed.items():
            if since <= before if self.brief else self.patience is not None and pos - since > self.patience:
                given.append(cause)
        for cause in given:
            del self.owed[cause]
            self.gone[cause] = pos
        if given:
            self.given_up += len(given)
            self.unsettled = True
            for queue in self.queues.values():
                for held in queue:
                    held.needs = {sender: number for sender, number in held.needs.items() if sender not in given}
        self._give_up_senders(pos)
        self.settle()

    def held_behind(self, past: Mapping[str, int]) -> tuple[str, ...]:
        """Of each sender the latest held row that this past holds."""
        found: list[str] = []
        for sender, queue in self.queues.items():
            known = [held.reading.id for held in queue if held.reading.number <= past.get(sender, 0)]
            found += known[-1:]
        return tuple(found)

    def live(self) -> set[str]:
        return {*self.open, *(id for _, id in self.front.values())}

    def all_missing(self) -> list[str]:
        return sorted(cause for causes in self.missing.values() for cause in causes)

    def forget_given_up(self) -> None:
        """A cut has named them: causes that were given up are missed no more, and of these so many are remembered."""
        skipped = self.missing.get(NOBODY, {})
        for cause in [cause for cause in skipped if NOBODY + cause in self.gone]:
            del skipped[cause]
        if not skipped:
            self.missing.pop(NOBODY, None)
        given = sorted((pos, cause) for cause, pos in self.gone.items() if cause.startswith(NOBODY))
        for _, cause in given[: -self.hold]:
            del self.gone[cause]  # a row that misses it again waits for it once more

    def _give_up_senders(self, pos: int) -> None:
        """A sender that owes something to a row that has been held for longer than `patience` leaves the cut."""
        if self.patience is None or not self.queues:
            return
        for queue in self.queues.values():
            for held in queue:
                if pos - held.reading.pos <= self.patience:
                    break
                for sender, number in held.needs.items():
                    short = sender not in self.front or self.front[sender][0] < number
                    if short and self.gone.get(sender, -1) < number and not sender.startswith(NOBODY):
                        self.gone[sender] = number
                        self.unsettled = True

    def _look(self) -> None:
        """What has not come and holds a queue up: of each queue the first row that lacks any such thing."""
        self.lacking = {}
        for queue in self.queues.values():
            for held in queue:
                if held.needs and self._lack(held.needs):
                    break
        self.unsettled = False

    def _unheld(self, reading: Reading) -> None:
        del self.open[reading.id]
        for interest in reading.interests:
            left = self.held[interest][reading.sender] - 1
            if left:
                self.held[interest][reading.sender] = left
            else:
                del self.held[interest][reading.sender]

    def _let_go(self, queue: deque[Held]) -> None:
        """The oldest held row of a sender gives way; the next one waits for all that it waited for."""
        oldest, heir = queue.popleft(), queue[0]
        for sender, number in oldest.needs.items():
            if heir.needs.get(sender, -1) < number:
                heir.needs[sender] = number
        reading = oldest.reading
        self._unheld(reading)
        self.dropped += 1
        if self.split(reading.id) == (reading.sender, reading.number):
            self.let_go[reading.sender] = max(reading.number, self.let_go.get(reading.sender, -1))
        else:
            self.open[reading.id] = (reading.sender, reading.number)  # that a row comes after it only its id can tell

    # -- as plain values -------------------------------------------------------------------------------------------

    def to_plain(self) -> dict[str, Any]:
        """What `from_plain` needs; equal states give equal values."""
        self.settle()
        return {
            "dropped": self.dropped,
            "given_up": self.given_up,
            "owed": self.owed,
            "front": {sender: list(entry) for sender, entry in self.front.items()},
            "let_go": self.let_go,
            "open": self._nameless(),
            "missing": [[sender, list(causes.items())] for sender, causes in sorted(self.missing.items())],
            "gone": self.gone,
            "queues": {name: [[h.reading, h.needs] for h in queue] for name, queue in self.queues.items()},
            "latest": [[by_sender[sender] for sender in sorted(by_sender)] for by_sender in self.latest],
            "fresh": [sorted(readings) for readings in self.fresh],
        }

    def _nameless(self) -> dict[str, list[Any]]:
        """Rows that gave way and are known by their ids only, as long as nothing later of their sender counts."""
        queued = {held.reading.id for queue in self.queues.values() for held in queue}
        left = {}
        for name, (sender, number) in self.open.items():
            if name not in queued and (sender not in self.front or self.front[sender][0] < number):
                left[name] = [sender, number]
        return left

    def from_plain(self, body: dict[str, Any]) -> None:
        self.dropped, self.given_up, self.owed = body["dropped"], body.get("given_up", 0), body.get("owed", {})
        self.front = {sender: (entry[0], entry[1]) for sender, entry in body["front"].items()}
        self.let_go, self.gone = body["let_go"], body["gone"]
        self.open = {name: (place[0], place[1]) for name, place in body["open"].items()}
        self.missing = {sender: dict(map(tuple, causes)) for sender, causes in body["missing"]}
        self.queues = {
            name: deque(Held(as_reading(row), needs) for row, needs in queue) for name, queue in body["queues"].items()
        }
        self.latest = [{row[2]: as_reading(row) for row in rows} for rows in body["latest"]]
        self.fresh = [[as_reading(row) for row in rows] for rows in body["fresh"]]
        if "owed" not in body:
            self._from_first_format()
        self.tail = {sender: number for sender, (number, _) in self.front.items()}
        self.held = [{} for _ in range(self.interests)]
        for sender, queue in self.queues.items():
            for reading in (held.reading for held in queue):
                self.open[reading.id] = (sender, reading.number)
                self.tail[sender] = max(reading.number, self.tail.get(sender, -1))
                for i in reading.interests:
                    self.held[i][sender] = self.held[i].get(sender, 0) + 1
        self._look()

    def _from_first_format(self) -> None:
        """There all causes of nobody known were one sender without a name."""
        self.gone.pop("", None)
        if "" in self.missing:
            self.missing[NOBODY] = self.missing.pop("")
        for held in (held for queue in self.queues.values() for held in queue):
            if held.needs.pop("", None) is not None:
                for cause in held.reading.missing:
                    if self.split(cause) is None:
                        held.needs[NOBODY + cause] = 1
                        self.owed.setdefault(NOBODY + cause, held.reading.pos)


def as_reading(row: list[Any]) -> Reading:
    """What was frozen as a list; tuples again, since readings are never changed."""
    clock = tuple((sender, number) for sender, number in row[6])
    values = (*row[:4], tuple(row[4]), tuple(row[5]), clock, row[7], row[8], tuple(row[9]), tuple(row[10]), *row[11:])
    return Reading(*values)
