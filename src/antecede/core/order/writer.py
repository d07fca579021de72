"""The Writer's end of an Order, as every encoding has it: what a process asks of the Order it stamps with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from antecede.core.frames import Node
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Mark, Message, Stamp
from antecede.errors import InputError

__all__ = ["NoWriter", "Writer"]


class Writer(Protocol):
    dense: bool
    cuts: bool
    """Whether it wants to know what is stable."""
    stable: dict[str, int]
    retired: dict[str, int]
    """Per stream, what it has forgotten because everybody has it: who takes over from it begins behind that."""

    def look_at(self, interest: Interest) -> None: ...
    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp: ...
    def learn(self, envelope: Envelope) -> None: ...
    def arrived(self, envelope: Envelope) -> Envelope: ...
    def relay(self, envelope: Envelope) -> Envelope: ...
    def bare(self, envelope: Envelope) -> Envelope: ...
    def nodes(self) -> tuple[Node, ...]: ...
    def adopt(self, nodes: Sequence[Node], retired: Mapping[str, int]) -> None: ...
    def known(self, mark: Mark) -> Stamp | None: ...
    def past(self) -> Mapping[str, int]: ...
    def start_at(self, cut: Mapping[str, int]) -> None: ...
    def gave_up(self, mark: Mark) -> None: ...
    def project(self, envelope: Envelope, interest: Interest) -> Envelope: ...
    def expire(self, now_us: int) -> None: ...
    def forget(self, now_us: int) -> None: ...
    def heard(self, stable: Mapping[str, int]) -> None: ...


class NoWriter:
    """Of a process that only reads, a subscriber or a client: nothing is learned, named or kept for stamps to come."""

    __slots__ = ("retired", "stable")
    cuts = dense = False

    def __init__(self) -> None:
        self.stable: dict[str, int] = {}
        self.retired: dict[str, int] = {}

    def look_at(self, interest: Interest) -> None:
        """Its Reader is told."""

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        raise InputError(f"{message.sender} only reads what brokers stamp: publish at a broker, or by recipe `home`.")

    def learn(self, envelope: Envelope) -> None:
        """Nothing it publishes follows anything."""

    def arrived(self, envelope: Envelope) -> Envelope:
        """Its Reader says what a stamp means."""
        return envelope

    def relay(self, envelope: Envelope) -> Envelope:
        return envelope

    def bare(self, envelope: Envelope) -> Envelope:
        return envelope

    def nodes(self) -> tuple[Node, ...]:
        return ()

    def adopt(self, nodes: Sequence[Node], retired: Mapping[str, int]) -> None:
        """There is no graph."""

    def known(self, mark: Mark) -> Stamp | None:
        return None

    def past(self) -> Mapping[str, int]:
        return {}

    def start_at(self, cut: Mapping[str, int]) -> None:
        """Its Reader begins there."""

    def gave_up(self, mark: Mark) -> None:
        """Nothing is kept per message."""

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        return envelope

    def expire(self, now_us: int) -> None:
        """Nothing is named."""

    def forget(self, now_us: int) -> None:
        """Nothing is kept."""

    def heard(self, stable: Mapping[str, int]) -> None:
        """Nothing is cut by what others have."""
