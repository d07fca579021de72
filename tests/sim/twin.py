"""The dumb twin of `sim.explore`: every run of a small scenario, one after the other, on live machines.

It keeps no states, merges nothing, and says at any moment that a copy is lost or slow: what `explore` puts off. It
returns the rows of every run that came to its end, without what no verdict depends on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from antecede.sim.small import Small
from antecede.sim.stage import Stage

Rows = tuple[tuple[Any, ...], ...]


def run_of(rows: list[tuple[Any, ...]]) -> Rows:
    """Rows by process: (kind, message, reason, peer), ends left out."""
    kept = [(r[1], r[3], r[5], r[6], r[9], r[15]) for r in rows if r[5] not in ("ask", "answer", "end")]
    by_process: dict[str, list[Any]] = {}
    for process, _, *rest in kept:
        by_process.setdefault(process, []).append(tuple(rest))
    return tuple((process, *mine) for process, mine in sorted(by_process.items()))


class Twin:
    def __init__(self, small: Small) -> None:
        self.small = small
        self.runs: set[Rows] = set()
        self.count = 0

    def all(self) -> set[Rows]:
        small = self.small
        self._go((), {"lost": small.losses, "again": small.duplicates, "slow": small.slow, "early": small.early})
        return self.runs

    def _stage(self, commands: tuple[str, ...]) -> tuple[Stage, set[int], int]:
        """Everything from the beginning; which copies are slow, and who had a turn."""
        stage, slow, turns = Stage(self.small), set[int](), 0
        for command in commands:
            early = command.startswith("early ")
            command = command.removeprefix("early ")
            if command.startswith("slow: "):
                words = command.removeprefix("slow: ").rsplit(" from ", 1)
                slow.add(id(stage._find(words[1].split(" to ")[0], words[1].split(" to ")[1], words[0])))
            if command.endswith(" wakes") and not early:
                waiting = sum(1 << a.place for a in stage.actors if a.next_wake() is not None)
                turns &= waiting
                if not waiting & ~turns:
                    turns = 0
                turns |= 1 << stage.by_name[command.split()[0]].place
            stage.do(command)
            turns &= sum(1 << a.place for a in stage.actors if a.next_wake() is not None)
        return stage, slow, turns

    def _go(self, commands: tuple[str, ...], left: dict[str, int]) -> None:
        stage, slow, turns = self._stage(commands)
        found = list(self._next(stage, slow, turns, left))
        if not found:
            self.count += 1
            self.runs.add(run_of(stage.ledger.rows))
        for command, costs in found:
            self._go((*commands, command), {**left, costs: left[costs] - 1} if costs else left)

    def _next(self, stage: Stage, slow: set[int], turns: int, left: dict[str, int]) -> Iterator[tuple[str, str]]:
        steps = [actor for actor in stage.actors if actor.may_step()]
        for actor in steps:
            yield stage.commands(("step", actor.place), ())[0], ""
        for copy in stage.under_way:
            arrives = f"{stage.name_of(copy)} from {copy.sender}"
            yield f"{copy.to} gets {arrives}", ""
            if left["again"]:
                yield f"{copy.to} gets again {arrives}", "again"
            if id(copy) not in slow:
                for how in ("lost", "slow"):
                    if left[how]:
                        yield f"{how}: {arrives} to {copy.to}", how
        waiting = [actor for actor in stage.actors if actor.next_wake() is not None]
        if any(id(copy) not in slow for copy in stage.under_way) or steps:
            if left["early"]:
                for actor in waiting:
                    yield f"early {actor.name} wakes", "early"
            return
        if not stage.small.own_clocks:
            soonest = min((max(a.next_wake() or 0, stage.now_us) for a in waiting), default=0)
            waiting = [a for a in waiting if (a.next_wake() or 0) <= soonest]
        elif any(not turns >> actor.place & 1 for actor in waiting):
            waiting = [actor for actor in waiting if not turns >> actor.place & 1]
        for actor in waiting:
            yield f"{actor.name} wakes", ""
