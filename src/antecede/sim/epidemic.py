"""One message to 10^2 ... 10^7 subscribers, in rounds, vectorised: no machines, no clocks, only who has it by when.

Decided here: what a variant's name means, what a round is, and what is counted.

    push        who has it sends it to `fanout` different others, in `forwards` rounds (0: in every round)
    chain       push as it is analysed (Eugster et al. 2003): every pair meets by itself, `fanout` on average
    pull        who lacks it asks `fanout` different others, in every round; who has it answers
    push-pull   both in the same round

Round 0 is the state before the first send. Somebody reached in round r sends from round r + 1 on. `brokers`: so many
have it at round 0 and are not subscribers themselves; without any, the first subscriber published it. With
`relay=False` only brokers send (001 s3 to the letter), to subscribers only; with pull they are the ones who are asked.
With `ask_brokers=1` subscribers forward to each other and whoever lacks it asks one broker: `--forward` of the recipe
`rounds`, where a stream of messages keeps everybody asking.
Whoever crashes has crashed before round 0, and one holder is left; *all* means all correct subscribers.

Where everybody may meet everybody (`uniform`), subscribers are exchangeable, and a round needs no identities: how
many copies hit how many of those who lack it is drawn exactly, one byte of scratch for each of them. Static views and
sites (`contacts`) need identities and cost 4 bytes for each neighbour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from antecede.errors import InputError
from antecede.sim.contacts import spread_by_contacts
from antecede.sim.kernels import generator
from antecede.sim.uniform import Rounds, spread_evenly

__all__ = ["VARIANTS", "Epidemic", "Outcome", "broadcast"]

VARIANTS = ("push", "chain", "pull", "push-pull")


@dataclass(frozen=True, slots=True)
class Epidemic:
    """Everything that decides one broadcast, but its seed."""

    subscribers: int = 1000
    """Who is to get it. Costs time and memory in proportion."""
    variant: str = "push"
    fanout: int = 3
    """Others per sender and round. Costs copies, saves rounds."""
    loss: float = 0.0
    """Probability that a frame is lost: a copy, a request or an answer."""
    crash: float = 0.0
    """Probability that a process has crashed before round 0."""
    forwards: int = 0
    """In how many rounds a process sends what it got: 1 is *forward once*, 0 *unlimited*. Costs copies."""
    brokers: int = 0
    """How many have it at round 0 beside the subscribers; 0: one of the subscribers."""
    relay: bool = True
    """Whether subscribers send too, or answer."""
    ask_brokers: int = 0
    """With push-pull: whoever lacks it asks so many different brokers instead of `fanout` of all; 0: of all."""
    view: int = 0
    """Each knows only so many others, drawn once; 0: everybody, or fresh views in every round, which is the same."""
    near: float = 0.0
    """How often a target is drawn from one's own site. Saves long links, slows what must cross them."""
    sites: int = 1
    multicast: bool = False
    """Whether it goes to everybody once first, as in pbcast: that is round 1. Costs n copies from one sender."""
    rounds: int = 0
    """After how many rounds to stop; 0: when all have it or nobody can send any more."""

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise InputError(f"variant is {self.variant!r}: it is one of {', '.join(VARIANTS)}.")
        if self.subscribers < 2:
            raise InputError(f"subscribers is {self.subscribers}: there must be at least 2.")
        for name in ("loss", "crash", "near"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name} is {getattr(self, name)}: a probability lies between 0 and 1.")
        for name, low in (("fanout", 1), ("forwards", 0), ("brokers", 0), ("ask_brokers", 0), ("view", 0),
                          ("sites", 1), ("rounds", 0)):  # fmt: skip
            if getattr(self, name) < low:
                raise InputError(f"{name} is {getattr(self, name)}: it must be at least {low}.")
        if not self.relay and not self.brokers:
            raise InputError("nobody would send: without relay there must be brokers.")
        if self.ask_brokers and (self.variant != "push-pull" or self.ask_brokers > self.brokers):
            raise InputError("ask_brokers is for push-pull, and at most as many as there are brokers.")
        if self.by_contacts and (self.variant != "push" or self.brokers or self.multicast):
            raise InputError("views and sites are for push among subscribers only: leave out the rest.")
        if 0 < self.view < self.fanout:
            raise InputError(f"fanout {self.fanout} needs a view of at least so many: view is {self.view}.")
        if self.view and self.sites > 1:
            raise InputError("views or sites, not both: a view is drawn from everybody.")
        if self.view >= self.subscribers or self.sites > self.subscribers // 2:
            raise InputError("there are fewer others than the view or the sites ask for.")

    @property
    def by_contacts(self) -> bool:
        return self.view > 0 or self.sites > 1


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one broadcast, by round from round 0."""

    correct: int
    """Subscribers that did not crash."""
    reached: tuple[int, ...]
    """How many of them have it."""
    copies: tuple[int, ...]
    """Payloads sent in that round."""
    requests: tuple[int, ...]
    crossings: tuple[int, ...]
    """Copies that left their site."""

    def rounds_to(self, share: float = 1.0) -> int | None:
        """The first round in which so many have it; None: never.

        >>> Outcome(100, (1, 50, 99, 99), (0, 3, 9, 9), (0,) * 4, (0,) * 4).rounds_to(0.99)
        2
        """
        wanted = math.ceil(share * self.correct - 1e-9)
        return next((r for r, count in enumerate(self.reached) if count >= wanted), None)

    def share(self, r: int) -> float:
        """Reached by round r (the last one, if it ended sooner)."""
        return self.reached[min(r, len(self.reached) - 1)] / self.correct


def broadcast(epidemic: Epidemic, *seed: int) -> Outcome:
    """One message; the same numbers give the same outcome, with numba and without.

    >>> broadcast(Epidemic(subscribers=1000, fanout=3), 7).rounds_to()
    8
    """
    dice = generator(*seed)
    rounds = Rounds()
    if epidemic.by_contacts:
        correct = spread_by_contacts(epidemic, dice, rounds)
    else:
        correct = spread_evenly(epidemic, dice, rounds)
    return Outcome(
        correct, tuple(rounds.reached), tuple(rounds.copies), tuple(rounds.requests), tuple(rounds.crossings)
    )
