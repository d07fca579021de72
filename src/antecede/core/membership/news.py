"""What one process says of another, and which of two such sayings counts.

Decided here: dead and left are final - a name that is out stays out, whoever comes back takes its next incarnation.
Otherwise the greater number counts, which only the process itself raises, to refute a suspicion or to say where it is
attached now; at the same number suspicion counts more than life. And whoever is heard of under a later incarnation has
no earlier one any more.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["ALIVE", "DEAD", "LEFT", "STATES", "SUSPECT", "News", "beats", "split_name"]

ALIVE, SUSPECT, DEAD, LEFT = STATES = ("alive", "suspect", "dead", "left")


@dataclass(slots=True, frozen=True)
class News:
    name: str
    role: str
    groups: tuple[str, ...] = ()
    site: str = ""
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
    return (new.number, new.state == SUSPECT) > (old.number, old.state == SUSPECT)


def split_name(name: str) -> tuple[str, int]:
    """
    >>> split_name("A.2"), split_name("A"), split_name("10.0.0.1:7400")
    (('A', 2), ('A', 0), ('10.0.0.1:7400', 0))
    """
    base, dot, life = name.rpartition(".")
    return (base, int(life)) if dot and life.isascii() and life.isdigit() else (name, 0)
