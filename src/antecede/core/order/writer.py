"""The Writer's end of an Order, as every encoding has it: what a process asks of the Order it stamps with.

An Order must stamp, learn and know its past; every other method has the answer of an Order whose stamps say all that
they mean and keep nothing per message, as a vector's do. Example: a vector passes a stamp on as it came (`relay`); a
context graph adds the ancestors that are not yet stable.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

from antecede.core.frames import Node
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Mark, Message, Stamp
from antecede.errors import InputError

__all__ = ["NoWriter", "Writer"]


class Writer(ABC):
    dense = False
    """Whether the numbers of a stream have no holes."""
    wants_stable = False
    """Whether this Order wants to know what is stable."""

    def __init__(self) -> None:
        self.stable: dict[str, int] = {}
        """Per stream: up to here everybody has it, brokers and their subscribers."""
        self.dropped: dict[str, int] = {}
        """Per stream: up to here this Order has forgotten messages because everybody has them. A process that takes
        over from this one begins behind that."""

    # -- what every Order decides ----------------------------------------------------------------------------------

    @abstractmethod
    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        """Stamp a message. `after`: the stamps of its declared causes; None: everything learned so far."""

    @abstractmethod
    def learn(self, envelope: Envelope) -> None:
        """A message was delivered here: it and its causes are causes of messages stamped from now on."""

    @abstractmethod
    def past(self) -> Mapping[str, int]:
        """Marks of everything in the past of what was delivered here, of all groups."""

    # -- how a stamp travels ---------------------------------------------------------------------------------------

    def arrived(self, envelope: Envelope) -> Envelope:
        """A message as it came from a peer, with its stamp as this process reads it."""
        return envelope

    def relay(self, envelope: Envelope) -> Envelope:
        """A message as it travels between peers."""
        return envelope

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        """A message as it travels to subscribers; their readers look only at the streams that concern them."""
        return envelope

    def bare(self, envelope: Envelope) -> Envelope:
        """A message as it travels in a snapshot, which has the nodes of the graph beside it."""
        return envelope

    # -- a graph ---------------------------------------------------------------------------------------------------

    def look_at(self, interest: Interest) -> None:
        """A subscriber that reads stamps with a Writer of its own has said what it wants."""

    def nodes(self) -> tuple[Node, ...]:
        """The graph, for a newcomer."""
        return ()

    def adopt(self, nodes: Sequence[Node], dropped: Mapping[str, int]) -> None:
        """Take over the graph of a donor."""

    def known(self, mark: Mark) -> Stamp | None:
        """The stamp of a message that is not here, as far as it is known from others."""
        return None

    def start_at(self, cut: Mapping[str, int]) -> None:
        """This process begins behind a cut."""

    def gave_up(self, mark: Mark) -> None:
        """A message was given up: it will never come."""

    def expire(self, now_us: int) -> None:
        """Forget messages that have expired: no stamp need name them."""

    def forget(self, now_us: int) -> None:
        """Forget messages that everybody has, or that have expired."""

    def heard(self, stable: Mapping[str, int]) -> None:
        """A peer says what is stable."""


class NoWriter(Writer):
    """The Writer of a process that only reads, a subscriber or a client: its Reader says what stamps mean."""

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        raise InputError(f"{message.sender} only reads what brokers stamp: publish at a broker, or by recipe `home`.")

    def learn(self, envelope: Envelope) -> None:
        """Nothing that this process publishes follows anything."""

    def past(self) -> Mapping[str, int]:
        return {}
