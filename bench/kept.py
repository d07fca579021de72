"""What is kept where nothing expires: a question of `bench/core.py`, and the run that answers it.

A run without deadlines, streamed: every row is counted and forgotten, and from time to time somebody looks how much
each process keeps. Wanted: as much after 100,000 messages as after 10,000, and every pair delivered.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from typing import Any

from bench.tables import Table

from antecede.core.recipes import RECIPES, build
from antecede.sim.layout import lay_out
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario

__all__ = ["kept"]


class Watch:
    """Takes rows as they come, and looks at the machines."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.machines: list[Any] = []
        self.published: Counter[tuple[str, tuple[str, ...]]] = Counter()
        self.delivered = 0
        self.most: Counter[str] = Counter()

    def build(self, *args: Any, **named: Any) -> Any:
        machine = build(*args, **named)
        self.machines.append(machine)
        return machine

    def take(self, rows: list[tuple[Any, ...]]) -> None:
        for row in rows:
            if row[5] == "publish":
                self.published[(row[1], tuple(row[7]))] += 1
            elif row[5] == "deliver":
                self.delivered += 1
        for name, size in self.sizes().items():
            self.most[name] = max(self.most[name], size)

    def sizes(self) -> dict[str, int]:
        """The largest of each kind, over all processes."""
        found: Counter[str] = Counter()
        for machine in self.machines:
            store = getattr(machine, "store", None)  # subscribers and clients keep nothing
            if store is not None:
                found["kept"] = max(found["kept"], len(store))
                found["headers"] = max(found["headers"], len(store.gone))
            found["nodes"] = max(found["nodes"], len(getattr(machine.writer, "graph", ())))
            logs = getattr(machine, "logs", {}).values()
            found["logged"] = max(found["logged"], sum(len(log.entries) for log in logs))
        return dict(found)

    def pairs(self) -> int:
        facts = RECIPES[self.scenario.recipe]
        layout = lay_out(self.scenario, facts)
        wants = {**layout.brokers, **layout.filters}
        return sum(
            count
            for (sender, topics), count in self.published.items()
            for name, groups in wants.items()
            if name != sender and not set(groups).isdisjoint(topics)
        )


def kept(options: argparse.Namespace) -> Table:
    table: Table = []
    for recipe in options.recipes:
        facts = RECIPES[recipe]
        if facts.deadlines not in ("none", "optional") or not facts.recovers or not facts.digests:
            continue  # everything expires, or nobody compares
        for messages in options.kept:
            scenario = Scenario(recipe=recipe, messages=messages, loss=0.05, brokers=4, subscribers=8, limit_s=1e9)
            watch = Watch(scenario)
            start_s = time.process_time()
            run = simulate(scenario, watch.take, build=watch.build)
            table.append({
                "recipe": recipe, "messages": messages, "pairs": watch.pairs(), "delivered": watch.delivered,
                "quiet": str(run.quiet), "most kept": watch.most["kept"], "at the end": watch.sizes()["kept"],
                "headers": watch.most["headers"], "graph": watch.most["nodes"], "in logs": watch.most["logged"],
                "us/message": 1e6 * (time.process_time() - start_s) / messages,
            })  # fmt: skip
    return table
