"""What is done on purpose to datagrams on their way out, so that a network that works can be one that does not.

Decided here: each copy to each peer has its own fate - lost, sent twice, or held back so that later ones overtake it -
drawn from one seed and the sender's name. Connections of clients are left alone, for TCP hides such faults from both
ends; what clients see of them is that a broker waits for another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, fields

from antecede.errors import InputError

__all__ = ["NONE", "Faults", "parse_faults"]

HELD_S = (0.001, 0.02)
"""How long a datagram is held back that others are to overtake: some turns of a busy broker."""


@dataclass(slots=True, frozen=True)
class Faults:
    """Probabilities, 0 to 1."""

    loss: float = 0.0
    duplicate: float = 0.0
    reorder: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        for key in ("loss", "duplicate", "reorder"):
            value = getattr(self, key)
            if not 0 <= value <= 1:
                raise InputError(f"{key} is a probability, 0 to 1, not {value}")

    def __bool__(self) -> bool:
        return bool(self.loss or self.duplicate or self.reorder)

    def dice(self, name: str) -> random.Random:
        return random.Random(f"{self.seed} {name}")

    def delays_s(self, dice: random.Random) -> tuple[float, ...]:
        """When the copies of one datagram leave, in seconds from now: none if it is lost, two if it is doubled."""
        if dice.random() < self.loss:
            return ()
        copies = 2 if dice.random() < self.duplicate else 1
        return tuple(dice.uniform(*HELD_S) if dice.random() < self.reorder else 0.0 for _ in range(copies))


NONE = Faults()


def parse_faults(text: str) -> Faults:
    """As settings say it; nothing: no faults.

    >>> parse_faults("loss=0.1, reorder=0.05")
    Faults(loss=0.1, duplicate=0.0, reorder=0.05, seed=0)
    """
    known = {one.name: int if one.name == "seed" else float for one in fields(Faults)}
    told: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = part.partition("=")
        try:
            told[key] = known[key](value)
        except (KeyError, ValueError):
            raise InputError(f"{part!r} is no fault: write loss=0.1,duplicate=0.05,reorder=0.05,seed=1.") from None
    return Faults(**told)  # type: ignore[arg-type]
