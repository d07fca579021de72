"""Unreliable multicast in a flat group (000, 002 B-SEND): one copy to everybody, at once.

What the other ways to spread among members start from: they are told what is published and what is delivered, may take
frames of their own, and may want to be woken.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from antecede.core.frames import Data, Digest, Frame
from antecede.core.message import Envelope

if TYPE_CHECKING:
    from antecede.core.roles.member import Member

__all__ = ["Flat"]


class Flat:
    at_us: int | None = None
    """When this Spread wants to be woken."""

    def __init__(self, member: Member) -> None:
        self.member = member

    def publish(self, envelope: Envelope, now_us: int) -> None:
        self._to_all((envelope,))

    def _to_all(self, envelopes: tuple[Envelope, ...]) -> None:
        member = self.member
        if member.others:
            member.send(member.others, Data(envelopes))

    def forward(self, envelope: Envelope, now_us: int) -> None:
        """A message of another was delivered here."""

    def arrived(self, envelopes: Sequence[Envelope], sender: str, now_us: int) -> None:
        """Messages came from `sender`, new ones or repeats."""

    def compared(self, frame: Digest, sender: str) -> None:
        """A digest came."""

    def took(self, frame: Frame, sender: str, now_us: int) -> bool:
        """A frame that is none of the usual ones; False: it is not of this spread either."""
        return False

    def viewed(self, now_us: int) -> None:
        """The view changed."""

    def wake(self, now_us: int) -> None:
        """The time `at_us` has come: a round of this Spread."""
