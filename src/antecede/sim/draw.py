"""The random scenarios of the safety sweep: what may go wrong, how often, and how large it gets.

Decided here: sizes are drawn log-uniformly around 4 brokers, 6 subscribers and 40 messages, every 50th scenario is a
large one, and each fault is present in about half of them, so that faults meet in all combinations.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from antecede.errors import InputError
from antecede.sim.dice import between, pick, shuffled, stream
from antecede.sim.layout import broker_names
from antecede.sim.scenario import RecipeFacts, Scenario, find_recipe

__all__ = ["LARGE_EVERY", "draw"]

LARGE_EVERY = 50


def _log(dice: Random, low: int, high: int) -> int:
    """Between `low` and `high`, log-uniformly: the median is their geometric mean."""
    return min(high, round(low * float((high / low) ** dice.random())))


def _partition(dice: Random, brokers: int, busy_ms: float, lengths: tuple[float, float] = (50, 600)) -> str:
    """Two sides, for part of the run; it heals well before the end of what is waited for."""
    names = shuffled(dice, broker_names(brokers))
    at = 1 + int(dice.random() * (len(names) - 1))
    begin = int(dice.random() * busy_ms)
    length = int(between(dice, *lengths))
    return f"{','.join(names[:at])}|{','.join(names[at:])}@{begin}-{begin + length}"


def draw(
    seed: int,
    recipe: str,
    index: int,
    reading: str = "repaired",
    facts: RecipeFacts | None = None,
    *,
    early: bool = False,
    harsh: bool = False,
    table: str = "",
    leavers: bool = False,
) -> Scenario:
    """Scenario `index` of the sweep that `seed` decides; every one is its own seed and replays alone.

    `early`: without the knobs that came later (orders by message, local views, sites, changing filters, churn, naps,
    membership). `harsh`: everybody comes, goes, moves and crashes all the time. `leavers`: a long, slow
    stream of messages of processes that soon leave and are forgotten. `table`: as the knob of that name.
    """
    facts = facts or find_recipe(recipe)
    dice = stream(seed, "sweep", index)
    large = index % LARGE_EVERY == LARGE_EVERY - 1
    brokers = 8 if large else _log(dice, 2, 8)
    subscribers = 64 if large else _log(dice, 2, 18)
    messages = 400 if large else _log(dice, 8, 200)
    rate = between(dice, 20, 400) if not large else between(dice, 100, 400)
    low = between(dice, 1, 15)
    high = low + between(dice, 0, 40)
    loss = pick(dice, (0.0, 0.02, 0.1, 0.1, 0.3)) * between(dice, 0.5, 1.0)
    busy_ms = 1000 * messages / rate + 6 * high
    deadline_ms: tuple[float, float] | None = None
    if facts.deadlines != "none" and dice.random() < (1.0 if facts.deadlines in ("yes", "same") else 0.75):
        shortest = high * between(dice, 1.5, 12)
        longest = shortest * between(dice, 1.0, 4.0)
        deadline_ms = (round(shortest, 3), round(shortest if facts.deadlines == "same" else longest, 3))

    def half(value: float) -> float:
        return value if dice.random() < 0.5 else 0.0

    drawn = Scenario(
        recipe=recipe,
        reading=reading,
        seed=int(dice.random() * 2**53),
        brokers=brokers,
        subscribers=subscribers,
        homes=1 + int(dice.random() * 3),
        messages=messages,
        rate=round(rate, 3),
        reply=round(dice.random(), 3),
        declare=half(0.3),
        choice=pick(dice, ("one", "some", "some", "all")),
        burst=pick(dice, (1, 1, 1, 3, 8)),
        loss=round(loss, 4),
        duplicate=half(round(between(dice, 0.0, 0.2), 4)),
        delay_ms=(round(low, 3), round(high, 3)),
        spike=half(round(between(dice, 0.0, 0.1), 4)),
        crash=half(round(between(dice, 0.05, 0.3), 4)),
        restart=pick(dice, (0.0, 0.5, 1.0)),
        skew_ms=half(round(between(dice, 0.0, 10.0), 3)),
        partition=_partition(dice, brokers, busy_ms) if dice.random() < 0.3 else "",
        move=half(round(between(dice, 0.0, 2.0), 3)),
        detect_ms=round(between(dice, 20, 400), 3),
        deadline_ms=deadline_ms,
        fanout=1 + int(dice.random() * 4),
        round_ms=round(between(dice, 10, 100), 3),
        payload_bytes=8,
    )
    if facts.deadlines == "lifetime":
        drawn = _by_rounds(drawn, facts, stream(seed, "sweep-rounds", index))
    if early:
        return drawn
    drawn = _of_late(drawn, facts, stream(seed, "sweep-late", index))
    drawn = _growing(drawn, stream(seed, "sweep-growth", index))
    drawn = _of_members(drawn, stream(seed, "sweep-members", index))
    drawn = _undated(drawn, facts, stream(seed, "sweep-undated", index))
    drawn = _harsh(drawn, facts, stream(seed, "sweep-harsh", index)) if harsh else drawn
    drawn = _leavers(drawn, facts, stream(seed, "sweep-leavers", index)) if leavers else drawn
    return replace(drawn, table=table)


def _harsh(drawn: Scenario, facts: RecipeFacts, dice: Random) -> Scenario:
    """A few processes, a slow stream of messages, and such churn that groups lose all their brokers and begin again.

    Deadlines, where a recipe can do without, would hide most of what goes wrong: what is not there expires.
    """
    if drawn.reading != "repaired":
        raise InputError("The papers' text as printed knows nothing of churn: --harsh goes with --reading repaired.")
    brokers = pick(dice, (3, 4, 5, 6))
    return replace(
        drawn,
        brokers=brokers,
        subscribers=pick(dice, (2, 4, 6, 10)),
        homes=min(drawn.homes, brokers),
        messages=pick(dice, (40, 100, 200)),
        rate=pick(dice, (20.0, 50.0, 100.0)) if facts.deadlines != "lifetime" else drawn.rate,
        loss=pick(dice, (0.05, 0.1, 0.3)),
        crash=round(between(dice, 0.2, 0.6), 3),
        restart=pick(dice, (0.5, 1.0)),
        join=round(between(dice, 0.2, 1.5), 3),
        leave=round(between(dice, 0.2, 1.0), 3),
        move=round(between(dice, 0.5, 3.0), 3),
        grow=pick(dice, (0.0, 2.0, 5.0)),
        partition=drawn.partition if drawn.brokers == brokers else "",
        deadline_ms=None if facts.deadlines in ("optional", "lifetime") else drawn.deadline_ms,
        undated=0.0,
    )


def _leavers(drawn: Scenario, facts: RecipeFacts, dice: Random) -> Scenario:
    """Long enough for what was published to be let go of everywhere and forgotten while others still publish: several
    times the grace of two seconds and more. No copy is on its way for longer than senders are remembered, and so many
    brokers that there is always one: what is over everywhere, nobody could tell a broker that begins with none left.
    Where there are deadlines nobody comes: a newcomer waits, until it is due, for what a message names that expired so
    long ago that its header is forgotten."""
    if not facts.clients_publish or drawn.reading != "repaired":
        raise InputError("Only where clients publish are senders forgotten: --leavers goes with --recipe home.")
    messages = pick(dice, (60, 120, 200))
    join, deadline_ms = round(between(dice, 0.05, 0.4), 3), pick(dice, (None, drawn.deadline_ms))
    return replace(
        drawn,
        brokers=pick(dice, (4, 5, 6)),
        subscribers=pick(dice, (4, 6, 10)),
        homes=min(drawn.homes, 2),
        messages=messages,
        rate=messages / between(dice, 16.0, 40.0),
        burst=1,
        delay_ms=(drawn.delay_ms[0], min(drawn.delay_ms[1], 30.0)),
        crash=drawn.crash / 2,
        detect_ms=min(drawn.detect_ms, 200.0),
        join=join if deadline_ms is None else 0.0,
        restart=drawn.restart if deadline_ms is None else 0.0,
        leave=round(between(dice, 0.02, 0.08), 3),
        move=drawn.move / 2,
        partition="",
        remember_ms=pick(dice, (600.0, 1500.0, 6000.0)),
        deadline_ms=deadline_ms,
        undated=0.0,
    )


def _growing(drawn: Scenario, dice: Random) -> Scenario:
    """In a quarter of the scenarios subscribers change what they want."""
    grow = round(between(dice, 0.5, 4.0), 3)
    return replace(drawn, grow=grow) if dice.random() < 0.25 and drawn.reading == "repaired" else drawn


def _undated(drawn: Scenario, facts: RecipeFacts, dice: Random) -> Scenario:
    """In a quarter of the scenarios with deadlines some messages have none."""
    undated, mixed = round(between(dice, 0.05, 0.8), 3), dice.random() < 0.25
    possible = drawn.deadline_ms is not None and facts.deadlines == "optional" and drawn.reading == "repaired"
    return replace(drawn, undated=undated) if mixed and possible else drawn


def _of_late(drawn: Scenario, facts: RecipeFacts, dice: Random) -> Scenario:
    """Knobs that came later, from dice of their own: what was drawn before stays as it was."""
    mix = ",".join(f"{order}={between(dice, 0.1, 1.0):.3f}" for order in facts.orders)
    view, near, sites = 1 + int(dice.random() * 6), round(dice.random(), 3), 1 + int(dice.random() * 3)
    mixed, local, placed = dice.random() < 0.3, dice.random() < 0.3, dice.random() < 0.2
    return replace(
        drawn,
        mix=mix if mixed and len(facts.orders) > 1 and drawn.reading == "repaired" else "",
        view=view if local else 0,
        near=near if placed else 0.0,
        sites=sites if placed else 1,
    )


def _of_members(drawn: Scenario, dice: Random) -> Scenario:
    """Who comes and goes, who sleeps, and whether processes find out by themselves: again from dice of their own. The
    papers' text as printed knows of none of it."""
    join, leave = (round(between(dice, 0.0, 0.5), 3) for _ in range(2))
    perturb = f"{pick(dice, ('one', 'some', 'all'))}:{between(dice, 0.1, 0.5):.3f}"
    nap_ms = round(drawn.delay_ms[1] * between(dice, 0.2, 1.0), 3)
    churns, sleeps, finds = dice.random() < 0.3, dice.random() < 0.2, dice.random() < 0.25
    if drawn.reading != "repaired":
        return drawn
    if churns:
        drawn = replace(drawn, join=join, leave=leave)
    if sleeps:
        drawn = replace(drawn, perturb=perturb, nap_ms=nap_ms)
    if finds:
        drawn = replace(drawn, membership="swim")
        found_ms = drawn.probing().found_us(drawn.brokers + drawn.subscribers) / 1000
        busy_ms = drawn.busy_us(drawn.count) / 1000
        if drawn.brokers > 1 and dice.random() < 0.4:  # so long that each side takes the other for dead
            drawn = replace(drawn, partition=_partition(dice, drawn.brokers, busy_ms, (0.7 * found_ms, 1.5 * found_ms)))
    return drawn


def _by_rounds(drawn: Scenario, facts: RecipeFacts, dice: Random) -> Scenario:
    """Lifetimes of a few delays, as deadlines are; rounds that clocks can tell apart; deadlines in half of them."""
    high = drawn.delay_ms[1]
    round_ms = max(drawn.round_ms, round(1.5 * drawn.skew_ms, 3))
    least_ms = high * (1.5 + between(dice, 1.5, 12)) + drawn.skew_ms
    reach = replace(drawn, alpha=0).colours
    alpha = max(0, 1 + int(least_ms / round_ms) - reach) + int(dice.random() * 3)
    deadline_ms = drawn.deadline_ms if dice.random() < 0.5 else None
    if facts.uniform and deadline_ms is not None:
        lifetime_ms = (reach + alpha) * round_ms
        deadline_ms = (lifetime_ms, round(lifetime_ms * between(dice, 1.0, 3.0), 3))
    elif deadline_ms is not None:
        most_ms = (reach + alpha - 1) * round_ms
        deadline_ms = (min(deadline_ms[0], most_ms), min(deadline_ms[1], most_ms))
    rate = drawn.rate
    if not facts.uniform and dice.random() < 0.7:  # one message per broker and round: else most would expire waiting
        rate = min(rate, round(800 * drawn.brokers / round_ms, 3))
    return replace(drawn, round_ms=round_ms, alpha=alpha, deadline_ms=deadline_ms, rate=rate)
