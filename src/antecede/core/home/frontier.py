"""Where a client of `home` has got to, as a value: small enough to save with each result, enough to go on from.

A frontier holds marks of all messages that were handed over or published, closed under causality; the cut at which the
client began; and which unordered messages it has had. Only a later life of the same client may begin at it, since ids
belong to lives, and a client that lost its memory must not number anew under its old name. Messages that wait in a
queue are not in the frontier: they have not been handed over, and a broker that still holds them sends them again.
`wire.save` makes bytes of it. Example: Bob's application has taken p:1 to p:3, and p:4 waits; Bob saves {p: 3} and
crashes. `Bob.1` begins there: it gets p:4, and what it publishes follows p:3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from antecede.core.membership.news import split_name
from antecede.core.message import Envelope, Message, Stamp, sender_of
from antecede.core.order.past import Unordered
from antecede.core.order.vector import VectorWriter
from antecede.errors import InputError

__all__ = ["Frontier", "begin_at"]


@dataclass(slots=True, frozen=True)
class Frontier:
    process: str
    """The client whose frontier this is: a name with its life."""
    marks: Mapping[str, int] = field(default_factory=dict)
    """Stream -> the newest that was handed over or published, or precedes what was."""
    began: Mapping[str, int] = field(default_factory=dict)
    """Where the client began, as far as that is beyond the marks: messages behind it were never owed."""
    loose: Unordered = field(default_factory=dict)
    """Unordered messages it has had."""
    rank: int = 0
    """No message in the marks has a higher one: what follows sorts after them."""

    def check(self, name: str) -> None:
        """Whether a client of this name may begin here."""
        (base, life), (whose, earlier) = split_name(name), split_name(self.process)
        if base != whose:
            raise InputError(f"{name} cannot begin at a frontier of {whose}: connect under the name {whose}.")
        if life <= earlier:
            raise InputError(
                f"{name} cannot begin at a frontier of {self.process}: take the name of a later life, such as "
                f"{whose}.{earlier + 1}."
            )


def begin_at(writer: VectorWriter, frontier: Frontier) -> None:
    """All that is published from now on follows the frontier. What in it precedes what is not known any more, so each
    of its marks is learned as if it came alone."""
    for stream, n in frontier.marks.items():
        stamp = Stamp(((stream, n),), (), {}, frontier.rank)
        writer.learn(Envelope(Message(sender_of(stream), n, ()), stamp))
