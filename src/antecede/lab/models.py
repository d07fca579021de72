"""What can be computed instead of simulated: how fast rumours spread, who is left out, what stamps weigh.

Decided here: each model's assumptions, stated where it is defined. A *round* begins with everybody who holds the
message sending it; round 0 is the state before the first send. `loss` is per copy, `crash` per process and run.

    chain        lpbcast as analysed (Eugster et al. 2003, s4): every pair meets with the same probability, all who
                 hold the message forward it in every round
    mean_field   the same, for means only and any size
    recursion    pbcast (Birman et al. 1999, s5): who got it in the last round forwards it, once
    seeded       `holders` processes have it at round 0 (001: the brokers); with or without forwarding by subscribers
    pulled       everybody who lacks it asks one holder in each round
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Spreading",
    "acknowledgements",
    "chain",
    "coverage",
    "mean_field",
    "meeting",
    "metadata_bytes",
    "partition_probability",
    "pulled",
    "push_copies",
    "recursion",
    "seeded",
    "seeded_only",
]

Floats = NDArray[np.float64]

TAIL = 1e-12
"""A chain is followed until so little probability is left that somebody lacks the message."""
ROUNDS = 4000
"""And never further than this."""


@dataclass(frozen=True, slots=True)
class Spreading:
    """How many of `n` hold the message, by round."""

    n: int
    mean: tuple[float, ...]
    all: tuple[float, ...]
    """P(everybody has it), by round."""
    most: tuple[float, ...]
    """P(at least 99 % have it), by round."""

    @property
    def rounds_to_all(self) -> float:
        """Expected; infinite where it is not certain within the rounds that were followed."""
        return _expected(self.all)

    @property
    def rounds_to_most(self) -> float:
        return _expected(self.most)


def _expected(reached: tuple[float, ...]) -> float:
    return math.inf if reached[-1] < 1 - 1e-6 else float(sum(1 - p for p in reached))


def meeting(n: int, fanout: float, loss: float, crash: float) -> float:
    """P(a given process gets a copy from a given holder in one round): `fanout` of the others, and it must survive.

    >>> round(meeting(125, 3, 0.05, 0.01), 6)
    0.022754
    """
    return fanout / (n - 1) * (1 - loss) * (1 - crash)


def _log_factorials(n: int) -> Floats:
    return np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, n + 1)))))


def _binomial(size: int, p: float, logs: Floats) -> Floats:
    """P(k of `size`), k = 0 ... size."""
    if p <= 0.0 or p >= 1.0:
        out = np.zeros(size + 1)
        out[0 if p <= 0.0 else size] = 1.0
        return out
    k = np.arange(size + 1)
    terms = logs[size] - logs[k] - logs[size - k] + k * math.log(p) + (size - k) * math.log1p(-p)
    return np.asarray(np.exp(terms), dtype=np.float64)


def chain(
    n: int, fanout: float, loss: float = 0.0, crash: float = 0.0, *, start: int = 1, rounds: int | None = None,
    awake: float = 1.0,
) -> Spreading:  # fmt: skip
    """Exact: the number of holders is a Markov chain. `awake`: share of rounds in which a process sends and hears.

    >>> s = chain(125, 3, loss=0.05, crash=0.01)
    >>> round(s.rounds_to_most, 2), round(s.rounds_to_all, 2)
    (5.88, 6.23)
    """
    q = 1 - meeting(n, fanout, loss, crash) * awake**2
    logs = _log_factorials(n)
    steps: dict[int, Floats] = {}
    now = np.zeros(n + 1)
    now[start] = 1.0
    low = math.ceil(0.99 * n)
    counts = np.arange(n + 1)
    mean, everybody, most = [float(start)], [float(now[n])], [float(now[low:].sum())]
    for _ in range(rounds if rounds is not None else ROUNDS):
        after = np.zeros(n + 1)
        for i in map(int, np.flatnonzero(now > 1e-18)):
            if i not in steps:
                steps[i] = _binomial(n - i, 1 - q**i, logs)
            after[i:] += now[i] * steps[i]
        now = after
        mean.append(float(now @ counts))
        everybody.append(min(1.0, float(now[n])))
        most.append(min(1.0, float(now[low:].sum())))
        if rounds is None and 1 - now[n] < TAIL:
            break
    return Spreading(n, tuple(mean), tuple(everybody), tuple(most))


def mean_field(n: int, fanout: float, loss: float, crash: float, *, share: float = 0.99) -> tuple[list[float], float]:
    """(holders by round, rounds until `share` hold it, with the last round in proportion), for means only.

    >>> round(mean_field(125, 3, 0.05, 0.01)[1], 2)
    5.64
    """
    q = 1 - meeting(n, fanout, loss, crash)
    holders = [1.0]
    while holders[-1] < share * n and len(holders) < ROUNDS:
        holders.append(n - (n - holders[-1]) * q ** holders[-1])
    last = len(holders) - 1
    if holders[-1] < share * n:
        return holders, math.inf
    if last == 0:
        return holders, 0.0
    return holders, last - 1 + (share * n - holders[-2]) / (holders[-1] - holders[-2])


def recursion(
    n: int, fanout: float, loss: float, crash: float, rounds: int, *, multicast_loss: float | None = None
) -> tuple[float, float, Floats]:
    """(mean holders, P(all), P(k hold it) for k = 0 ... n) after `rounds`, where each forwards in one round only.

    `multicast_loss`: a multicast reached everybody else first, each with probability 1 - this. Anybody may be drawn,
    oneself too (fanout/n, as in the paper).
    """
    q = 1 - fanout / n * (1 - loss) * (1 - crash)
    logs = _log_factorials(n)
    state = np.zeros((n + 1, n + 1))  # [got it in the last round, lack it]
    if multicast_loss is None:
        state[1, n - 1] = 1.0
    else:
        for k, p in enumerate(_binomial(n - 1, 1 - multicast_loss, logs)):
            state[1 + k, n - 1 - k] = p
    steps: dict[tuple[int, int], Floats] = {}
    for _ in range(rounds):
        after = np.zeros_like(state)
        for i, lack in map(tuple, np.argwhere(state > 1e-15).tolist()):
            if (i, lack) not in steps:
                steps[i, lack] = _binomial(lack, 1 - q**i, logs)
            got = np.arange(lack + 1)
            after[got, lack - got] += state[i, lack] * steps[i, lack]
        state = after
    lacking = state.sum(axis=0)
    held = lacking[::-1]
    return float(held @ np.arange(n + 1)), float(held[n]), np.asarray(held)


def seeded(n: int, holders: int, fanout: float, loss: float, crash: float) -> Spreading:
    """`holders` brokers have it at round 0, and every subscriber that has it forwards too: a population of n + holders.

    >>> round(seeded(125, 4, 3, 0.05, 0.01).rounds_to_all, 2)
    5.16
    """
    return chain(n + holders, fanout, loss, crash, start=holders)


def seeded_only(n: int, holders: int, fanout: float, loss: float, crash: float) -> float:
    """Expected rounds until all of n subscribers have it, where only the `holders` brokers send, each to `fanout` a
    round (001 s3 to the letter: subscribers do not forward).

    >>> round(seeded_only(125, 4, 3, 0.05, 0.01), 1)
    59.7
    """
    missed = (1 - fanout / n * (1 - loss) * (1 - crash)) ** holders
    return _last_of(n, missed)


def pulled(n: int, loss: float) -> tuple[float, float]:
    """(expected rounds until all have it, requests per process), where whoever lacks it asks a holder in each round;
    the request and the answer must both survive.

    >>> rounds, requests = pulled(125, 0.05)
    >>> round(rounds, 2), round(requests, 2)
    (2.82, 1.11)
    """
    answered = (1 - loss) ** 2
    return _last_of(n, 1 - answered), 1 / answered


def _last_of(n: int, missed: float) -> float:
    """The expected maximum of n geometric waiting times, each missed with that probability per round."""
    total, left = 0.0, 1.0
    while True:
        open_ = -math.expm1(n * math.log1p(-left)) if left < 1.0 else 1.0
        if open_ < 1e-12:
            return total
        total += open_
        left *= missed


def coverage(
    n: int, fanout: float, loss: float, crash: float, *, alpha: int = 0, asleep: float = 0.0
) -> tuple[int, float, float]:
    """(rounds, mean share reached, P(all)) after ceil(log2 n) + alpha rounds of the chain.

    >>> rounds, share, everybody = coverage(100, 3, 0.001, 0.001)
    >>> rounds, round(everybody, 3)
    (7, 0.99)
    """
    rounds = math.ceil(math.log2(n)) + alpha
    spreading = chain(n, fanout, loss, crash, rounds=rounds, awake=1 - asleep)
    return rounds, spreading.mean[-1] / n, spreading.all[-1]


def partition_probability(n: int, view: int) -> float:
    """P(a set of processes exists that nobody outside knows and that knows nobody outside), per round of fresh views
    of that size (Eugster et al. 2003, s4.4): never smaller than a view and oneself.

    >>> f"{partition_probability(50, 3):.1e}"
    '1.3e-17'
    """
    total = 0.0
    for size in range(view + 1, n // 2 + 1):
        inside = math.comb(size - 1, view) / math.comb(n - 1, view)
        outside = math.comb(n - size - 1, view) / math.comb(n - 1, view)
        if inside > 0 and outside > 0:
            choices = math.lgamma(n + 1) - math.lgamma(size + 1) - math.lgamma(n - size + 1)
            total += math.exp(choices + size * math.log(inside) + (n - size) * math.log(outside))
    return total


def push_copies(n: int, fanout: float, loss: float, crash: float) -> tuple[int, float]:
    """(rounds until less than half a process lacks it, copies received per process) of unlimited forwarding, by the
    means of the chain: what forwarding for ever costs.

    >>> rounds, copies = push_copies(125, 3, 0.05, 0.01)
    >>> rounds, round(copies, 1)
    (7, 8.9)
    """
    mean = chain(n, fanout, loss, crash).mean
    rounds = next(r for r, m in enumerate(mean) if n - m < 0.5)
    sends = fanout * sum(mean[:rounds])
    return rounds, sends * (1 - loss) * (1 - crash) / n


def metadata_bytes(n: int, *, entry: int = 8) -> dict[str, int]:
    """What a stamp weighs among n processes with entries of that size: `matrix` ([9] for multicast), `vector` ([9] for
    broadcast, 000, 003), `scalar` (004, to subscribers).

    >>> metadata_bytes(100)
    {'matrix': 80000, 'vector': 800, 'scalar': 8}
    """
    return {"matrix": entry * n * n, "vector": entry * n, "scalar": entry}


def acknowledgements(n: int, rate: float, loss: float) -> tuple[float, float]:
    """(ACKs that reach one sender per second, copies it sends per second) for `rate` messages per second to n - 1
    others, each sent again until its ACK is in: one ACK a receiver comes through, for 1 / (1 - loss)**2 copies.

    >>> acknowledgements(101, 10, 0.0)
    (1000.0, 1000.0)
    """
    acks = float(rate * (n - 1))
    return acks, acks / (1 - loss) ** 2
