"""4 brokers and 8 clients on loopback UDP with 10 % loss injected, many messages, judged by the oracle.

    python bench/soak.py [--messages 20000] [--loss 0.1] [RECIPE ...]

Prints one line per recipe; exit 1 where the records are not clean. Takes about two minutes a recipe, half of it the
oracle.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from antecede.trace.check import check
from tests.live.cluster import Cluster


async def soak(recipe: str, messages: int, loss: float) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        start_s, start_cpu_s = time.monotonic(), time.process_time()
        cluster = Cluster(recipe, Path(directory), loss=loss, deadlines=False)
        quiet = await cluster.run(messages, None, seconds=120)
        run_s, cpu_s = time.monotonic() - start_s, time.process_time() - start_cpu_s
        report = check(directory, scenario={"recipe": recipe}, idle=False)
    counts = [node.transport.counts for node in cluster.nodes.values()]
    print(
        f"{recipe}: {messages} messages, {report.pairs} pairs, {report.fates['delivered']} delivered, "
        f"{'clean' if report.clean else report.counts}, {'quiet' if quiet else 'not quiet'} after {run_s:.0f} s, "
        f"{cpu_s / max(1, cluster.delivered) * 1e6:.0f} us CPU per delivery with records; "
        f"{sum(c.sent for c in counts)} datagrams, {sum(c.lost for c in counts)} more lost",
        flush=True,
    )
    return report.clean and quiet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="*", default=["home", "solicit"])
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--loss", type=float, default=0.1)
    options = parser.parse_args()
    good = [asyncio.run(soak(recipe, options.messages, options.loss)) for recipe in options.recipes]
    raise SystemExit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
