"""Rounds where it matters who knows whom: static views, and sites whose members prefer each other.

Decided here: who is drawn. A view is `view` others, drawn once; each round `fanout` different ones of it. With sites,
each target is one of one's own site with probability `near`, else anybody of the others (of one's own site too), and
targets differ. Sites are equal stretches of subscribers. Every copy is drawn, so a round costs what it sends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from antecede.sim.kernels import CHUNK, Dice, Marks, distinct_rows, mark
from antecede.sim.uniform import Rounds

if TYPE_CHECKING:
    from antecede.sim.epidemic import Epidemic

__all__ = ["draw_views", "site_of", "spread_by_contacts"]

Ints = NDArray[Any]
ROUNDS = 10_000
NEVER = np.iinfo(np.int16).max


def draw_views(dice: Dice, n: int, size: int) -> Ints:
    """Row i: `size` different others of subscriber i."""
    views = np.empty((n, size), dtype=np.uint32)
    for begin in range(0, n, CHUNK):
        rows = np.arange(begin, min(n, begin + CHUNK))
        drawn = distinct_rows(dice, len(rows), size, n - 1)
        views[rows] = drawn + (drawn >= rows[:, None])  # skip oneself
    return views


def site_of(who: Ints, n: int, sites: int) -> Ints:
    """
    >>> site_of(np.arange(6), 6, 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    return who.astype(np.int64) * sites // n


def _near_targets(dice: Dice, senders: Ints, epidemic: Epidemic) -> Ints:
    n, sites, width = epidemic.subscribers, epidemic.sites, epidemic.fanout
    site = site_of(senders, n, sites)
    begin, end = -(-site * n // sites), -(-(site + 1) * n // sites)
    targets = np.empty((len(senders), width), dtype=np.int64)
    left = np.arange(len(senders))
    while left.size:
        shape = (left.size, width)
        close = dice.random(shape) < epidemic.near
        low = np.where(close, begin[left, None], 0)
        high = np.where(close, end[left, None], n)
        drawn = (low + dice.random(shape) * (high - low - 1)).astype(np.int64)
        drawn += drawn >= senders[left, None]  # skip oneself
        targets[left] = drawn
        ordered = np.sort(drawn, axis=1)
        left = left[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
    return targets


def spread_by_contacts(epidemic: Epidemic, dice: Dice, rounds: Rounds) -> int:
    """Fill `rounds`; how many subscribers are correct."""
    n = epidemic.subscribers
    alive = dice.random(n) >= epidemic.crash
    alive[0] = True
    views = draw_views(dice, n, epidemic.view) if epidemic.view else None
    since = np.full(n, NEVER, dtype=np.int16)
    since[0] = 0
    reached, correct = 1, int(alive.sum())
    rounds.add(reached)
    for r in range(1, (epidemic.rounds or ROUNDS) + 1):
        if reached == correct and not epidemic.rounds:
            break
        oldest = r - epidemic.forwards if epidemic.forwards else 0
        senders = np.flatnonzero((since < r) & (since >= oldest))
        if senders.size == 0:
            break
        marks: Marks = np.zeros(n, dtype=np.uint8)
        copies = crossings = 0
        for begin in range(0, senders.size, CHUNK):
            some = senders[begin : begin + CHUNK]
            if views is not None:
                picks = distinct_rows(dice, some.size, epidemic.fanout, epidemic.view)
                targets = views[some[:, None], picks]
            else:
                targets = _near_targets(dice, some, epidemic)
                there = site_of(targets, n, epidemic.sites)
                crossings += int((there != site_of(some, n, epidemic.sites)[:, None]).sum())
            copies += targets.size
            mark(marks, targets[dice.random(targets.shape) >= epidemic.loss].ravel())
        new = np.flatnonzero((marks == 1) & alive & (since == NEVER))
        since[new] = r
        reached += new.size
        rounds.add(reached, copies, 0, crossings)
        if views is not None and not new.size and not epidemic.rounds:
            open_ = alive & (since == NEVER)
            if not open_[views[since < NEVER]].any():
                break  # whoever still lacks it is in the view of nobody who has it
    return correct
