"""A film watched together: play, pause and seek by any of four people, each worth nothing after a quarter of a second.

    python examples/watch_party.py

What to watch for: a command is shown before its deadline or not at all (column "overdue" stays 0), and never before the
command it reacted to ("inversions" stays 0): nobody's player resumes at a place from which it was not yet moved. What
came and could not be shown is counted under its fate; what expired on its way never came (`antecede check` on the
records says of each which it was). In between one broker crashes; its players go on at another.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence

from antecede import EnvironmentFault
from antecede.live.client import Client
from antecede.testing import LocalCluster

PEOPLE = ("ann", "bob", "carl", "dora")
COMMANDS = 80
WITHIN_S = 0.25
FATES = ("shown", "late", "superseded", "expired", "lost")


class Player:
    """What one person sees: a position, and whether it moves."""

    def __init__(self, node: Client) -> None:
        self.node = node
        self.playing, self.position_s = False, 0.0
        self.passed: dict[str, int] = {}
        """Per person, the newest command that something shown here has reacted to."""
        self.count: Counter[str] = Counter()

    def apply(self, text: str) -> None:
        word, _, where = text.partition(" ")
        if word == "seek":
            self.position_s = float(where)
        else:
            self.playing = word == "play"

    async def watch(self) -> None:
        async with self.node.subscribe("film/7", queue=1000, own=True) as inbox:
            async for message in inbox:
                now_us = self.node.clock.now_us()
                self.count["shown"] += 1
                self.count["overdue"] += message.deadline_us is not None and now_us > message.deadline_us
                self.count["inversions"] += int(message.id.rpartition(":")[2]) <= self.passed.get(message.sender, 0)
                for cause in message.causes:
                    person, _, number = cause.rpartition(":")
                    self.passed[person] = max(int(number), self.passed.get(person, 0))
                self.apply(message.text)


async def press(players: list[Player]) -> None:
    """People take turns, each reacting to what is on the screen: a pause, then a jump, then play again."""
    for n in range(COMMANDS):
        player = players[n % len(players)]
        text = ("pause", f"seek {n * 30}", "play")[n % 3]
        try:
            await player.node.publish("film/7", text.encode(), within=WITHIN_S)
        except EnvironmentFault:  # not known to be safe by its deadline: a copy was lost, or the crash was in between
            player.count["unsure"] += 1
        await asyncio.sleep(0.05)


async def party(cluster: LocalCluster) -> list[Player]:
    nodes = [cluster.connect(name, at="ABC"[n % 3]) for n, name in enumerate(PEOPLE)]
    players = [Player(await node.__aenter__()) for node in nodes]
    watching = [asyncio.create_task(player.watch()) for player in players]
    await asyncio.sleep(1)
    crash = asyncio.get_running_loop().call_later(2, cluster.kill, "A")
    await press(players)
    await asyncio.sleep(5)
    crash.cancel()
    for node, task in zip(nodes, watching, strict=True):
        for fate, count in node.fates().items():
            next(player for player in players if player.node is node).count[fate] += count
        task.cancel()
        await node.aclose()
    return players


def main(arguments: Sequence[str] = ()) -> int:
    if arguments:
        print(__doc__)
        return 0 if arguments[0] in ("-h", "--help") else 2
    players = LocalCluster(brokers=3, loss=0.25, delay_s=(0.01, 0.06), seed=4).run(party)
    print("player  shown  late  superseded  expired  never came  overdue  inversions")
    for name, player in zip(PEOPLE, players, strict=True):
        count = player.count
        print(
            f"{name:<8}{count['shown']:>5}{count['late']:>6}{count['superseded']:>12}{count['expired']:>9}"
            f"{COMMANDS - sum(count[fate] for fate in FATES):>12}{count['overdue']:>9}{count['inversions']:>12}"
        )
    return 1 if any(player.count["overdue"] or player.count["inversions"] for player in players) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
