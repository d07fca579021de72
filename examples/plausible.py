"""An Order of one's own, in one file: a plausible clock (Torres-Rojas and Ahamad 1999), with names to release by.

Decided here: what a message carries instead of one number per member, and what a receiver may conclude from it. The
clock has R entries, and several senders share each. It never denies that one message precedes another, but it may say
so of two that are concurrent. docs/guide/new-order.md builds this file up piece by piece, and says why it looks so.

    antecede simulate --plugin examples/plausible.py --recipe plausible-4 --brokers 16 --subscribers 0 --loss 0.05
    python examples/plausible.py            (the table in the guide)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.message import Envelope, Mark, Message, Stamp
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.recipes import Recipe, register
from antecede.core.roles.member import Member
from antecede.core.roles.receiver import Parts
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import EXEMPT, check
from antecede.trace.record import Row

ENTRIES = (2, 4, 8, 16)
"""The R of the recipes below, one recipe each."""


# -- the clock -----------------------------------------------------------------------------------------------------


def entry_of(sender: str, entries: int) -> str:
    """The entry a sender shares (`p mod R`); no sender's name holds a colon.

    >>> entry_of("A", 4), entry_of("B", 4), entry_of("E", 4)
    (':1', ':2', ':1')
    """
    return f":{sum(sender.encode()) % entries}"


def value_of(stamp: Stamp, entries: int) -> tuple[str, int]:
    """A message's own entry and its value there: one above the newest it knew of."""
    entry = entry_of(stamp.own[0][0], entries)
    return entry, stamp.covers.get(entry, 0) + 1


def at_most(one: Stamp, clock: Mapping[str, int], entries: int) -> bool:
    """Whether a message may lie in the past that `clock` tells of: True if it does, and perhaps if it does not."""
    entry, value = value_of(one, entries)
    return value <= clock.get(entry, 0) and all(n <= clock.get(k, 0) for k, n in one.covers.items())


def raise_to(clock: dict[str, int], numbers: Iterable[tuple[str, int]]) -> None:
    for entry, n in numbers:
        if n > clock.get(entry, 0):
            clock[entry] = n


# -- the Writer's end ----------------------------------------------------------------------------------------------


class PlausibleWriter(VectorWriter):
    """Stamps: `own` is (sender, number), `covers` the clock, `needs` the leaves: what precedes nothing else here."""

    def __init__(self, name: str, entries: int) -> None:
        super().__init__(name, flat=True)
        self.entries = entries
        self.clock: dict[str, int] = {}
        self._names: dict[Mark, None] = {}
        self._heads: dict[str, int] = {}

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        self.rank += 1
        if after is None:
            covers, needs = dict(self.clock), tuple(self._names)
        else:
            causes = [*after, self._last] if self._last is not None else after
            covers, needs = {}, tuple(dict.fromkeys(one.own[0] for one in causes))
            for one in causes:
                self._add(covers, one)
        stamp = self._last = Stamp(((self.name, message.seq),), needs, covers, self.rank)
        self._take_in(stamp)
        return stamp

    def learn(self, envelope: Envelope) -> None:
        self._take_in(envelope.stamp)
        self.rank = max(self.rank, envelope.stamp.rank)

    def _take_in(self, stamp: Stamp) -> None:
        """Only what a message names stops being a leaf: a clock that may err must not make anybody forget a cause."""
        for mark in stamp.needs:
            self._names.pop(mark, None)
        self._names[stamp.own[0]] = None
        self._add(self.clock, stamp)
        raise_to(self._heads, stamp.own)

    def _add(self, clock: dict[str, int], stamp: Stamp) -> None:
        raise_to(clock, (*stamp.covers.items(), value_of(stamp, self.entries)))

    def past(self) -> Mapping[str, int]:
        """Where a newcomer begins: behind all that was delivered or published here."""
        return self._heads


# -- the Reader's end ----------------------------------------------------------------------------------------------


class PlausibleReader(Reader):
    """Releases by names, as every Reader does; the clock says what a message that could not wait has left behind."""

    def __init__(self, interest: Interest, entries: int) -> None:
        super().__init__(interest.concerns, dense=True)
        self.entries = entries
        self.floor: dict[str, int] = {}
        """All that may precede something that was delivered without all its causes."""

    def precedes(self, a: Stamp, b: Stamp) -> bool:
        return at_most(a, b.covers, self.entries)

    def overtaken(self, stamp: Stamp) -> bool:
        """Something that it may precede is out: delivering it now might invert the order."""
        return bool(self.floor) and at_most(stamp, self.floor, self.entries)

    def missing(self, stamp: Stamp) -> list[Mark]:
        """A clock names nobody: only what is named can be asked for."""
        marks: dict[Mark, None] = {}
        for one in (stamp, *self._skipped_by(stamp)):
            for stream, n in one.needs:
                over = self.above.get(stream, ())
                numbers = range(self.front.get(stream, 0) + 1, n + 1)
                marks.update(dict.fromkeys((stream, k) for k in numbers if k not in over))
        return list(marks)

    def delivered(self, stamp: Stamp, *, forced: bool) -> None:
        if forced or not self._sure(stamp):
            raise_to(self.floor, stamp.covers.items())
        super().delivered(Stamp(stamp.own), forced=False)  # the marks themselves: entries are no streams


# -- the machine ---------------------------------------------------------------------------------------------------


class PlausibleMember(Member):
    reader: PlausibleReader

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        """What is overtaken alone lies behind, so that nobody waits for it; everything else is as for any member."""
        rest = []
        for envelope in envelopes:
            message, inbox = envelope.message, self.inbox
            in_time = message.deadline_us is None or now_us <= message.deadline_us - inbox.guard_us
            known = message.id in inbox.seen or self.reader.stale(envelope.stamp)
            if in_time and not known and self.reader.overtaken(envelope.stamp):
                inbox.skip(envelope, "superseded", now_us)
                inbox.seen[message.id] = now_us
            else:
                rest.append(envelope)
        super().take(rest, hint, now_us)
        self.want_blocked(hint, now_us)


# -- the recipe ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Plausible:
    """Makes the machines of a recipe with so many entries."""

    entries: int

    def __call__(self, *, name: str, role: str, groups: tuple[str, ...], settings: Settings, dice: Dice) -> Machine:
        interest = Interest(groups)
        writer, reader = PlausibleWriter(name, self.entries), PlausibleReader(interest, self.entries)
        return PlausibleMember(Parts(name, interest, settings, dice, writer, reader, settings.guard_us))


for entries in ENTRIES:
    row = Recipe(
        f"plausible-{entries}", "Torres-Rojas, Ahamad 1999", "plausible", flat=True, orders=("causal", "fifo"),
        make=Plausible(entries),
    )  # fmt: skip
    register(row)
    EXEMPT[row.name] = ("false", "gap", "idle", "stuck")


# -- what it costs -------------------------------------------------------------------------------------------------


def measure(recipe: str, seeds: Iterable[int], members: int = 16) -> dict[str, float]:
    """Means over runs of 200 messages, 10 % of the copies lost, deadlines of a few round trips."""
    sizes: list[int] = []
    held_us: list[int] = []
    pairs = delivered = needless = requests = 0
    for seed in seeds:
        scenario = Scenario(
            recipe=recipe, seed=seed, brokers=members, subscribers=0, messages=200, rate=200.0, reply=0.5,
            loss=0.1, delay_ms=(5.0, 20.0), deadline_ms=(40.0, 120.0), payload_bytes=0,
        )  # fmt: skip
        run = simulate(scenario)
        came: dict[tuple[str, str], int] = {}
        for record in map(Row._make, run.rows):
            if record.kind == "arrive":
                sizes.append(record.bytes or 0)
                came.setdefault((record.process, record.message or ""), record.at_us)
            elif record.kind == "deliver":
                held_us.append(record.at_us - came[record.process, record.message or ""])
            requests += record.kind == "ask"
        with_all = check(run.rows, scenario={**run.body(), "recipe": None})
        assert not with_all.counts["inversion"] + with_all.counts["overdue"] + with_all.counts["duplicate"]
        pairs, delivered = pairs + with_all.pairs, delivered + with_all.fates["delivered"]
        needless += with_all.counts["stuck"]
    return {
        "bytes": sum(sizes) / len(sizes), "held ms": sum(held_us) / len(held_us) / 1000,
        "asked %": 100 * requests / pairs, "delivered %": 100 * delivered / pairs, "needless %": 100 * needless / pairs,
    }  # fmt: skip


def main() -> None:
    rows = {recipe: measure(recipe, range(10)) for recipe in (*(f"plausible-{r}" for r in ENTRIES), "solicit")}
    print("| recipe | " + " | ".join(rows["solicit"]) + " |")
    print("|---" * (1 + len(rows["solicit"])) + "|")
    for recipe, numbers in rows.items():
        print(f"| `{recipe}` | " + " | ".join(f"{number:.2f}" for number in numbers.values()) + " |")


if __name__ == "__main__":
    main()
