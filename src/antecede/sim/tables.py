"""A table of entries for a run: what `--table` means, which topics are published under it, and what may be wanted.

Decided here: topics and filters are drawn from a few levels, so that entries, filters and topics overlap in all ways; a
broker's clients want what one of its entries covers, and what some topic of the run matches.
"""

from __future__ import annotations

from itertools import product
from random import Random

from antecede.core.entries import Entries
from antecede.core.topics import EVERYTHING, matches
from antecede.errors import InputError
from antecede.sim.dice import pick, shuffled

__all__ = ["DRAWN", "draw_table", "draw_topics", "filters_for", "parse_table"]

DRAWN = "drawn"
"""In place of a table: the seed decides it."""

MOST_TOPICS = 8
TOPICS = ["/".join(names) for depth in (1, 2, 3) for names in product("ab", repeat=depth)] + ["$s", "$s/a"]
FILTERS = [
    EVERYTHING, "#", "+", "+/+", "+/#", "a/#", "a/+", "+/a", "+/b", "b/+/#", "a/+/b", "+/a/#", "$s/#", *TOPICS
]  # fmt: skip
ENTRIES = [filter for filter in FILTERS if "+" in filter or "#" in filter]


def parse_table(text: str, brokers: list[str]) -> Entries:
    """`room/#=A,B;+/door=C`; a filter alone is carried by all."""
    table: dict[str, tuple[str, ...]] = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        wanted, _, members = part.partition("=")
        listed = tuple(m.strip() for m in members.split(",") if m.strip())
        for member in listed:
            if member not in brokers:
                raise InputError(f"--table lets {member} carry {wanted}, but there is no such broker.")
        if wanted in table:
            raise InputError(f"--table has {wanted} twice: list all its brokers once.")
        table[wanted.strip()] = listed
    return Entries(table)


def draw_table(dice: Random, brokers: list[str]) -> Entries:
    """One to four entries, each carried by at least two brokers (if there are two)."""
    table: dict[str, tuple[str, ...]] = {}
    for wanted in shuffled(dice, ENTRIES)[: 1 + int(dice.random() * 4)]:
        size = min(len(brokers), 2 + int(dice.random() * max(1, len(brokers) - 1)))
        table[wanted] = tuple(sorted(shuffled(dice, brokers)[:size]))
    return Entries(table)


def draw_topics(dice: Random, entries: Entries) -> tuple[str, ...]:
    """A few of those that fall under some entry, one of each entry at least."""
    under = shuffled(dice, [topic for topic in TOPICS if entries.of((topic,))])
    chosen = dict.fromkeys(under[: 1 + int(dice.random() * MOST_TOPICS)])
    for wanted in entries.table:
        level = wanted.replace("$#", "a").replace("#", "a").replace("+", pick(dice, "ab"))
        chosen.setdefault(next((topic for topic in under if matches(wanted, topic)), level))
    return tuple(chosen)


def filters_for(entries: Entries, carried: tuple[str, ...], topics: tuple[str, ...]) -> tuple[str, ...]:
    """What clients of a broker may want, that carries these entries."""
    known = dict.fromkeys((*entries.table, *FILTERS, *topics))
    useful = [filter for filter in known if any(matches(filter, topic) for topic in topics)]
    return tuple(filter for filter in useful if entries.carrying({"": carried}, (filter,)))
