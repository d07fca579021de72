"""Drawing by chance: the one place where a few are drawn from many (001 s2.2, 003, 004: gossip targets at random)."""

from __future__ import annotations

from collections.abc import Sequence

from antecede.core.machine import Dice

__all__ = ["some_of"]


def some_of(dice: Dice, names: Sequence[str], count: int) -> list[str]:
    """`count` different names, evenly drawn; all of them, in their order, where there are no more."""
    drawn = list(names)
    if len(drawn) <= count:
        return drawn
    for place in range(count):
        other = place + int(dice.random() * (len(drawn) - place))
        drawn[place], drawn[other] = drawn[other], drawn[place]
    return drawn[:count]
