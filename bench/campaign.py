"""Twelve processes on the loopback, on a network that loses, doubles and reorders, all their records judged together.

    python bench/campaign.py [--messages 100000] [--faults loss=0.1,duplicate=0.05,reorder=0.05] [--within 0.3]
    python bench/campaign.py --netem          # the faults by the kernel (tc netem), in a network namespace; needs root

Four brokers whose entries overlap and eight clients that all publish and subscribe (`bench/fleet.py`). Clients are kept
within WINDOW messages of the slowest, so that nobody is drowned. Every client must get all that it is owed (with
`--within`: or a fate for it), and `antecede audit` must find nothing, nor `check` in a run of at most CHECKED messages.
Exit 1 where one of these fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.fleet import CLIENTS, ENTRY, Fleet, wanted
from bench.tables import Table, show

from antecede.errors import EnvironmentFault
from antecede.trace.check import check

FAULTS = "loss=0.1,duplicate=0.05,reorder=0.05,seed=1"
NETEM = "delay 2ms 1ms loss 10% duplicate 5% reorder 5%"
WINDOW = 160
"""Messages on their way, from all clients together."""
CHECKED = 20_000
"""Messages at most for `antecede check` too: it needs the square of their number."""
PATIENCE_S = 120.0
"""Without any progress; then it is over."""


def soak(fleet: Fleet, messages: int, within: float | None) -> Table:
    """Publish so many, until everybody has had what it is owed or nothing moves any more. Returns who had what."""
    share = messages // len(CLIENTS)
    owed = {name: wanted(name, filters, dict.fromkeys(CLIENTS, share)) for name, filters in CLIENTS.items()}
    numbers = {name: sorted(int(one.rpartition(":")[2]) for one in ids) for name, ids in owed.items()}
    fleet.start()
    for name, filters in CLIENTS.items():
        fleet.client(name, filters=filters, within=within, pause_s=0.004)
    clients = fleet.clients
    for one in clients.values():
        one.hear("ready", 120)
    started_s = moved_s = time.monotonic()
    before: tuple[int, ...] = ()
    while time.monotonic() < moved_s + PATIENCE_S:
        said = {name: one.look() for name, one in clients.items()}
        had = {name: seen(told) for name, told in said.items()}
        now = (*had.values(), *(told.get("sent", 0) for told in said.values()))
        if now != before:
            before, moved_s = now, time.monotonic()
        if all(had[name] >= len(owed[name]) for name in clients) and all(t.get("sent") == share for t in said.values()):
            break
        # How far the slowest receiver is, as a number of a publisher's message: nobody gets further ahead.
        slowest = min(numbers[name][had[name]] if had[name] < len(owed[name]) else share for name in clients)
        for one in clients.values():
            one.tell(upto=min(share, slowest + WINDOW // len(CLIENTS)))
        time.sleep(0.05)
    took_s = time.monotonic() - started_s
    table: Table = []
    for name, one in clients.items():
        fates = one.look()["fates"]
        left_out = {key: n for key, n in fates.items() if key not in ("delivered", "queued") and n}
        table.append(
            {
                "client": name,
                "filters": " ".join(CLIENTS[name]),
                "owed": len(owed[name]),
                "delivered": fates.get("delivered", 0),
                "left out": sum(left_out.values()),
                "as": " ".join(f"{k}:{n}" for k, n in left_out.items()) or "-",
                "p50 ms": one.look().get("p50_ms"),
                "p99 ms": one.look().get("p99_ms"),
            }
        )
    print(f"{share * len(CLIENTS):,} messages in {took_s:.0f} s", flush=True)
    return table


def seen(told: dict[str, Any]) -> int:
    return sum(n for key, n in told.get("fates", {}).items() if key != "queued")


def brokers_of(fleet: Fleet) -> Table:
    table: Table = []
    for name in fleet.ports:
        told = fleet.status(name)
        injected = {key: n for key, n in told["network"].items() if key in ("lost", "doubled", "held_back")}
        table.append(
            {
                "broker": name,
                "clients": told["connections"],
                "datagrams": told["network"]["datagrams_sent"],
                **injected,
                "asked": told["asked"],
                "answered": told["answered"],
                "held": told["held"],
                "fates": " ".join(f"{key}:{n}" for key, n in sorted(told["fates"].items())),
            }
        )
    return table


def audited(records: Path) -> dict[str, Any]:
    """What `antecede audit` says of all records together."""
    command = [*ENTRY, "audit", str(records), "--engine", "local", "--json"]
    found = subprocess.run(command, capture_output=True, text=True)
    if not found.stdout:
        raise SystemExit(f"the audit failed: {found.stderr}")
    report: dict[str, Any] = json.loads(found.stdout)
    return report


def campaign(fleet: Fleet, messages: int, within: float | None) -> list[str]:
    """Prints what was; returns what is wrong."""
    wrong: list[str] = []
    with fleet:
        table = soak(fleet, messages, within)
        show("Clients", table)
        show("Brokers", brokers_of(fleet))
    for row in table:
        if row["delivered"] + (row["left out"] if within is not None else 0) != row["owed"]:
            wrong.append(f"{row['client']} had {row['delivered']} of {row['owed']}")
    wrong += fleet.complaints()
    wrong += judged(fleet.records, messages)
    return wrong


def judged(records: Path, messages: int) -> list[str]:
    """What the audit finds in all records together, and where it is not too much for the oracle, the oracle."""
    started_s = time.monotonic()
    report = audited(records)
    counts = report["counts"]
    print(
        f"\naudit, {time.monotonic() - started_s:.0f} s: {report['rows']:,} rows of {report['processes']} processes, "
        f"{report['messages']:,} messages, {report['deliveries']:,} deliveries: "
        + ", ".join(f"{name} {n}" for name, n in counts.items()),
        flush=True,
    )
    wrong = [f"{n} x {name}" for name, n in counts.items() if n]
    if not report["clean"]:
        wrong.append(f"not clean: unknown tails {report['unknown_tails']}, quarantined {report['quarantined']}")
    if messages <= CHECKED:
        found = check(records)
        print("check:", ", ".join(f"{name} {n}" for name, n in found.counts.items()))
        print("fates:", ", ".join(f"{name} {n:,}" for name, n in found.fates.items()), f"of {found.pairs:,} pairs")
        wrong += [finding.text for finding in found.findings[:5]]
        if sum(found.fates.values()) != found.pairs:
            wrong.append(f"{sum(found.fates.values())} fates of {found.pairs} pairs")
    return wrong


@contextlib.contextmanager
def namespace() -> Iterator[tuple[str, ...]]:
    """A network namespace whose loopback loses, doubles and reorders datagrams; connections are left alone."""
    name = f"antecede-{os.getpid()}"
    inside = f"ip netns exec {name}"
    commands = [
        f"ip netns add {name}",
        f"{inside} ip link set lo up",
        f"{inside} tc qdisc add dev lo root handle 1: prio bands 4",
        f"{inside} tc qdisc add dev lo parent 1:4 handle 40: netem {NETEM}",
        f"{inside} tc filter add dev lo parent 1:0 protocol ip u32 match ip protocol 17 0xff flowid 1:4",
    ]
    try:
        for command in commands:
            done = subprocess.run(command.split(), capture_output=True, text=True)
            if done.returncode:
                raise EnvironmentFault(f"`{command}` said: {done.stderr.strip()}")
        yield tuple(inside.split())
    finally:
        subprocess.run(["ip", "netns", "del", name], capture_output=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--faults", default=FAULTS)
    parser.add_argument("--within", type=float, help="seconds: every message has this deadline")
    parser.add_argument("--netem", action="store_true", help="the faults by the kernel, in a network namespace")
    parser.add_argument("--out", type=Path, help="keep records and logs there")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        prefix: tuple[str, ...] = ()
        if options.netem:
            try:
                prefix = stack.enter_context(namespace())
            except (EnvironmentFault, OSError) as fault:
                print(f"skipped: no namespace with netem can be made here ({fault})")
                return 0
        out = options.out or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        faults = "" if options.netem else options.faults
        print(f"faults: {NETEM if options.netem else faults or 'none'}", flush=True)
        wrong = campaign(Fleet(out, faults=faults, prefix=prefix), options.messages, options.within)
    print("\nwrong: " + "; ".join(wrong) if wrong else "\nnothing wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
