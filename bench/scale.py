"""What many brokers cost: seconds, memory, frames and bytes on the wire, by recipe and number of brokers.

    python bench/scale.py                                            # every recipe to 64 brokers, a few minutes
    python bench/scale.py --recipes home,solicit --sizes 8,64,256    # larger ones, for some
    python bench/scale.py --recipes home --sizes 1024 --json scale.json

n brokers and n/4 subscribers (at least 4; in flat recipes all are members), four groups of which every broker carries
two, 5 % of the copies lost, no deadlines unless the recipe needs them. Each run is a process of its own, and the oracle
judges it: a finding ends the bench. All figures are per delivered pair (message, receiver), so that sizes compare:

frames    copies of frames that left, lost ones included
bytes     their size on the wire
stamps    of those, causal metadata on messages (`control_bytes` of the totals)
data      frames that carry messages, with their stamps and payloads of 32 bytes
rounds    digests and whatever else keeps processes in step
asks      requests, their refusals, and joining

Below the table, for each recipe: bytes of the stamp per copy of a message, and of a digest, as a line through the two
largest sizes, by how much it misses the smaller ones at worst (where by much, the figure is still bending and the line
a guess), and what it makes of 1,024 brokers. All sizes publish as much and as fast, since some stamps grow with the run
until what they name is stable; only runs count in which everybody has published, on average twice.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from antecede.core.recipes import RECIPES
from antecede.sim.layout import broker_names
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

GROUPS = 4
DATA = ("data", "items", "publish", "rumours")
ROUNDS = ("digest", "top", "ack", "published", "received")
MODELLED = 1024


def groups_of(brokers: int) -> str:
    """Four groups; broker i carries two neighbouring ones, so that each group overlaps two others.

    >>> groups_of(4)
    'G1=A,D;G2=A,B;G3=B,C;G4=C,D'
    """
    names = broker_names(brokers)
    carried = [[name for i, name in enumerate(names) if i % GROUPS in (g, (g - 1) % GROUPS)] for g in range(GROUPS)]
    return ";".join(f"G{g + 1}={','.join(members)}" for g, members in enumerate(carried))


def scenario(recipe: str, brokers: int, messages: int, view: int, deadline_ms: float, seed: int) -> Scenario:
    timed = RECIPES[recipe].deadlines in ("yes", "same") or (deadline_ms and RECIPES[recipe].deadlines == "optional")
    deadline_ms = deadline_ms or 1000.0
    return Scenario(
        recipe=recipe, seed=seed, brokers=brokers, subscribers=max(4, brokers // 4), groups=groups_of(brokers),
        messages=messages, rate=200.0, loss=0.05, deadline_ms=(deadline_ms, deadline_ms) if timed else None, view=view,
        payload_bytes=32,
    )  # fmt: skip


def measured(recipe: str, brokers: int, messages: int, view: int, deadline_ms: float, seed: int) -> dict[str, Any]:
    """One run, in this process: its memory is the peak of all that this process ever did."""
    began = time.process_time()
    run = simulate(scenario(recipe, brokers, messages, view, deadline_ms, seed))
    seconds = time.process_time() - began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kinds: dict[str, list[int]] = {}
    for sent in run.totals.values():
        for kind, total in sent.items():
            sums = kinds.setdefault(kind, [0, 0, 0])
            for place, name in enumerate(("frames", "bytes", "control_bytes")):
                sums[place] += total[name]
    report = check(run.rows, scenario=run.body())
    if not report.clean or not run.quiet:
        what = report.findings[0].text if report.findings else "it did not become quiet"
        raise SystemExit(f"{recipe}, {brokers} brokers, seed {seed}: {what}")
    pairs = max(1, report.fates["delivered"])
    copies = sum(kinds[kind][0] for kind in DATA if kind in kinds)
    digests = kinds.get("digest", [0, 0, 0])
    size = dict.fromkeys(("data", "rounds", "asks"), 0)
    for kind, (_, count, _) in kinds.items():
        size["data" if kind in DATA else "rounds" if kind in ROUNDS else "asks"] += count
    return {
        "recipe": recipe, "brokers": brokers, "view": view, "messages": messages,
        "deadline_ms": deadline_ms, "seconds": round(seconds, 2),
        "megabytes": round(megabytes), "events": run.events, "pairs": report.pairs, "delivered": pairs,
        "frames": sum(frames for frames, _, _ in kinds.values()) / pairs,
        "bytes": sum(count for _, count, _ in kinds.values()) / pairs,
        "stamps": sum(stamps for _, _, stamps in kinds.values()) / pairs,
        **{name: count / pairs for name, count in size.items()},
        "stamp": sum(stamps for _, _, stamps in kinds.values()) / max(1, copies),
        "digest": digests[1] / digests[0] if digests[0] else None,
    }  # fmt: skip


def line(points: list[tuple[int, float]]) -> tuple[float, float, float]:
    """a and b of a + b n through the two largest sizes, and by how much of itself a smaller one is missed at worst.

    >>> line([(8, 20.0), (16, 27.0), (32, 35.0)])
    (19.0, 0.5, 0.15)
    """
    (n, value), (more, larger) = points[-2:]
    b = (larger - value) / (more - n)
    a = value - b * n
    return a, b, max(abs(a + b * n - value) / value for n, value in points)


def model(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per recipe and figure: the line, and what it makes of 1,024 brokers."""
    found = []
    for recipe in dict.fromkeys(row["recipe"] for row in rows):
        for what in ("stamp", "digest"):
            mine = [row for row in rows if row["recipe"] == recipe and not row["view"] and row[what] is not None]
            points = sorted((row["brokers"], row[what]) for row in mine if row["messages"] >= 2 * row["brokers"])
            if len(points) > 1:
                a, b, missed = line(points)
                at = a + b * MODELLED
                found.append({"recipe": recipe, "what": what, "a": a, "b": b, "missed": missed, "at": at})
    return found


COLUMNS = ("frames", "bytes", "stamps", "data", "rounds", "asks")


def show(row: dict[str, Any]) -> None:
    figures = " ".join(f"{row[name]:9.1f}" for name in COLUMNS)
    name = row["recipe"] + (f" view={row['view']}" if row["view"] else "")
    print(f"{name:<20} {row['brokers']:>5} {row['seconds']:>8.1f} {row['megabytes']:>6} {figures}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", default=",".join(RECIPES), help="comma-separated; default: all")
    parser.add_argument("--sizes", default="8,16,32,64", help="numbers of brokers; default: 8,16,32,64")
    parser.add_argument("--messages", type=int, default=0, help="per run; default: 12 for each of the most brokers")
    parser.add_argument("--view", type=int, default=0, help="rounds go to local views of this size; default: to all")
    parser.add_argument("--deadline-ms", type=float, default=0, help="where they are optional; default: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="where all figures go too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    recipes, sizes = given.recipes.split(","), [int(size) for size in given.sizes.split(",")]
    for recipe in recipes:
        if recipe not in RECIPES:
            parser.error(f"there is no recipe {recipe!r}; there are {', '.join(RECIPES)}")
    if given.one:
        print(json.dumps(measured(recipes[0], sizes[0], given.messages, given.view, given.deadline_ms, given.seed)))
        return
    print(f"{'recipe':<20} {'n':>5} {'seconds':>8} {'MB':>6} " + " ".join(f"{name:>9}" for name in COLUMNS))
    rows = []
    for recipe in recipes:
        for size in sizes:
            command = [sys.executable, __file__, "--one", "--recipes", recipe, "--sizes", str(size)]
            messages = given.messages or 12 * max(sizes)
            command += ["--messages", str(messages), "--view", str(given.view), "--seed", str(given.seed)]
            command += ["--deadline-ms", str(given.deadline_ms)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise SystemExit(done.stderr.strip().splitlines()[-1])
            rows.append(json.loads(done.stdout))
            show(rows[-1])
    models = model(rows)
    for fit in models:
        curve = f"a {fit['what']} of {fit['a']:.0f} {fit['b']:+.2f} n bytes ({100 * fit['missed']:.0f} % off below)"
        print(f"{fit['recipe']:<20} {curve}: {fit['at']:,.0f} at {MODELLED:,}")
    if given.json:
        given.json.write_text(json.dumps({"rows": rows, "models": models}, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
