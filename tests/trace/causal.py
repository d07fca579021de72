"""Runs that are right by construction, of any size: exact causal delivery by vector clocks, nothing lost for ever."""

from __future__ import annotations

import heapq
import random

from antecede.trace.record import Recorder, Row

__all__ = ["causal_run"]


def causal_run(seed: int, *, messages: int, members: int = 4, deadline_us: int | None = None) -> list[Row]:
    """Members of one group publish at random and deliver each other's messages as soon as their causes allow."""
    dice = random.Random(seed)
    names = [f"m{n}" for n in range(members)]
    recorder = Recorder("causal")
    clock = {name: dict.fromkeys(names, 0) for name in names}
    held: dict[str, list[tuple[str, str, dict[str, int]]]] = {name: [] for name in names}
    agenda: list[tuple[int, int, str, tuple[str, str, dict[str, int]] | None]] = []
    now = 0
    for number in range(messages):
        now += dice.randrange(1, 4_000)
        heapq.heappush(agenda, (now, number, dice.choice(names), None))
    number = messages
    for name in names:
        recorder.row(name, "member", 0, "join", groups=("G",), guard_us=0, true_us=0)
    while agenda:
        now, _, name, copy = heapq.heappop(agenda)
        mine = clock[name]
        if copy is None:
            mine[name] += 1
            message = f"{name}:{mine[name]}"
            due = None if deadline_us is None else now + deadline_us
            recorder.row(name, "member", now, "publish", message, ("G",), deadline_us=due, true_us=now)
            for other in names:
                if other != name:
                    delay = dice.randrange(20_000, 40_000) if dice.random() < 0.1 else dice.randrange(1_000, 10_000)
                    number += 1
                    heapq.heappush(agenda, (now + delay, number, other, (message, name, dict(mine))))
            continue
        recorder.row(name, "member", now, "arrive", copy[0], peer=copy[1], true_us=now)
        held[name].append(copy)
        while ready := [c for c in held[name] if fits(c, mine)]:
            message, sender, theirs = ready[0]
            held[name].remove(ready[0])
            mine[sender] = theirs[sender]
            recorder.row(name, "member", now, "deliver", message, reason="causes", true_us=now)
    for name in names:
        recorder.row(name, "member", now + 1, "end", reason="quiet", true_us=now + 1)
    return [Row._make(row) for row in recorder.rows]


def fits(copy: tuple[str, str, dict[str, int]], mine: dict[str, int]) -> bool:
    _, sender, theirs = copy
    return theirs[sender] == mine[sender] + 1 and all(theirs[n] <= mine[n] for n in mine if n != sender)
