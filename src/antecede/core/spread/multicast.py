"""Unreliable multicast: one copy to everybody, at once. What the other ways to spread among members start from.

A spread is told what is published and what is delivered, may take frames of its own, and may want to be woken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from antecede.core.effects import Send
from antecede.core.frames import Data, Frame
from antecede.core.message import Envelope

if TYPE_CHECKING:
    from antecede.core.tier import Tier

__all__ = ["Multicast"]


class Multicast:
    at_us: int | None = None
    """When it wants to be woken."""

    def __init__(self, tier: Tier) -> None:
        self.tier = tier

    def published(self, envelope: Envelope, now_us: int) -> None:
        self._to_all((envelope,))

    def _to_all(self, envelopes: tuple[Envelope, ...]) -> None:
        others = tuple(self.tier.peers())
        if others:
            self.tier.out.append(Send(others, Data(envelopes)))

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        """A message of another was delivered here."""

    def took(self, frame: Frame, sender: str, now_us: int) -> bool:
        """A frame that is none of the usual ones; False: it is not of this spread either."""
        return False

    def viewed(self, now_us: int) -> None:
        """The view changed."""

    def wake(self, now_us: int) -> None:
        """`at_us` has come."""
