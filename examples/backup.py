"""A role of one's own, in one file: one member is the backup, and the others ask it before anybody else.

Decided here: who the backup is, who hands it a second copy of a message, and when it is asked first.
docs/guide/new-role.md builds this file up piece by piece.

    antecede simulate --plugin examples/backup.py --recipe backup --brokers 16 --subscribers 0 --loss 0.05
    python examples/backup.py            (the table in the guide)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from antecede.core.frames import Data
from antecede.core.interest import Interest, next_after
from antecede.core.machine import Dice, Machine, Settings
from antecede.core.message import Envelope
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from antecede.core.recipes import Recipe, register
from antecede.core.roles.member import Member
from antecede.core.roles.receiver import Parts
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.record import Row

# -- the role ------------------------------------------------------------------------------------------------------


class BackedUp(Member):
    """A member that knows who the backup is: the first name of its view, perhaps its own."""

    backup: str = ""

    def viewed(self, now_us: int) -> None:
        super().viewed(now_us)
        self.backup = min((self.name, *self.others))

    def forward(self, envelope: Envelope, now_us: int) -> None:
        super().forward(envelope, now_us)
        if self.hands_over(envelope.message.sender):
            self.send((self.backup,), Data((envelope,)))

    def hands_over(self, sender: str) -> bool:
        """One member sends the backup a second copy of a sender's messages: the next by name that is not the backup."""
        others = [name for name in (self.name, *self.others) if name != self.backup]
        return self.backup not in (self.name, sender) and self.name == next_after(sender, others)

    def take(self, envelopes: Sequence[Envelope], hint: str, now_us: int) -> None:
        super().take(envelopes, hint if self.backup == self.name else self.backup, now_us)


# -- the recipe ----------------------------------------------------------------------------------------------------


def make(*, name: str, role: str, groups: tuple[str, ...], settings: Settings, dice: Dice) -> Machine:
    interest = Interest(groups)
    writer = VectorWriter(name, flat=True)
    reader = Reader(interest.concerns, dense=writer.dense)
    return BackedUp(Parts(name, interest, settings, dice, writer, reader, settings.guard_us))


register(Recipe("backup", "a guide", "vector", flat=True, deadlines="optional", make=make))


# -- what it costs -------------------------------------------------------------------------------------------------


def measure(recipe: str, loss: float, seeds: Iterable[int]) -> dict[str, float]:
    """Means over runs of 200 messages among 16 members, of which A is the backup."""
    asked: Counter[str | None] = Counter()
    delays_us: list[int] = []
    for seed in seeds:
        run = simulate(
            Scenario(recipe=recipe, seed=seed, brokers=16, subscribers=0, messages=200, loss=loss, delay_ms=(5.0, 20.0))
        )
        sent: dict[str | None, int] = {}
        for record in map(Row._make, run.rows):
            if record.kind == "publish":
                sent[record.message] = record.at_us
            elif record.kind == "deliver" and record.reason != "own":
                delays_us.append(record.at_us - sent[record.message])
            elif record.kind == "ask":
                asked[record.peer] += 1
    pairs, rest = len(delays_us), asked.total() - asked["A"]
    return {
        "delay ms": sum(delays_us) / pairs / 1000,
        "asked %": 100 * asked.total() / pairs,
        "of A %": 100 * asked["A"] / asked.total(),
        "of another %": 100 * rest / 15 / asked.total(),
    }


def main() -> None:
    print("| recipe | loss | delay ms | asked % | of A % | of another % |\n|---|---|---|---|---|---|")
    for recipe in ("backup", "solicit"):
        for loss in (0.05, 0.2):
            numbers = measure(recipe, loss, range(5))
            print(f"| `{recipe}` | {loss:.0%} | " + " | ".join(f"{number:.1f}" for number in numbers.values()) + " |")


if __name__ == "__main__":
    main()
