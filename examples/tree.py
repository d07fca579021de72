"""A Spread of one's own, in one file: every message goes down a tree whose root is its publisher.

Decided here: to whom a member sends a message by itself. docs/guide/new-spread.md builds this file up piece by piece.

    antecede simulate --plugin examples/tree.py --recipe tree --brokers 16 --subscribers 0 --loss 0.05
    python examples/tree.py            (the table in the guide)
"""

from __future__ import annotations

from collections.abc import Iterable

from antecede.core.frames import Data
from antecede.core.interest import Interest
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.message import Envelope
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.recipes import Recipe, register
from antecede.core.roles.member import Member
from antecede.core.roles.receiver import Parts
from antecede.core.spread.flat import Flat
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.record import Row

BRANCHES = 2
"""Children of a member. More make the tree flatter and the publisher's load larger."""


# -- the tree ------------------------------------------------------------------------------------------------------


def children_of(name: str, root: str, members: list[str]) -> list[str]:
    """Members stand in a ring, sorted by name; the tree is laid over the ring from its root on.

    >>> members = ["A", "B", "C", "D", "E"]
    >>> children_of("A", "A", members), children_of("B", "A", members), children_of("E", "A", members)
    (['B', 'C'], ['D', 'E'], [])
    >>> children_of("D", "D", members), children_of("A", "gone", members)
    (['A', 'E'], [])
    """
    if root not in members:
        return []
    size, start = len(members), members.index(root)
    place = (members.index(name) - start) % size
    below = range(BRANCHES * place + 1, min(BRANCHES * (place + 1), size - 1) + 1)
    return sorted(members[(start + child) % size] for child in below)


# -- the Spread ----------------------------------------------------------------------------------------------------


class Tree(Flat):
    """Sends what was published or delivered here to the children in the tree of its publisher."""

    def publish(self, envelope: Envelope, now_us: int) -> None:
        self._down(envelope)

    def forward(self, envelope: Envelope, now_us: int) -> None:
        self._down(envelope)

    def _down(self, envelope: Envelope) -> None:
        member = self.member
        everybody = sorted((*member.others, member.name))
        children = children_of(member.name, envelope.message.sender, everybody)
        if children:
            member.send(tuple(children), Data((envelope,)))


# -- the recipe ----------------------------------------------------------------------------------------------------


def make(*, name: str, role: str, groups: tuple[str, ...], settings: Settings, dice: Dice) -> Machine:
    interest = Interest(groups)
    writer = VectorWriter(name, flat=True)
    reader = Reader(interest.concerns, dense=writer.dense)
    return Member(Parts(name, interest, settings, dice, writer, reader, settings.guard_us), Tree)


register(Recipe("tree", "a guide", "vector", flat=True, deadlines="optional", make=make))


# -- what it costs -------------------------------------------------------------------------------------------------


def measure(recipe: str, loss: float, seeds: Iterable[int]) -> dict[str, float]:
    """Means over runs of 100 messages among 16 members."""
    delays_us: list[int] = []
    requests = 0
    for seed in seeds:
        run = simulate(
            Scenario(recipe=recipe, seed=seed, brokers=16, subscribers=0, messages=100, loss=loss, delay_ms=(5.0, 20.0))
        )
        sent: dict[str | None, int] = {}
        for record in map(Row._make, run.rows):
            if record.kind == "publish":
                sent[record.message] = record.at_us
            elif record.kind == "deliver" and record.reason != "own":
                delays_us.append(record.at_us - sent[record.message])
            requests += record.kind == "ask"
    return {"delay ms": sum(delays_us) / len(delays_us) / 1000, "asked %": 100 * requests / len(delays_us)}


def main() -> None:
    print("| recipe | loss | delay ms | asked % |\n|---|---|---|---|")
    for recipe in ("tree", "solicit"):
        for loss in (0.0, 0.1):
            numbers = measure(recipe, loss, range(5))
            print(f"| `{recipe}` | {loss:.0%} | " + " | ".join(f"{number:.1f}" for number in numbers.values()) + " |")


if __name__ == "__main__":
    main()
