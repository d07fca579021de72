"""A sensor grid around each of four brokers, and rangers who walk from grid to grid (001, Figure 1).

    python examples/sensor_grid.py

Warmth moves through the grids: every sensor reacts to the first one of the grid before its own, and says so (`after=`).
Rangers do not want every reading. They want the mean of each grid, twice a second, and the broker they are at folds it
for them. Every few steps a ranger walks on, and the next broker takes over the fold.

What to watch for: no result counts a reading without the reading it reacted to ("without cause" stays 0), although
every fifth datagram between brokers is lost; and over all moves no reading is counted twice or left out ("readings" is
the size of the last cut, and results have no holes in their numbers). A result that a broker took over says `moved`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence

import antecede
from antecede.live.client import Client
from antecede.live.fusing import Result
from antecede.testing import LocalCluster

GRIDS = "ABCD"
SENSORS = 3
STEPS = 60
STEP_S = 0.25
RANGERS = {"rhea": 8, "rolf": 13}
"""After how many steps each walks on to the next grid."""

Published = dict[str, tuple[str, ...]]
"""Each reading, and what it reacted to."""


class Sensor:
    def __init__(self, node: Client, grid: str, number: int) -> None:
        self.node, self.grid, self.number = node, grid, number
        self.temp = 15.0

    async def run(self, published: Published) -> None:
        before = GRIDS[GRIDS.index(self.grid) - 1]
        async with self.node.subscribe(f"grid/{before}/1") as neighbour:
            for step in range(STEPS):
                heard = None
                while len(neighbour):
                    heard = await neighbour.get()
                if self.grid == "A":
                    self.temp += 0.3
                elif heard is not None:
                    self.temp = 0.9 * self.temp + 0.1 * json.loads(heard.payload)["temp"]
                body = json.dumps({"temp": round(self.temp + 0.1 * self.number, 2), "step": step}).encode()
                after = () if heard is None else (heard.id,)
                topic = f"grid/{self.grid}/{self.number}"
                said = self.node.publish_nowait(topic, body, after=after, headers={"grid": self.grid})
                published[said] = after
                await asyncio.sleep(STEP_S)


class Ranger:
    def __init__(self, node: Client, pace: int) -> None:
        self.node, self.pace = node, pace
        self.results: list[tuple[str, Result]] = []
        """Where the ranger was when it came, and the result."""

    async def watch(self) -> None:
        means = antecede.fuse(values=["temp"], by="grid", every_us=500_000)
        async with self.node.subscribe("grid/#", fuse=means) as results:
            async for result in results:
                self.results.append((str(self.node.home), result))

    async def walk(self) -> None:
        while True:
            await asyncio.sleep(self.pace * STEP_S)
            there = GRIDS[(GRIDS.index(str(self.node.home)) + 1) % len(GRIDS)]
            self.node.node.move((there,))

    def without_cause(self, published: Published) -> int:
        """Readings in a cut that react to one beyond it."""
        found = 0
        for _, result in self.results:
            cut = dict(split(one) for one in result.causes)
            for reading, causes in published.items():
                sender, n = split(reading)
                if n <= cut.get(sender, 0):
                    found += sum(number > cut.get(who, 0) for who, number in map(split, causes))
        return found


def split(name: str) -> tuple[str, int]:
    sender, _, number = name.rpartition(":")
    return sender, int(number)


async def walk_through(cluster: LocalCluster) -> tuple[list[Ranger], Published]:
    nodes = {f"{grid.lower()}{n}": cluster.connect(f"{grid.lower()}{n}", at=grid) for grid in GRIDS for n in (1, 2, 3)}
    walkers = {name: cluster.connect(name, at="A") for name in RANGERS}
    for node in (*nodes.values(), *walkers.values()):
        await node.__aenter__()
    rangers = [Ranger(walkers[name], pace) for name, pace in RANGERS.items()]
    watching = [asyncio.create_task(ranger.watch()) for ranger in rangers]
    await asyncio.sleep(1)
    walking = [asyncio.create_task(ranger.walk()) for ranger in rangers]
    published: Published = {}
    sensors = [Sensor(node, name[0].upper(), int(name[1])) for name, node in nodes.items()]
    await asyncio.gather(*(sensor.run(published) for sensor in sensors))
    await asyncio.sleep(3)
    for task in (*walking, *watching):
        task.cancel()
    for node in (*nodes.values(), *walkers.values()):
        await node.aclose()
    return rangers, published


def main(arguments: Sequence[str] = ()) -> int:
    if arguments:
        print(__doc__)
        return 0 if arguments[0] in ("-h", "--help") else 2
    rangers, published = LocalCluster(brokers=4, loss=0.2, delay_s=(0.002, 0.02), seed=5).run(walk_through)
    print("rhea     at  readings   A      B      C      D    (mean of each grid; every sixth result)")
    for place, result in rangers[0].results[::6]:
        means = {row["grid"]: row["temp_mean"] for row in result.results}
        shown = "".join(f"{means[grid]:7.2f}" if grid in means else "      -" for grid in GRIDS)
        print(f"cut {result.cut:>3}   {place}  {result.rows:>7} {shown}  {result.began}")
    print(f"\n{len(published)} readings of {len(GRIDS) * SENSORS} sensors\n")
    print("ranger  results  holes  moves  readings  last cut  without cause")
    bad = 0
    for name, ranger in zip(RANGERS, rangers, strict=True):
        results = [result for _, result in ranger.results]
        holes = results[-1].number - results[0].number + 1 - len(results)
        readings = sum(result.rows for result in results)
        last = sum(number for _, number in map(split, results[-1].causes))
        moves, early = sum(result.began == "moved" for result in results), ranger.without_cause(published)
        print(f"{name:<8}{len(results):>7}{holes:>7}{moves:>7}{readings:>10}{last:>10}{early:>15}")
        bad += holes + early + abs(readings - last) + sum(result.began == "anew" for result in results)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
