"""What the core costs: events per second, growth with the run, memory per held message, the delivery check.

    python bench/core.py                          # every question, small sizes, a few minutes
    python bench/core.py events --recipes graph,home --messages 1000 --repeats 3
    python bench/core.py growth --sizes 10000,100000,1000000
    python bench/core.py --full --json core.json  # the sizes of the claims; hours

events  A full causal simulation (64 brokers, 256 subscribers, 5 % loss, every row written to Parquet) beside SimPy's
        bare timeout loop in the same process, one after the other. An event is a frame that arrives or a timer that
        fires. Two yardsticks: one process with equal timeouts (the fastest SimPy can be), and as many processes as the
        simulation has, with random ones. Wanted: 0.5 of it or more, aim 1.0.
growth  4 brokers, 8 subscribers, deadlines, 5 % loss, more and more messages, each size in a process of its own, rows
        streamed to Parquet. Wanted: time per message stays what it was, memory stays bounded.
kept    4 brokers, 8 subscribers, no deadlines, 5 % loss: how much any process keeps. Wanted: the same however long the
        run, and every pair delivered.
held    What an Inbox holds per message that waits, with 1,000 to 100,000 of them waiting. Wanted: constant.
check   What it costs to decide on a message that is ready and to deliver it, step by step, with 8 to 1,024 senders.
        Wanted: at most 1.5 times as much with 1,024 as with 8. Senders share 8 sites that deliver each other's messages
        a little later, so that as many are concurrent however many senders there are; a fresh broker, subscriber or
        client takes the stream in order. Only batches after the warm-up count, of which the median is printed.

Times are CPU times. Absolute figures depend on the machine; ratios within one run are what counts.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.checks import BATCH, DEADLINE_MS, check, held
from bench.kept import kept
from bench.tables import Table, by_room, numbers, show

from antecede.core.recipes import RECIPES
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.parquet import TraceWriter

ROOMS = (
    ("wire", ("antecede/wire/",)),
    ("core", ("antecede/core/",)),
    ("network", ("sim/network", "sim/agenda")),
    ("records", ("antecede/trace/", "sim/records", "pyarrow")),
    ("driver", ("antecede/sim/",)),
)


def recorded(scenario: Scenario) -> tuple[Run, float]:
    """A run with all its rows written to a file, and the CPU seconds it took."""
    with tempfile.TemporaryDirectory() as directory:
        start_s = time.process_time()
        with TraceWriter(directory) as writer:
            run = simulate(scenario, writer.write)
        return run, time.process_time() - start_s


def scenario_of(recipe: str, messages: int, **knobs: Any) -> Scenario:
    kind = RECIPES[recipe].deadlines
    equal = (DEADLINE_MS[1], DEADLINE_MS[1])
    deadline_ms = None if kind in ("none", "lifetime") else equal if kind == "same" else DEADLINE_MS
    return Scenario(recipe=recipe, messages=messages, loss=0.05, deadline_ms=deadline_ms, **knobs)


# -- events ----------------------------------------------------------------------------------------------------------


def simpy_rate(timeouts: int, processes: int, delay: Callable[[], float]) -> float:
    """Timeouts per second of SimPy's own loop."""
    import simpy

    env = simpy.Environment()

    def wait(count: int) -> Generator[Any, Any, None]:
        for _ in range(count):
            yield env.timeout(delay())

    for _ in range(processes):
        env.process(wait(timeouts // processes))
    start_s = time.process_time()
    env.run()
    return timeouts / (time.process_time() - start_s)


def events(options: argparse.Namespace) -> Table:
    brokers, subscribers = options.brokers, options.subscribers
    table: Table = []
    for recipe in options.recipes:
        scenario = scenario_of(recipe, options.messages, brokers=brokers, subscribers=subscribers, rate=options.rate)
        ours, equal, drawn = [], [], []
        for _ in range(options.repeats):
            equal.append(simpy_rate(options.timeouts, 1, lambda: 1.0))
            drawn.append(simpy_rate(options.timeouts, brokers + subscribers, random.Random(0).random))
            run, cpu_s = recorded(scenario)
            ours.append(run.events / cpu_s)
        table.append({
            "recipe": recipe, "events": run.events, "events/s": statistics.median(ours),
            "SimPy equal/s": statistics.median(equal), "SimPy random/s": statistics.median(drawn),
            "over equal": statistics.median(a / b for a, b in zip(ours, equal, strict=True)),
            "over random": statistics.median(a / b for a, b in zip(ours, drawn, strict=True)),
        })  # fmt: skip
    return table


def shares(options: argparse.Namespace) -> Table:
    """Where the time of one run goes. The profiler slows calls down, so these are shares and not times."""
    table: Table = []
    for recipe in options.recipes:
        scenario = scenario_of(
            recipe, max(1, options.messages // 4), brokers=options.brokers, subscribers=options.subscribers,
            rate=options.rate,
        )  # fmt: skip
        profile = cProfile.Profile()
        profile.runcall(recorded, scenario)
        rooms = by_room(profile, ROOMS)
        total = sum(rooms.values())
        names = [name for name, _ in ROOMS] + ["other"]
        table.append({"recipe": recipe} | {f"{name} %": 100 * rooms.get(name, 0.0) / total for name in names})
    return table


# -- growth ----------------------------------------------------------------------------------------------------------


def growth(options: argparse.Namespace) -> Table:
    table: Table = []
    for recipe in options.recipes:
        if RECIPES[recipe].deadlines == "none":
            continue  # see `kept`
        first_us = 0.0
        for messages in options.sizes:
            command = [sys.executable, str(Path(__file__).resolve()), "--worker", f"{recipe}:{messages}"]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            us = 1e6 * told["cpu_s"] / messages
            first_us = first_us or us
            table.append({
                "recipe": recipe, "messages": messages, "seconds": told["cpu_s"], "us/message": us,
                "over first": us / first_us, "peak MB": told["peak_mb"], "grown MB": told["grown_mb"],
                "events": told["events"],
            })  # fmt: skip
    return table


def worker(order: str) -> None:
    recipe, _, messages = order.partition(":")
    recorded(scenario_of(recipe, 100, brokers=4, subscribers=8))  # imports, caches: not what grows
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run, cpu_s = recorded(scenario_of(recipe, int(messages), brokers=4, subscribers=8))
    peak_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown_mb = (peak_kb - before_kb) / 1024
    print(json.dumps({"cpu_s": cpu_s, "events": run.events, "peak_mb": peak_kb / 1024, "grown_mb": grown_mb}))


# -- the command -----------------------------------------------------------------------------------------------------


QUESTIONS: dict[str, tuple[tuple[str, Callable[[argparse.Namespace], Table]], ...]] = {
    "events": (("events per second, rows recorded, over SimPy's timeouts", events), ("where the time goes", shares)),
    "growth": (("time and memory as the run grows (4 brokers, 8 subscribers)", growth),),
    "kept": (("what is kept where nothing expires (4 brokers, 8 subscribers)", kept),),
    "held": (("an Inbox that holds many (bytes besides the message itself)", held),),
    "check": (("the delivery check, microseconds per message", check),),
}


def recipes(text: str) -> list[str]:
    for name in text.split(","):
        if name not in RECIPES:
            raise argparse.ArgumentTypeError(f"there is no recipe {name!r}; there are {', '.join(RECIPES)}")
    return text.split(",")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="*", help=f"any of {', '.join(QUESTIONS)}; none: all of them")
    parser.add_argument("--recipes", type=recipes, default=list(RECIPES), help="for events and growth; default: all")
    parser.add_argument("--messages", type=int, default=300, help="events: messages in a run (300)")
    parser.add_argument("--rate", type=float, default=500.0, help="events: publications per second (500)")
    parser.add_argument("--brokers", type=int, default=64, help="events: brokers (64)")
    parser.add_argument("--subscribers", type=int, default=256, help="events: subscribers (256)")
    parser.add_argument("--repeats", type=int, default=1, help="events: runs per recipe, the median counts (1)")
    parser.add_argument("--timeouts", type=int, default=100_000, help="events: timeouts of SimPy's loop (100,000)")
    parser.add_argument("--sizes", type=numbers, default=[1000, 10_000], help="growth: messages (1000,10000)")
    parser.add_argument("--kept", type=numbers, default=[1000, 10_000], help="kept: messages (1000,10000)")
    parser.add_argument("--held", type=numbers, default=[1000, 10_000, 100_000], help="held: (1000,10000,100000)")
    parser.add_argument("--senders", type=numbers, default=[8, 64, 1024], help="check: senders (8,64,1024)")
    parser.add_argument("--batches", type=int, default=60, help=f"check: batches of {BATCH} that count (60)")
    parser.add_argument("--full", action="store_true", help="events: 2000 messages, 3 repeats; growth: to 1,000,000")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the tables to this file too")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(options.worker)
        return
    for question in options.questions:
        if question not in QUESTIONS:
            parser.error(f"there is no question {question!r}; there are {', '.join(QUESTIONS)}")
    if options.full:
        options.messages, options.repeats, options.sizes = 2000, 3, [10_000, 100_000, 1_000_000]
    tables: dict[str, Table] = {}
    for question in options.questions or QUESTIONS:
        for title, ask in QUESTIONS[question]:
            tables[title] = ask(options)
            show(title, tables[title])
    if options.json:
        options.json.write_text(json.dumps(tables, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
