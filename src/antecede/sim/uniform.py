"""Rounds where everybody may meet everybody: exact in distribution, and without identities.

Decided here: what one round draws. Given how many have the message, how many lack it and who has crashed, what a sender
hits is hypergeometric (different targets) thinned by loss; a multinomial says how many senders hit 0, 1, 2, ... of
those who lack it; and how many different ones that makes is seen by throwing them (`kernels.occupied`). Who asks
succeeds by itself, so pulls are multinomial altogether.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from antecede.sim.kernels import Dice, Marks, occupied

if TYPE_CHECKING:
    from antecede.sim.epidemic import Epidemic

__all__ = ["Rounds", "hit_probabilities", "spread_evenly"]

ROUNDS = 100_000
"""Nothing takes longer: a broadcast that does is ended."""


@dataclass(slots=True)
class Rounds:
    """What is counted, by round."""

    reached: list[int] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    requests: list[int] = field(default_factory=list)
    crossings: list[int] = field(default_factory=list)

    def add(self, reached: int, copies: int = 0, requests: int = 0, crossings: int = 0) -> None:
        self.reached.append(reached)
        self.copies.append(copies)
        self.requests.append(requests)
        self.crossings.append(crossings)


def hit_probabilities(pool: int, marked: int, draws: int, survives: float) -> NDArray[np.float64]:
    """P(e of the marked are hit), e = 0 ... draws: `draws` different ones of the pool, each copy surviving by itself.

    >>> hit_probabilities(4, 2, 1, 0.5).tolist()
    [0.75, 0.25]
    """
    total = math.comb(pool, draws)
    hits = [math.comb(marked, h) * math.comb(pool - marked, draws - h) / total for h in range(draws + 1)]
    chance = np.zeros(draws + 1)
    for h, p in enumerate(hits):
        for e in range(h + 1):
            chance[e] += p * math.comb(h, e) * survives**e * (1 - survives) ** (h - e)
    return np.asarray(chance / chance.sum())


def spread_evenly(epidemic: Epidemic, dice: Dice, rounds: Rounds) -> int:
    """Fill `rounds`; how many subscribers are correct."""
    n, brokers = epidemic.subscribers, epidemic.brokers
    first = 0 if brokers else 1
    correct = first + int(dice.binomial(n - first, 1 - epidemic.crash))
    holders_above = max(1, int(dice.binomial(brokers, 1 - epidemic.crash))) if brokers else 0
    reached = first
    rounds.add(reached)
    scratch: Marks = np.empty(n if "push" in epidemic.variant else 0, dtype=np.uint8)
    fresh: deque[int] = deque([first + holders_above], maxlen=epidemic.forwards or 1)
    """How many came to hold it in each of the last rounds: those who still send."""
    if epidemic.multicast:
        new = int(dice.binomial(correct - reached, 1 - epidemic.loss))
        reached += new
        fresh.append(fresh.pop() + new)  # whoever has it after the multicast, the sender too, begins to gossip
        rounds.add(reached, n - first)
    for _ in range((epidemic.rounds or ROUNDS) - epidemic.multicast):
        if reached == correct and not epidemic.rounds:
            break
        if not epidemic.relay:
            senders = holders_above
        else:
            senders = sum(fresh) if epidemic.forwards else reached + holders_above
        if senders == 0 and "pull" not in epidemic.variant:
            break
        new, copies, requests = _round(epidemic, dice, senders, reached, correct, holders_above, scratch)
        reached += new
        fresh.append(new)
        rounds.add(reached, copies, requests)
    return correct


def _round(
    epidemic: Epidemic, dice: Dice, senders: int, reached: int, correct: int, above: int, scratch: Marks
) -> tuple[int, int, int]:
    """(newly reached, copies, requests)."""
    n, lacking = epidemic.subscribers, correct - reached
    pool = n + epidemic.brokers - 1 if epidemic.relay else n
    width = min(epidemic.fanout, pool)
    arrives = 1 - epidemic.loss
    new = copies = requests = 0
    if epidemic.variant == "chain":
        misses = (1 - epidemic.fanout / pool * arrives) ** senders if epidemic.fanout < pool else epidemic.loss**senders
        return int(dice.binomial(lacking, 1 - misses)), senders * width, 0
    if "push" in epidemic.variant:
        hits = dice.multinomial(senders, hit_probabilities(pool, lacking, width, arrives))
        new = occupied(dice, hits, lacking, scratch)
        copies = senders * width
    if "pull" in epidemic.variant:
        asking = lacking - new
        if epidemic.relay and not epidemic.ask_brokers:
            able, asked = reached + above, pool
        else:
            able, asked = above, epidemic.brokers
        width = min(epidemic.ask_brokers or epidemic.fanout, asked)
        requests = lacking * width  # whoever lacked it at the beginning of the round asked
        heard = hit_probabilities(asked, able, width, arrives)
        answers = dice.multinomial(lacking - asking, heard) if new else np.zeros(width + 1, dtype=np.int64)
        copies += int(answers @ np.arange(width + 1))
        answers = dice.multinomial(asking, heard)
        copies += int(answers @ np.arange(width + 1))
        new += sum(int(dice.binomial(int(count), 1 - epidemic.loss**a)) for a, count in enumerate(answers) if a)
    return new, copies, requests
