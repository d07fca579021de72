"""Brokers and clients killed (kill -9) at random moments, again and again, while others publish.

    python bench/campaign_kills.py [--kills 30] [--seed 1]

Four brokers and six clients, on a network that loses. Each round a broker is killed, and its clients go elsewhere, or a
client that then resumes from the frontier it saved. Clients await every publication and note what is safe, and keep a
journal of what they were handed (`bench/fleet_client.py`). In the end, of each client's journal: nothing at or before a
frontier came again, and everything that is safe and that its filters match is there, once, unless the client was told
that no broker holds it any more (`gone`: it was away for longer than the grace). And the records of all lives have
nothing out of order, and no such word that was untrue. A killed broker is back, and known to all, before the next one
is killed: what two brokers have is safe from one crash, not from two. Exit 1 where one of these fails.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.fleet import Fleet
from bench.tables import Table, show

from antecede.core.membership.news import split_name
from antecede.core.topics import matches
from antecede.trace.check import check

FAULTS = "loss=0.05,seed=1"
WANTED: dict[str, tuple[str, ...]] = {
    "c0": ("room/#",), "c1": ("room/1/news", "room/1/chat"), "c2": ("alerts/#",), "c3": ("+/fire",),
    "c4": ("room/#", "alerts/#"), "c5": ("room/+",),
}  # fmt: skip
PATIENCE_S = 60.0


class Kills:
    def __init__(self, fleet: Fleet, seed: int) -> None:
        self.fleet = fleet
        self.dice = random.Random(seed)
        self.again = 0
        self.killed: Counter[str] = Counter()

    def order(self, name: str) -> dict[str, Any]:
        journal, safe = (self.fleet.directory / f"{name}.{kind}" for kind in ("journal", "safe"))
        return {"filters": WANTED[name], "journal": str(journal), "safe": str(safe), "pause_s": 0.02}

    def start(self) -> None:
        self.fleet.start()
        for name in WANTED:
            self.fleet.client(name, **self.order(name))
        for one in self.fleet.clients.values():
            one.hear("ready", 120)
        for one in self.fleet.clients.values():
            one.tell(upto=10**9)

    def round(self) -> None:
        time.sleep(self.dice.uniform(0.2, 1.5))
        if self.dice.random() < 0.5:
            name = self.dice.choice(sorted(self.fleet.ports))
            self.killed["broker"] += 1
            self.fleet.kill_broker(name)
            time.sleep(self.dice.uniform(0.0, 2.0))
            self.fleet.start_broker(name)
            self.fleet.wait_for(name, "/ready")
            self.until(lambda: all(self.complete(one) for one in self.fleet.ports), "all brokers know each other")
        else:
            name = self.dice.choice(sorted(WANTED))
            self.killed["client"] += 1
            self.again += self.fleet.clients[name].look().get("again", 0)
            self.fleet.clients[name].kill()
            one = self.fleet.client(name, **self.order(name))
            one.hear("ready", 60)
            one.tell(upto=10**9)

    def complete(self, name: str) -> bool:
        """Whether this broker believes in all that run, and has begun."""
        try:
            told = self.fleet.status(name)
        except OSError:
            return False
        alive = {split_name(one)[0] for one, is_ in told["brokers"].items() if is_["state"] == "alive"}
        return bool(told["begun"]) and alive == set(self.fleet.ports)

    def until(self, condition: Any, what: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > end:
                raise SystemExit(f"not within {PATIENCE_S:.0f} s: {what}")
            time.sleep(0.05)

    # -- the end ---------------------------------------------------------------------------------------------------

    def safe(self) -> dict[str, str]:
        """Id -> topic, of what some client knows to be safe."""
        found: dict[str, str] = {}
        for name in WANTED:
            file = self.fleet.directory / f"{name}.safe"
            if file.exists():
                found.update(line.split() for line in file.read_text("utf-8").splitlines() if " " in line)
        return found

    def finish(self) -> Table:
        """Let what is on its way arrive; stop; compare journals with what is safe."""
        for one in self.fleet.clients.values():
            one.tell(upto=0)
        safe: dict[str, str] = {}
        end, before = time.monotonic() + PATIENCE_S, None
        while time.monotonic() < end:
            safe = self.safe()
            state = (len(safe), *(one.look().get("got") for one in self.fleet.clients.values()))
            if state == before and not any(self.missing(name, safe) for name in WANTED):
                break
            before = state
            time.sleep(1.0)
        for one in self.fleet.clients.values():
            one.tell(stop=True)
        for one in self.fleet.clients.values():
            one.hear("ended", 30)
            self.again += one.said["again"]
        safe = self.safe()
        table: Table = []
        for name in WANTED:
            had = self.lines(name, "journal")
            table.append(
                {
                    "client": name, "lives": one_plus(self.fleet.clients[name].said["name"]), "journal": len(had),
                    "twice": len(had) - len(set(had)), "gone": len(self.lines(name, "gone")),
                    "missing": len(self.missing(name, safe)),
                }
            )  # fmt: skip
        print(f"{len(safe):,} messages safe; killed: {dict(self.killed)}")
        return table

    def lines(self, name: str, kind: str) -> list[str]:
        file = self.fleet.directory / f"{name}.{kind}"
        return file.read_text("utf-8").split() if file.exists() else []

    def missing(self, name: str, safe: dict[str, str]) -> list[str]:
        had = {*self.lines(name, "journal"), *self.lines(name, "gone")}
        return [
            one
            for one, topic in safe.items()
            if split_name(one.rpartition(":")[0])[0] != name
            and one not in had
            and any(matches(filter, topic) for filter in WANTED[name])
        ]


def one_plus(name: str) -> int:
    return 1 + split_name(name)[1]


def campaign(fleet: Fleet, kills: int, seed: int) -> list[str]:
    """Prints what was; returns what is wrong."""
    with fleet:
        run = Kills(fleet, seed)
        run.start()
        for n in range(kills):
            run.round()
            print(f"\r{n + 1} of {kills} ", end="", file=sys.stderr, flush=True)
        print(file=sys.stderr)
        table = run.finish()
        show("Journals", table)
    wrong = [f"{row['client']}: {row[key]} {key}" for row in table for key in ("twice", "missing") if row[key]]
    if run.again:
        wrong.append(f"{run.again} came again at or before a frontier")
    wrong += fleet.complaints()
    report = check(fleet.records)
    print("\ncheck:", ", ".join(f"{name} {n}" for name, n in report.counts.items()))
    print("fates:", ", ".join(f"{name} {n:,}" for name, n in report.fates.items()), f"of {report.pairs:,} pairs")
    print(f"{report.messages:,} messages, {report.processes} lives, {len(report.unknown_tails)} ended by kill -9")
    return wrong + [finding.text for finding in report.findings[:5]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="keep records, journals and logs there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fleet = Fleet(options.out or Path(folder), faults=FAULTS)
        wrong = campaign(fleet, options.kills, options.seed)
    print("\nwrong: " + "; ".join(wrong) if wrong else "\nnothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
