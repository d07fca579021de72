"""What one process says of another, and which of two such sayings counts.

Decided here: dead and left are final - a name that is out stays out, whoever comes back takes its next incarnation.
Otherwise the greater number counts, which only the process itself raises, to refute a suspicion or to say where it is
attached now; at the same number suspicion counts more than life. And whoever is heard of under a later incarnation has
no earlier one any more. A number so far ahead that nobody can have counted there is nobody's: believed, it would leave
the process it speaks of no greater one to refute with.

Of two subscribers under one name neither can keep it: both have numbered messages under it. So that name is dead, and
whoever begins again goes by its next incarnation. Example: ann begins at A, and another ann at B, before A and B have
told each other. Their sites differ, so the first broker that hears of both says that ann is dead, in the words of the
one that began last.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["ALIVE", "DEAD", "LEFT", "STATES", "SUSPECT", "News", "beats", "last_of_two", "split_name"]

ALIVE, SUSPECT, DEAD, LEFT = STATES = ("alive", "suspect", "dead", "left")

LEAP = 2**32
"""So much may one saying be ahead of what was known: a process raises its number by one each time. Lowering it would
part those who have long not heard of each other; raising it lets fewer false claims use up all numbers."""
LIFE_DIGITS = 9
"""More digits after the dot are part of a name: no process comes back so often."""


@dataclass(slots=True, frozen=True)
class News:
    name: str
    role: str
    groups: tuple[str, ...] = ()
    site: str = ""
    """Where it is; for a client of a live broker when and where it began, which tells two of one name apart."""
    at: tuple[str, ...] = ()
    """Subscribers: the brokers they are attached to."""
    number: int = 0
    """Raised by the process itself alone."""
    state: str = ALIVE

    @property
    def final(self) -> bool:
        return self.state in (DEAD, LEFT)


def beats(new: News, old: News) -> bool:
    """Whether `new` says more of a process than `old`."""
    if old.final or new.final:
        return new.final and not old.final
    if new.number > old.number + LEAP:
        return False
    return (new.number, new.state == SUSPECT) > (old.number, old.state == SUSPECT)


def last_of_two(new: News, old: News) -> News | None:
    """What is to be said where two subscribers have one name at once: it is dead; None: they are one.

    >>> ann, another = News("ann", "subscriber", site="1 A"), News("ann", "subscriber", site="2 B")
    >>> last_of_two(ann, another) == replace(another, state=DEAD) == last_of_two(another, ann)
    True
    """
    if new.role != "subscriber" or old.role != new.role or new.final or old.final:
        return None
    if not new.site or not old.site or new.site == old.site:
        return None
    return replace(max(new, old, key=lambda one: one.site), state=DEAD)


def split_name(name: str) -> tuple[str, int]:
    """The name without its incarnation, and that. There is one way to write each.

    >>> split_name("A.2"), split_name("A"), split_name("10.0.0.1:7400"), split_name("A.02")
    (('A', 2), ('A', 0), ('10.0.0.1:7400', 0), ('A.02', 0))
    """
    base, _, life = name.rpartition(".")
    is_life = base and life.isascii() and life.isdigit() and len(life) <= LIFE_DIGITS and life[0] != "0"
    return (base, int(life)) if is_life else (name, 0)
