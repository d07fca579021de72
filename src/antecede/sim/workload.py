"""Publications that are drawn: who publishes when, to which groups, in answer to what.

Decided here: a share `reply` of all publications is held back until somebody delivers something and is then published
there at once, so the rate stays as asked while causal chains grow (if nobody delivers anything until the next one is
due, it is published unprovoked); a share `declare` names its causes; `mix` says how many ask for which order.
"""

from __future__ import annotations

from functools import partial
from random import Random

from antecede.core.message import Message
from antecede.sim.dice import pick, some, stream
from antecede.sim.driver import Driver
from antecede.sim.process import Process
from antecede.sim.scenario import parse_mix

__all__ = ["Synthetic", "topics_for"]

ABROAD = 0.1
"""How often a client publishes to groups beyond those of its home broker (where clients publish)."""
FEW = 2
"""Topics of one publication, at most, where there is a table."""
RECENT = 4
"""From how many of the newest deliveries declared causes are chosen."""


def topics_for(driver: Driver, process: Process, dice: Random, choice: str) -> tuple[str, ...]:
    """The groups of one publication: one, some or all of those this process may publish to."""
    layout, groups = driver.layout, process.groups
    if layout.topics:
        home = {group for name in process.at for group in layout.carried_by(name)}
        near = [topic for topic in layout.topics if not home.isdisjoint(layout.table.of((topic,)))]
        topics = layout.topics if dice.random() < ABROAD or not near else near
        return (pick(dice, topics),) if choice == "one" else some(dice, topics)[:FEW]
    if driver.facts.clients_publish:
        carried = [g for name in process.at for g in driver.layout.carried_by(name)]
        groups = tuple(g for g in driver.layout.groups if g in carried) or groups
        if dice.random() < ABROAD:
            groups = driver.layout.groups
    if choice == "all":
        return groups
    return (pick(dice, groups),) if choice == "one" else some(dice, groups)


class Synthetic:
    def __init__(self) -> None:
        self.left = 0
        self.waiting = 0
        """Replies for which nothing has been delivered yet."""
        self._recent: dict[str, list[str]] = {}

    def begin(self, driver: Driver) -> None:
        scenario = driver.scenario
        self.driver = driver
        self.dice = stream(scenario.seed, "workload")
        self.left = scenario.count
        self._mix = parse_mix(scenario.mix)
        self._order_dice = stream(scenario.seed, "orders")
        self._gap_us = scenario.burst * 1_000_000 / scenario.rate
        if scenario.reply or scenario.declare:
            driver.listener = self.delivered
        driver.at(scenario.first_us, self._slot)

    def _slot(self, now_us: int) -> None:
        """The time of a publication has come; a reply still waiting from an earlier one is published unprovoked."""
        driver, dice, scenario = self.driver, self.dice, self.driver.scenario
        while self.waiting:
            self.waiting -= 1
            self._publish(None, now_us)
        if not self.left:
            return
        burst = min(scenario.burst, self.left)
        self.left -= burst
        if dice.random() < scenario.reply:
            self.waiting += burst
        else:
            publishers = driver.publishers()
            process = pick(dice, publishers) if publishers else None
            for _ in range(burst):
                self._publish(process, now_us)
        driver.at(now_us + 1 + int(dice.random() * 2 * self._gap_us), self._slot)

    def delivered(self, process: Process, message: Message, now_us: int) -> None:
        if self.driver.scenario.declare:
            recent = self._recent.setdefault(process.name, [])
            recent.append(message.id)
            del recent[:-RECENT]
        if self.waiting and self.dice.random() < 0.5 and process in self.driver.publishers():
            self.waiting -= 1
            self.driver.at(now_us, partial(self._publish, process))

    def _publish(self, process: Process | None, now_us: int) -> None:
        driver, dice = self.driver, self.dice
        if process is None or not process.alive:
            publishers = driver.publishers()
            if not publishers:
                driver.count("unpublished")
                return
            process = pick(dice, publishers)
        if process.off_until_us > now_us:  # whoever sleeps publishes when it wakes up
            driver.at(process.off_until_us, partial(self._publish, process))
            return
        topics = topics_for(driver, process, dice, driver.scenario.choice)
        after = None
        if driver.scenario.declare and dice.random() < driver.scenario.declare:
            recent = self._recent.get(process.name, [])
            after = tuple(m for m in recent if dice.random() < 0.5)
        driver.publish(process, topics, now_us, after, self._order())

    def _order(self) -> str | None:
        """The order the next message asks for; None: the recipe's own."""
        if not self._mix:
            return None
        left = self._order_dice.random()
        for order, share in self._mix.items():
            left -= share
            if left < 0:
                return order
        return order

    def idle(self, now_us: int) -> bool:
        return False
