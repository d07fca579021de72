"""Where a subscriber attaches: the one rule, for those who find out by themselves and for those who are told.

Decided here: the first broker it names carries all it wants, for where a subscriber begins is one broker's cut. Places
it has and that are still there are kept; a new first one is drawn among all that will do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.entries import EACH, Groups
from antecede.core.machine import Dice

__all__ = ["choose"]


def choose(
    brokers: Mapping[str, tuple[str, ...]],
    filters: Sequence[str],
    left: Sequence[str],
    dice: Dice,
    *,
    single: bool,
    groups: Groups = EACH,
) -> tuple[str, ...]:
    """Where to attach, given the places that are `left`; () where nobody carries what is wanted. `single`: one broker,
    else the first of several."""
    candidates = groups.carrying(brokers, filters)
    first = next((name for name in left if name in candidates), None)
    if first is None:
        if not candidates:
            return ()
        first = candidates[int(dice.random() * len(candidates))]
    return (first,) if single else (first, *(name for name in left if name != first))
