"""How long `await publish` takes: until another broker is known to have the message, or at once where there is none.

    python bench/safe.py [--messages 2000]

A client publishes one message after the other and awaits each; the brokers are processes of their own on the loopback.
With one broker a message is safe when that broker has it. With two the home broker relays it, the other confirms it,
and the home broker tells the client. So the difference is a round trip between brokers, not the time until their next
digest. Printed for one, two and four brokers: the median and the 99th percentile. Exit 1 where the median of two
brokers is above 3 ms.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.fleet import Fleet
from bench.tables import Table, show

from antecede.live.client import connect

WANTED_MS = 3.0
"""For the median, with two brokers."""


async def waits_ms(addresses: list[str], messages: int) -> list[float]:
    """Of each publication, after some that are not counted."""
    found: list[float] = []
    async with connect(*addresses) as node:
        for n in range(messages + 50):
            begun_s = time.perf_counter()
            await node.publish("room/1", b"x" * 128)
            if n >= 50:
                found.append(1000 * (time.perf_counter() - begun_s))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--messages", type=int, default=2000)
    options = parser.parse_args()
    table: Table = []
    for names in ("A", "AB", "ABCD"):
        with tempfile.TemporaryDirectory() as directory:
            fleet = Fleet(Path(directory), names=names, table={})
            try:
                fleet.start(records=False)
                waits = sorted(asyncio.run(waits_ms(fleet.addresses, options.messages)))
            finally:
                fleet.stop()
        table.append(
            {"brokers": len(names), "p50 ms": statistics.median(waits), "p99 ms": waits[int(0.99 * len(waits))]}
        )
    show(f"await publish, {options.messages:,} messages of 128 bytes, one after the other", table)
    slow = table[1]["p50 ms"] > WANTED_MS
    print(f"\nwrong: two brokers take more than {WANTED_MS:g} ms" if slow else "\nnothing wrong")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
