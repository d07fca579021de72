"""The dumb twin of the fold: every cut computed anew from all rows before it; and random histories to compare on."""

from __future__ import annotations

from random import Random
from typing import Any

from antecede.core.fold.counting import named
from antecede.core.fold.cuts import Cut, CutRule, Fold, Reading


def history(
    seed: int, senders: int = 4, messages: int = 40, loss: float = 0.2
) -> tuple[list[Reading], dict[str, set[str]]]:
    """Delivered rows in a causal order, some messages lost on the way; and the whole past of every message."""
    dice = Random(seed)
    past: dict[str, set[str]] = {}
    direct: dict[str, list[str]] = {}
    known: list[list[str]] = [[] for _ in range(senders)]
    sent = [0] * senders
    order: list[str] = []
    for _ in range(messages):
        s = dice.randrange(senders)
        sent[s] += 1
        name = f"s{s}:{sent[s]}"
        parents = [f"s{s}:{sent[s] - 1}"] if sent[s] > 1 else []
        parents += dice.sample(known[s], min(len(known[s]), dice.randrange(3)))
        parents = list(dict.fromkeys(p for p in parents if p != name))
        direct[name] = parents
        past[name] = set(parents).union(*(past[p] for p in parents))
        order.append(name)
        for other in range(senders):
            if dice.random() < 0.5:
                known[other].append(name)
    lost = {name for name in order if dice.random() < loss}
    # Another linear extension than that of publication.
    left, out = [name for name in order if name not in lost], []
    while left:
        ready = [n for n in left if not past[n].intersection(left)]
        out.append(dice.choice(ready))
        left.remove(out[-1])
    rows = []
    for pos, name in enumerate(out):
        sender, number = name.split(":")
        rows.append(
            Reading(
                pos,
                name,
                sender,
                int(number),
                tuple(direct[name]),
                tuple(p for p in direct[name] if p in lost),
                (),
                dice.choice((None, pos * 10 + dice.randrange(30))),
                dice.random() < 0.2,
                tuple(i for i in range(2) if dice.random() < 0.7),
                (dice.choice((None, dice.random() * 100)),),
            )
        )
    return rows, past


def vector_of(name: str, past: set[str]) -> tuple[tuple[str, int], ...]:
    """The clock of a message, from its whole past."""
    clock: dict[str, int] = {}
    for other in (*past, name):
        sender, number = other.split(":")
        clock[sender] = max(clock.get(sender, 0), int(number))
    return tuple(sorted(clock.items()))


def cut_ends(rows: list[Reading], every: int | None, every_us: int | None, marks: bool) -> list[int]:
    """How many rows each cut holds."""
    if every:
        return list(range(every, len(rows) + 1, every))
    if marks:
        return [row.pos + 1 for row in rows if row.mark]
    ends = []
    for row in rows:
        before = [r.time_us for r in rows[: row.pos] if r.time_us is not None]
        if before and row.time_us is not None and row.time_us // every_us > max(before) // every_us:  # type: ignore[operator]
            ends.append(row.pos)
    return ends


def counted(prefix: list[Reading]) -> tuple[dict[str, int], list[Reading]]:
    """The vector of the largest consistent cut among these rows, and the rows it counts: take out what does not fit."""
    rows = list(prefix)
    delivered = {row.id for row in prefix}
    while True:
        front = {row.sender: max(r.number for r in rows if r.sender == row.sender) for row in rows}
        for row in rows:
            told = row.clock or [
                (p.split(":")[0], int(p.split(":")[1])) for p in row.parents if p in delivered or p in row.missing
            ]
            if any(front.get(sender, -1) < number for sender, number in told if sender != row.sender):
                rows = [r for r in rows if r.sender != row.sender or r.pos < row.pos]
                break
        else:
            return front, rows


def twin(rows: list[Reading], ends: list[int], interests: int) -> list[dict[str, Any]]:
    """Every cut as plain values."""
    found, old = [], set()
    for number, end in enumerate(ends):
        front, inside = counted(rows[:end])
        lost = {m for row in rows[:end] for m in row.missing}
        found.append(
            {
                "number": number,
                "pos": end - 1,
                "causes": sorted(f"{s}:{n}" for s, n in front.items()),
                "latest": [
                    sorted({r.sender: r.id for r in inside if i in r.interests}.values()) for i in range(interests)
                ],
                "fresh": [
                    sorted(r.id for r in inside if i in r.interests and r.id not in old) for i in range(interests)
                ],
                "held": [
                    [
                        (of[0].id, len(of))
                        for sender in sorted({r.sender for r in rows})
                        if (
                            of := [r for r in rows[:end] if r not in inside and i in r.interests and r.sender == sender]
                        )
                    ]
                    for i in range(interests)
                ],
                "missing": sorted(m for m in lost if front.get(m.split(":")[0], -1) < int(m.split(":")[1])),
            }
        )
        old = {r.id for r in inside}
    return found


def reading(name: str, pos: int, parents: tuple[str, ...] = (), missing: tuple[str, ...] = (), **more: Any) -> Reading:
    sender, number = name.split(":")
    whole = {"clock": (), "time_us": None, "mark": False, "interests": (0,), "values": ()} | more
    return Reading(pos, name, sender, int(number), parents, missing, **whole)


def fold_of(rule: CutRule, hold: int = 1000, interests: int = 1) -> Fold:
    return Fold(rule, interests, named, hold)


def plain(cut: Cut) -> dict[str, Any]:
    return {
        "number": cut.number,
        "pos": cut.pos,
        "causes": sorted(cut.causes),
        "latest": [sorted(r.id for r in rows) for rows in cut.latest],
        "fresh": [sorted(r.id for r in rows) for rows in cut.fresh],
        "held": [[(first.id, count) for first, count in senders] for senders in cut.held],
        "missing": cut.missing,
    }
