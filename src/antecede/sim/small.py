"""A small scenario for `explore`: who takes part, who publishes what, and how much may go wrong.

Decided here: what the knobs of `antecede explore` mean, the little language of scripts, and what is taken where they
are silent. A script says what applications do, not when: each process does its steps in the order given, each step at
any moment (`after`: at any moment after these messages were delivered there).
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from dataclasses import dataclass

from antecede.core.entries import EACH
from antecede.core.machine import Settings
from antecede.core.order.round_clock import colours_for
from antecede.core.state.freeze import EPOCH_US
from antecede.errors import InputError
from antecede.sim.layout import broker_names, parse_groups
from antecede.sim.scenario import RecipeFacts, check_lifetime, find_recipe

__all__ = ["TIMED", "Cast", "Small", "Step", "cast_of", "parse_script"]

MAX_COUNT = 8
ROUND_US = 50_000
TIMED = ("yes", "same")
"""Recipes that need deadlines: each its own, or the same for all."""
STEP = re.compile(
    r"(?P<process>\S+)\s+(?:->\s*(?P<to>\S+)|(?P<topics>[^\s>-]\S*)(?:\s+within\s+(?P<within>[\d.]+))?)"
    r"(?:\s+after\s+(?P<after>\S+))?"
)


@dataclass(frozen=True, slots=True)
class Small:
    """One exploration, before it happens. Raising any count multiplies the states."""

    recipe: str = "solicit"
    reading: str = "repaired"
    members: int = 3
    """Flat recipes: how many processes, A, B, C, ..."""
    brokers: int = 2
    subscribers: int = 2
    groups: str = ""
    """`G1=A,B;G2=A,B`; empty: two groups that all brokers carry (flat recipes: one)."""
    at: str = ""
    """`S1=G1@A;S2=G1,G2@B`: what subscribers want and where they attach; empty: in turn."""
    messages: int = 3
    """How many are published where no script says so."""
    script: str = ""
    """`A G1,G2; B G2 within 50 after A:1; S1 -> B`: publications (`within`: deadline in ms) and moves; empty: where
    clients publish the first one moves, then `messages` publications in turn."""
    losses: int = 1
    """Copies that never arrive."""
    duplicates: int = 0
    """Copies that arrive twice, the second time at any later moment."""
    slow: int = 0
    """Copies that are overtaken by timers, and arrive at any later moment."""
    early: int = 0
    """Timers that go off although copies are under way that are neither lost nor slow."""
    crashes: int = 0
    """Processes that crash for good, at any moment; the others learn of it one by one, at any moment."""
    deadline_ms: float | None = None
    """Each message must be delivered this long after it was published (where no script says so, later ones a little
    sooner, so that what follows may be due first); None: no deadlines."""
    fanout: int = 0
    """To how many peers a digest goes, and a message where chance decides who gets it (always the same); 0: all."""
    alpha: int = 1
    """Rounds of a lifetime beyond ceil(log2 N), where an order counts by rounds."""
    clock: str = ""
    """`own` or `one` (see `sim.explore`); empty: `own` where nothing expires."""

    def __post_init__(self) -> None:
        for name in ("losses", "duplicates", "slow", "early", "crashes", "messages", "subscribers", "alpha", "fanout"):
            if not 0 <= getattr(self, name) <= MAX_COUNT:
                raise InputError(f"{name} is {getattr(self, name)}: give 0 to {MAX_COUNT}, every state is visited.")
        for name in ("members", "brokers"):
            if not 1 <= getattr(self, name) <= MAX_COUNT:
                raise InputError(f"{name} is {getattr(self, name)}: give 1 to {MAX_COUNT}, every state is visited.")
        if self.clock not in ("", "own", "one"):
            raise InputError(f"clock is {self.clock!r}: it is own or one.")
        if self.deadline_ms is not None and not 0 < self.deadline_ms < 1e9:
            raise InputError(f"deadline_ms is {self.deadline_ms:g}: it must be greater than 0 and less than 1e9.")

    @property
    def own_clocks(self) -> bool:
        expires = self.deadline_ms is not None or find_recipe(self.recipe).deadlines in (*TIMED, "lifetime")
        return self.clock != "one" and not expires

    @property
    def base(self) -> str:
        """The recipe without its way to spread."""
        return self.recipe.partition("+")[0]

    @property
    def start_us(self) -> int:
        """When clocks begin: where every process has its own, their times must be told from other numbers."""
        return EPOCH_US if self.own_clocks else 0

    def settings(self, facts: RecipeFacts) -> Settings:
        """Times only matter against each other: what is asked for soon, what later, and when it is too late."""
        hop_us = 20_000 if not facts.flat and self.subscribers else 0
        lives = facts.deadlines == "lifetime"
        return Settings(
            deadlines=self.deadline_ms is not None or lives, hop_us=hop_us, round_us=ROUND_US,
            fanout=self.fanout or 2 * MAX_COUNT, colours=self.colours if lives else 0, patience_us=5_000,
            retry_us=30_000, trip_us=0,
        )  # fmt: skip

    @property
    def colours(self) -> int:
        return colours_for(max(self.brokers, self.subscribers), self.alpha)

    def knobs(self) -> dict[str, object]:
        """What differs from the default."""
        fields = dataclasses.fields(self)
        return {f.name: value for f in fields if (value := getattr(self, f.name)) != f.default or f.name == "recipe"}


@dataclass(frozen=True, slots=True)
class Step:
    """What one process does: publish to `topics`, or move to the broker `to`."""

    process: str
    topics: tuple[str, ...] = ()
    to: str = ""
    within_ms: float | None = None
    """Its deadline, from then; None: what `deadline_ms` says."""
    after: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = f"-> {self.to}" if self.to else ",".join(self.topics)
        within = f" within {self.within_ms:g}" if self.within_ms is not None else ""
        return f"{self.process} {what}{within}" + (f" after {','.join(self.after)}" if self.after else "")


@dataclass(frozen=True, slots=True)
class Cast:
    """Everybody, in a fixed order."""

    names: tuple[str, ...]
    roles: tuple[str, ...]
    groups: tuple[tuple[str, ...], ...]
    """What a member or broker carries, what a subscriber wants."""
    at: Mapping[str, tuple[str, ...]]
    """Subscriber -> the brokers it attaches to first."""
    steps: tuple[tuple[Step, ...], ...]
    """What each does, in its order."""
    facts: RecipeFacts

    def places_for(self, process: int, left: tuple[str, ...]) -> tuple[str, ...]:
        """Where a subscriber goes when only these brokers are left: the first that carries all it wants."""
        there = {n: g for n, r, g in zip(self.names, self.roles, self.groups, strict=True) if r == "broker"}
        return tuple(EACH.carrying({n: g for n, g in there.items() if n in left}, self.groups[process])[:1])


def cast_of(small: Small) -> Cast:
    facts = find_recipe(small.recipe)
    if small.deadline_ms is None and facts.deadlines in TIMED:
        raise InputError(f"Recipe {small.recipe} needs deadlines: give --deadline-ms.")
    if small.deadline_ms is not None and facts.deadlines == "none":
        raise InputError(f"Recipe {small.recipe} has no deadlines: leave --deadline-ms out.")
    if small.clock == "own" and not small.own_clocks:
        raise InputError("Deadlines are instants of one clock: leave --clock out, or give --clock one.")
    if facts.deadlines == "lifetime" and small.deadline_ms is not None:
        _check_lifetime(small, facts, small.deadline_ms)
    if facts.flat:
        names = broker_names(small.members)
        carried = parse_groups(small.groups, names) if small.groups else {"G1": tuple(names)}
        steps = _script(small, facts, names, names, tuple(carried))
        everything = tuple(carried)
        roles = ("member",) * len(names)
        return Cast(tuple(names), roles, (everything,) * len(names), {}, _by_process(names, steps), facts)
    brokers = broker_names(small.brokers)
    carried = parse_groups(small.groups, brokers) if small.groups else {"G1": tuple(brokers), "G2": tuple(brokers)}
    carries = {name: tuple(g for g in carried if name in carried[g]) for name in brokers}
    wants, at = _attachments(small, carries)
    if facts.clients_publish and not wants:
        raise InputError(f"In recipe {small.recipe} the subscribers publish: give at least one with --subscribers.")
    names = [*brokers, *wants]
    publishers = list(wants) if facts.clients_publish else [name for name in brokers if carries[name]]
    moves_to = ""
    if facts.clients_publish:
        first = publishers[0]
        moves_to = next((name for name in EACH.carrying(carries, wants[first]) if name not in at[first]), "")
    steps = _script(small, facts, names, publishers, tuple(carried), moves_to)
    roles = ("broker",) * len(brokers) + ("subscriber",) * len(wants)
    groups = (*carries.values(), *wants.values())
    return Cast(tuple(names), roles, groups, at, _by_process(names, steps), facts)


def _attachments(
    small: Small, carries: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    wants: dict[str, tuple[str, ...]] = {}
    at: dict[str, tuple[str, ...]] = {}
    brokers = list(carries)
    for part in filter(None, (p.strip() for p in small.at.split(";"))):
        name, equals, rest = part.partition("=")
        filters, sign, homes = rest.partition("@")
        if not equals or not sign or not filters or not homes:
            raise InputError(f"--at has {part!r}: write S1=G1,G2@A and separate subscribers with ';'.")
        wants[name.strip()] = tuple(f.strip() for f in filters.split(","))
        at[name.strip()] = tuple(h.strip() for h in homes.split(","))
        for home in at[name.strip()]:
            if home not in carries:
                raise InputError(f"--at attaches {name} to {home}, but the brokers are {', '.join(brokers)}.")
    if not small.at:
        for i in range(small.subscribers):
            home = brokers[i % len(brokers)]
            mine = carries[home]
            wants[f"S{i + 1}"] = (mine[i % len(mine)],) if mine else ()
            at[f"S{i + 1}"] = (home,)
    return wants, at


def _script(
    small: Small,
    facts: RecipeFacts,
    names: list[str],
    publishers: list[str],
    groups: tuple[str, ...],
    moves_to: str = "",
) -> list[Step]:
    if small.script:
        steps = parse_script(small.script, names, groups)
        within = any(step.within_ms is not None for step in steps)
        if within and (small.deadline_ms is None or facts.deadlines == "same"):
            raise InputError("--script names deadlines (within): say with --deadline-ms what all or the others have.")
        for step in steps:
            if facts.deadlines == "lifetime" and step.within_ms is not None:
                _check_lifetime(small, facts, step.within_ms)
        return steps
    # To all groups and to the last alone in turn: order must then hold through messages that not everybody gets.
    topics = [groups, groups[-1:]]
    steps = [Step(publishers[0], to=moves_to)] if moves_to else []
    for i in range(small.messages):
        within_ms = None
        if small.deadline_ms is not None and facts.deadlines != "same":
            # Later ones end sooner, so that order and deadlines contradict; where none may end sooner, later.
            by = i / (4 * small.messages)
            within_ms = small.deadline_ms * (1 + by if facts.uniform else 1 - by)
        steps.append(Step(publishers[i % len(publishers)], topics[i % 2], within_ms=within_ms))
    return steps


def _check_lifetime(small: Small, facts: RecipeFacts, within_ms: float) -> None:
    check_lifetime(small.recipe, (within_ms, within_ms), small.colours, ROUND_US / 1000, uniform=facts.uniform)


def parse_script(text: str, names: list[str], groups: tuple[str, ...]) -> list[Step]:
    """
    >>> script = "A G1,G2; B G2 within 50 after A:1; S1 -> B"
    >>> [str(step) for step in parse_script(script, ["A", "B", "S1"], ("G1", "G2"))]
    ['A G1,G2', 'B G2 within 50 after A:1', 'S1 -> B']
    """
    steps = []
    for part in filter(None, (p.strip() for p in text.split(";"))):
        match = STEP.fullmatch(part)
        if match is None or not (match["to"] in names or set((match["topics"] or "").split(",")) <= set(groups)):
            raise InputError(
                f"--script has {part!r}: write 'A G1,G2' (publish), 'B G1 within 50 after A:1', or 'S1 -> B' (move); "
                f"groups are {', '.join(groups)}."
            )
        if match["process"] not in names:
            raise InputError(f"--script names {match['process']}, which is no process here: {', '.join(names)} are.")
        topics, after = (tuple(match[name].split(",")) if match[name] else () for name in ("topics", "after"))
        within_ms = float(match["within"]) if match["within"] else None
        steps.append(Step(match["process"], topics, match["to"] or "", within_ms, after))
    return steps


def _by_process(names: list[str], steps: list[Step]) -> tuple[tuple[Step, ...], ...]:
    return tuple(tuple(step for step in steps if step.process == name) for name in names)
