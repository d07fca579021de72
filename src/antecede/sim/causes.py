"""Chains of causes over gossip: what arrives, and what of it can be delivered in causal order.

Decided here: `publishers` subscribers publish one message per round for `generations` rounds; a message follows
everything its publisher can deliver by then. In each round everybody sends one frame, with all that it still forwards,
to `fanout` different others. A message can be delivered where it and everything it follows has arrived. With `pull`,
who holds a message and lacks something it follows asks a broker, which has everything: request and answer must both
survive, and the answer is there in the next round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.sim.kernels import distinct_rows, generator

__all__ = ["Chains", "Deliverable", "run_chains"]

Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Chains:
    subscribers: int = 125
    fanout: int = 3
    loss: float = 0.05
    publishers: int = 4
    generations: int = 10
    forwards: int = 1
    """In how many rounds a message is sent on; 0: in every round."""
    pull: bool = False
    settle: int = 20
    """Rounds after the last publication."""

    def __post_init__(self) -> None:
        if not 0 < self.publishers <= self.subscribers or self.fanout >= self.subscribers:
            raise InputError("there must be more subscribers than the fan-out, and at least as many as publishers.")


@dataclass(frozen=True, slots=True)
class Deliverable:
    arrived: float
    """Share of (message, subscriber) pairs."""
    delivered: float
    """Share that can be delivered in causal order."""
    rounds: float
    """From publication to delivery, mean over what is delivered."""
    causes: float
    """What a message follows, mean."""
    pulls: float
    """Requests per pair."""


def deliverable(have: Flags, follows: Flags) -> Flags:
    """[subscriber, message]: here, and everything it follows too."""
    out = have.copy()
    for m in map(int, np.flatnonzero(follows.any(axis=1))):
        out[:, m] &= have[:, follows[m]].all(axis=1)
    return out


def _pass_on(after: Flags, active: Flags, targets: NDArray[np.int64], arrives: Flags) -> None:
    """What senders still forward is added to what their targets have."""
    senders = np.repeat(np.arange(len(targets)), targets.shape[1])[arrives.ravel()]
    reached = targets[arrives]
    if not reached.size:
        return
    order = np.argsort(reached, kind="stable")
    begins = np.flatnonzero(np.diff(reached[order], prepend=-1))
    after[reached[order][begins]] |= np.logical_or.reduceat(active[senders[order]], begins, axis=0)


def run_chains(chains: Chains, *seed: int) -> Deliverable:
    dice = generator(*seed)
    n, count = chains.subscribers, chains.publishers * chains.generations
    have: Flags = np.zeros((n, count), dtype=bool)
    follows: Flags = np.zeros((count, count), dtype=bool)
    got = np.full((n, count), -1, dtype=np.int32)
    since = np.full((n, count), -1, dtype=np.int32)
    published = np.repeat(np.arange(chains.generations), chains.publishers)
    coming: Flags = np.zeros_like(have)
    pulls = 0
    everyone = np.arange(n)
    for r in range(chains.generations + chains.settle):
        if r < chains.generations:
            out = deliverable(have, follows)
            for p in range(chains.publishers):
                m = r * chains.publishers + p
                follows[m] = out[p]
                have[p, m] = True
                since[p, m] = got[p, m] = r
        known = np.flatnonzero(published <= r)
        active = have & (since >= 0)
        if chains.forwards:
            active &= since > r - chains.forwards
        drawn = distinct_rows(dice, n, chains.fanout, n - 1).astype(np.int64)
        targets = drawn + (drawn >= everyone[:, None])
        arrives = dice.random(targets.shape) >= chains.loss
        after = have | coming
        _pass_on(after, active, targets, arrives)
        coming = np.zeros_like(have)
        if chains.pull:
            wanted = np.zeros_like(have)
            for m in map(int, known):
                wanted |= after[:, m, None] & follows[m]
            lacking = wanted & ~after
            pulls += int(lacking.sum())
            coming = lacking & (dice.random(lacking.shape) < (1 - chains.loss) ** 2)
        since[after & ~have] = r + 1
        have = after
        fresh = deliverable(have, follows) & (got < 0)
        got[np.ix_(everyone, known)] = np.where(fresh[:, known], r + 1, got[:, known])
    others = published.size * n - count
    own = got == published[None, :]
    counted = (got >= 0) & ~own
    return Deliverable(
        arrived=(int(have.sum()) - count) / others,
        delivered=(int((got >= 0).sum()) - count) / others,
        rounds=float((got - published[None, :])[counted].mean()) if counted.any() else 0.0,
        causes=float(follows.sum(axis=1).mean()),
        pulls=pulls / others,
    )
