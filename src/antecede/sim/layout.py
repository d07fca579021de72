"""Who takes part: the names of brokers and subscribers, their groups, who attaches where, and the sides of partitions.

Decided here: what `--groups` and `--partition` mean, and what is drawn when they are silent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from antecede.core.entries import EACH, Entries, Groups
from antecede.errors import InputError
from antecede.sim.dice import pick, shuffled, some, stream
from antecede.sim.scenario import RecipeFacts, Scenario
from antecede.sim.tables import DRAWN, draw_table, draw_topics, filters_for, parse_table

__all__ = ["Late", "Layout", "Partition", "broker_names", "lay_out", "parse_groups", "parse_partitions"]


@dataclass(frozen=True, slots=True)
class Partition:
    """From `begin_us` to `end_us` (true time) processes on different sides do not hear each other."""

    begin_us: int
    end_us: int
    side: Mapping[str, int]

    def __str__(self) -> str:
        """As `--partition` has it, with every process named: what a reader who draws nothing needs."""
        count = max(self.side.values()) + 1
        sides = "|".join(",".join(n for n, side in self.side.items() if side == i) for i in range(count))
        return f"{sides}@{_ms(self.begin_us)}-{_ms(self.end_us)}"


@dataclass(frozen=True, slots=True)
class Late:
    """A newcomer: when it comes, as what, and where a subscriber attaches."""

    when_us: int
    role: str
    groups: tuple[str, ...]
    at: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    groups: tuple[str, ...]
    brokers: Mapping[str, tuple[str, ...]]
    """Broker -> the groups it carries."""
    filters: Mapping[str, tuple[str, ...]]
    """Subscriber -> what it wants."""
    at: Mapping[str, tuple[str, ...]]
    """Subscriber -> the brokers it attaches to first."""
    partitions: tuple[Partition, ...]
    single_home: bool
    """Whether a subscriber is at exactly one broker, which carries all it wants."""
    late: Mapping[str, Late] = field(default_factory=dict)
    """Who comes later, by name."""
    table: Groups = EACH
    """What groups are: topics, or entries of a table."""
    topics: tuple[str, ...] = ()
    """What is published to, where there is a table."""

    def carried_by(self, name: str) -> tuple[str, ...]:
        """The groups of a broker, whatever its incarnation."""
        base = name.partition(".")[0]
        return self.late[base].groups if base in self.late else self.brokers.get(base, ())

    def wantable(self, groups: tuple[str, ...]) -> tuple[str, ...]:
        """What a subscriber may want at a broker that carries these groups."""
        return filters_for(self.table, groups, self.topics) if isinstance(self.table, Entries) else groups


def _ms(time_us: int) -> str:
    return f"{time_us / 1000:.3f}".rstrip("0").rstrip(".")


def broker_names(count: int) -> list[str]:
    """A, B, ..., Z, A1, B1, ..., Z1, A2, ..."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    names = [letters[i % 26] + (str(i // 26) if i >= 26 else "") for i in range(count)]
    # S1, S2, ... are subscribers: among brokers the letter S takes a second S with its number.
    return [name.replace("S", "SS") if len(name) > 1 else name for name in names]


def parse_groups(text: str, brokers: list[str]) -> dict[str, tuple[str, ...]]:
    """`G1=A,B,C;G2=A,B,D` as group -> brokers."""
    known = set(brokers)
    groups: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        name, equals, members = part.partition("=")
        name = name.strip()
        if not equals or not name or any(c in name for c in "@:,/#+ "):
            raise InputError(f"--groups has {part!r}: write a group as NAME=A,B,C and separate groups with ';'.")
        if name in groups:
            raise InputError(f"--groups names group {name} twice: list all its brokers once.")
        listed = [m.strip() for m in members.split(",") if m.strip()]
        if not listed:
            raise InputError(f"--groups gives group {name} no brokers: write {name}=A,B.")
        for member in listed:
            if member not in known:
                raise InputError(
                    f"--groups puts {member} into {name}, but the brokers are {_span(brokers)}: "
                    "correct the name or raise --brokers."
                )
        groups[name] = tuple(dict.fromkeys(listed))
    return groups


def _span(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 8 else f"{names[0]} to {names[-1]}"


def _draw_groups(dice: Random, brokers: list[str]) -> dict[str, tuple[str, ...]]:
    """One to four overlapping groups of at least two brokers (if there are two); every broker is in some group."""
    count = 1 + int(dice.random() * min(4, max(1, len(brokers) // 2 + 1)))
    members: list[list[str]] = []
    for _ in range(count):
        size = min(len(brokers), 2 + int(dice.random() * max(1, len(brokers) - 1)))
        members.append(shuffled(dice, brokers)[:size])
    for broker in brokers:
        if not any(broker in listed for listed in members):
            pick(dice, members).append(broker)
    order = {name: i for i, name in enumerate(brokers)}
    return {f"G{i + 1}": tuple(sorted(listed, key=order.__getitem__)) for i, listed in enumerate(members)}


def parse_partitions(text: str, names: list[str], follows: Mapping[str, str]) -> tuple[Partition, ...]:
    """`A,B|C,D@1000-2000;...`; `follows`: subscriber -> the broker whose side it is on unless it is named."""
    known = set(names)
    partitions = []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        sides, at, times = part.partition("@")
        begin, dash, end = times.partition("-")
        try:
            begin_us, end_us = round(float(begin) * 1000), round(float(end) * 1000)
        except (ValueError, OverflowError):
            at = ""
        if not at or not dash or "|" not in sides:
            raise InputError(f"--partition has {part!r}: write A,B|C,D@1000-2000 (milliseconds from the start).")
        if not 0 <= begin_us < end_us:
            raise InputError(f"--partition has {part!r}: it must end after it begins, at 0 or later.")
        side: dict[str, int] = {}
        for number, listed in enumerate(sides.split("|")):
            for name in filter(None, (n.strip() for n in listed.split(","))):
                if name not in known:
                    raise InputError(f"--partition names {name}, which is no process here: there are {_span(names)}.")
                if name in side:
                    raise InputError(f"--partition puts {name} on two sides in {part!r}: name it once.")
                side[name] = number
        for name in names:
            if name not in side:
                side[name] = side.get(follows.get(name, ""), 0)
        partitions.append(Partition(begin_us, end_us, side))
    return tuple(partitions)


def _newcomers(scenario: Scenario, facts: RecipeFacts, layout: Layout, span_us: int) -> dict[str, Late]:
    """Who joins while messages are published: as many brokers as there are among all, each in some of the groups."""
    dice = stream(scenario.seed, "newcomers")
    count = scenario.brokers + scenario.subscribers
    late: dict[str, Late] = {}
    when_us, brokers, subscribers = float(scenario.first_us), scenario.brokers, scenario.subscribers
    useful = [name for name, groups in layout.brokers.items() if groups]
    while scenario.join:
        when_us -= math.log(1.0 - dice.random()) * 1_000_000 / (scenario.join * count)
        if when_us >= scenario.first_us + span_us:
            break
        if dice.random() * count < scenario.brokers and not facts.fixed:
            brokers += 1
            groups = layout.groups if facts.flat else some(dice, layout.groups)
            if layout.topics:  # a table says who carries what
                groups = layout.brokers[pick(dice, useful)]
            late[broker_names(brokers)[-1]] = Late(int(when_us), "member" if facts.flat else "broker", groups)
        else:
            subscribers += 1
            first = pick(dice, useful)
            filters = layout.groups if facts.flat else some(dice, layout.wantable(layout.brokers[first]))
            late[f"S{subscribers}"] = Late(
                int(when_us), "member" if facts.flat else "subscriber", filters, () if facts.flat else (first,)
            )
    return late


def _under_table(layout: Layout, scenario: Scenario, names: list[str]) -> Layout:
    dice = stream(scenario.seed, "table")
    table = draw_table(dice, names) if scenario.table == DRAWN else parse_table(scenario.table, names)
    brokers = {name: table.carried_by(name) for name in names}
    groups = tuple(dict.fromkeys(group for carried in brokers.values() for group in carried))
    return replace(layout, groups=groups, brokers=brokers, table=table, topics=draw_topics(dice, table))


def lay_out(scenario: Scenario, facts: RecipeFacts, span_us: int | None = None) -> Layout:
    """`span_us`: for how long messages are published, if the scenario itself does not say."""
    dice = stream(scenario.seed, "layout")
    names = broker_names(scenario.brokers)
    carried = parse_groups(scenario.groups, names) if scenario.groups else _draw_groups(dice, names)
    groups = tuple(carried)
    subscribers = [f"S{i + 1}" for i in range(scenario.subscribers)]
    brokers = {name: tuple(g for g in groups if name in carried[g]) for name in names}
    layout = Layout(groups, brokers, {}, {}, (), facts.clients_publish)
    if scenario.table:
        layout = _under_table(layout, scenario, names)
        groups, brokers = layout.groups, dict(layout.brokers)
    useful = [name for name in names if brokers[name]]
    filters: dict[str, tuple[str, ...]] = {}
    at: dict[str, tuple[str, ...]] = {}
    for subscriber in subscribers:
        if facts.clients_publish:
            home = pick(dice, useful)
            at[subscriber] = (home,)
            filters[subscriber] = some(dice, layout.wantable(brokers[home]))
        else:
            first = pick(dice, useful)  # carries all that is wanted: where a subscriber begins is one broker's cut
            filters[subscriber] = some(dice, brokers[first])
            others = [b for b in useful if b != first and not set(filters[subscriber]).isdisjoint(brokers[b])]
            more = int(dice.random() * min(scenario.homes, 1 + len(others)))
            at[subscriber] = (first, *shuffled(dice, others)[:more])
    if facts.flat:
        brokers = dict.fromkeys(names, groups)
        filters = dict.fromkeys(subscribers, groups)
    layout = replace(layout, brokers=brokers, filters=filters, at=at)
    if span_us is None:
        span_us = scenario.busy_us(scenario.count)
    late = _newcomers(scenario, facts, layout, span_us)
    follows = {name: at[name][0] for name in subscribers} | {name: n.at[0] for name, n in late.items() if n.at}
    partitions = parse_partitions(scenario.partition, [*names, *subscribers, *late], follows)
    return replace(layout, partitions=partitions, late=late)
