"""What is measured of a run, once for all: reach, steps, latency, throughput, copies, frames, bytes, memory.

Definitions. A *pair* is a message and a receiver it is for (as the oracle counts them). A *step* is one round
(`round_ms`) after the publication; step 0 is the publication, so a pair is reached at step k if it was delivered within
k rounds. *All* means all pairs of correct receivers: those that neither crashed nor left. *Throughput* is deliveries
per second and receiver that did not sleep, from the first publication to the last delivery. *Memory* is the most
messages that any one process has at once: a broker or member those it delivered or published and has not collected, a
subscriber, which answers nobody, those that have come and wait; and the bytes of those with their stamps.
"""

from __future__ import annotations

import math
import multiprocessing
import statistics
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from antecede.sim.plugin import loaded
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import begin_worker
from antecede.trace.check import check
from antecede.trace.report import Report

__all__ = [
    "SHOWN", "STEPS", "delays_ms", "means", "measure", "measure_seeds", "most_held", "most_kept", "quantile",
    "sizes_of", "write_metrics",
]  # fmt: skip

STEPS = 12
"""Steps of which the reach is told."""
PAYLOADS = ("data", "items", "publish", "rumours")
"""Kinds of frames that carry messages."""
SHOWN = {
    "reach": "share of pairs delivered",
    "steps_to_99": "steps until 99 % of a message's pairs (mean)",
    "steps_to_all": "steps until all of them (mean)",
    "p50_ms": "median latency (ms)",
    "p95_ms": "95th percentile of latency (ms)",
    "throughput": "deliveries per second and awake receiver",
    "copies_per_pair": "payload copies that arrive, per pair",
    "frames_per_pair": "frames sent, per pair",
    "bytes_per_pair": "bytes sent, per pair",
    "control_per_pair": "of which control: stamps, digests, requests",
    "kept_broker": "most messages kept by a broker or member",
    "held_subscriber": "most messages that wait at a subscriber",
    "overflowed": "frames lost at full buffers",
    "violations": "violations",
}


def delays_ms(run: Run) -> dict[tuple[str, str], float]:
    """(message, process) -> from publication to delivery."""
    published = {row[6]: row[14] for row in run.rows if row[5] == "publish"}
    return {(row[6], row[1]): (row[14] - published[row[6]]) / 1000 for row in run.rows if row[5] == "deliver"}


def quantile(values: Sequence[float], q: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))] if ordered else None


def sizes_of(run: Run) -> Callable[[str, str], int]:
    """(message, process) -> bytes of the message with its stamp, as it came to that process; where it did not come,
    since it was published there, as it came to others."""
    came: dict[tuple[str, str], int] = {}
    anywhere: dict[str, int] = {}
    for row in run.rows:
        if row[5] == "arrive":
            came[row[6], row[1]] = row[16] or 0
            anywhere[row[6]] = max(row[16] or 0, anywhere.get(row[6], 0))
    return lambda message, process: came.get((message, process)) or anywhere.get(message, 0)


def most_kept(run: Run, *roles: str, weigh: Callable[[str, str], int] | None = None) -> int:
    """The most messages any process of these roles (none given: of any) keeps at once; with `weigh` their bytes."""
    kept: dict[str, dict[str, int]] = {}
    total: dict[str, int] = {}
    most = 0
    for row in sorted(run.rows, key=lambda row: (row[14], row[3])):
        if roles and row[2] not in roles:
            continue
        name, message = row[1], row[6]
        mine = kept.setdefault(name, {})
        if row[5] in ("deliver", "publish") and message not in mine:
            mine[message] = 1 if weigh is None else weigh(message, name)
            total[name] = total.get(name, 0) + mine[message]
        elif row[5] == "collect":
            total[name] = total.get(name, 0) - mine.pop(message, 0)
        most = max(most, total.get(name, 0))
    return most


def most_held(run: Run, weigh: Callable[[str, str], int] | None = None) -> int:
    """The most messages that have come to one subscriber and are neither delivered nor discarded; with `weigh` their
    bytes."""
    held: dict[str, dict[str, int]] = {}
    most = 0
    for row in sorted(run.rows, key=lambda row: (row[14], row[1], row[3])):
        if row[2] == "subscriber" and row[5] in ("arrive", "deliver", "discard"):
            mine = held.setdefault(row[1], {})
            if row[5] == "arrive":
                mine[row[6]] = 1 if weigh is None else weigh(row[6], row[1])
            else:
                most = max(most, sum(mine.values()))
                mine.pop(row[6], None)
    return most


def measure(run: Run, report: Report | None = None) -> dict[str, Any]:
    """One row of plain values. `report`: the oracle's, if it was asked already."""
    report = report or check(run.rows, scenario=run.body())
    pairs = max(1, report.pairs)
    delays = delays_ms(run)
    frames = size = control = control_frames = 0
    for kinds in run.totals.values():
        for kind, total in kinds.items():
            frames += total["frames"]
            size += total["bytes"]
            control += total["control_bytes"] if kind in PAYLOADS else total["bytes"]
            control_frames += 0 if kind in PAYLOADS else total["frames"]
    copies = sum(row[5] == "arrive" for row in run.rows)
    steps, reached = _steps(run, delays)
    weigh = sizes_of(run)
    return {
        "recipe": run.scenario.recipe, "reading": run.scenario.reading, "seed": run.scenario.seed,
        "pairs": report.pairs, "quiet": run.quiet, "reach": report.fates["delivered"] / pairs,
        "reach_by_step": reached, **steps,
        "p50_ms": quantile(list(delays.values()), 0.5), "p95_ms": quantile(list(delays.values()), 0.95),
        "throughput": _throughput(run), "copies_per_pair": copies / pairs, "frames_per_pair": frames / pairs,
        "bytes_per_pair": size / pairs, "control_per_pair": control / pairs, "frames": frames, "bytes": size,
        "control_bytes": control, "control_frames": control_frames, "kept_broker": most_kept(run, "broker", "member"),
        "held_subscriber": most_held(run), "kept_bytes_broker": most_kept(run, "broker", "member", weigh=weigh),
        "held_bytes_subscriber": most_held(run, weigh),
        "published_bytes": sum(weigh(row[6], row[1]) for row in run.rows if row[5] == "publish"),
        "overflowed": sum(run.overflowed.values()),
        "violations": sum(report.counts.values()),
    }  # fmt: skip


def _steps(run: Run, delays: dict[tuple[str, str], float]) -> tuple[dict[str, float | None], list[float]]:
    """Steps to 99 % and to all, as means over messages that got so far; and the share of pairs reached by step."""
    round_ms = run.scenario.round_ms
    by_message: dict[str, list[int]] = {}
    gone = {row[1] for row in run.rows if row[5] == "crash"}
    everybody = _receivers(run)
    for (message, process), delay_ms in delays.items():
        if process not in gone and process in everybody:
            by_message.setdefault(message, []).append(math.ceil(delay_ms / round_ms))
    owed = _owed(run, gone)
    to_most, to_all = [], []
    for message, receivers in owed.items():
        steps = sorted(by_message.get(message, ()))
        most = math.ceil(0.99 * receivers)
        if receivers and len(steps) >= most:
            to_most.append(steps[most - 1])
        if receivers and len(steps) >= receivers:
            to_all.append(steps[-1])
    every = [step for steps in by_message.values() for step in steps]
    total = max(1, sum(owed.values()))
    return (
        {"steps_to_99": statistics.fmean(to_most) if to_most else None,
         "steps_to_all": statistics.fmean(to_all) if to_all else None,
         "messages_to_all": len(to_all) / max(1, len(owed))},
        [sum(step <= k for step in every) / total for k in range(STEPS + 1)],
    )  # fmt: skip


def _owed(run: Run, gone: set[str]) -> dict[str, int]:
    """Message -> how many correct receivers it is for: whoever wanted one of its groups when it was published."""
    wants: dict[str, set[str]] = {}
    owed: dict[str, int] = {}
    receivers = _receivers(run)
    for row in sorted(run.rows, key=lambda row: (row[14], row[1], row[3])):
        if row[5] == "join" and row[7]:
            wants.setdefault(row[1], set()).update(row[7])
        elif row[5] == "publish":
            groups = set(row[7])
            owed[row[6]] = sum(
                name != row[1] and name not in gone and name in receivers and bool(filters & groups)
                for name, filters in wants.items()
            )  # fmt: skip
    return owed


def _receivers(run: Run) -> set[str]:
    """Whom all of this is for: subscribers where there are any, otherwise everybody."""
    role = {row[1]: row[2] for row in run.rows}
    return {name for name, one in role.items() if one == "subscriber"} or set(role)


def _throughput(run: Run) -> float | None:
    """Deliveries per second at receivers that did not sleep; where everybody did, at all of them."""
    there = _receivers(run).difference(row[1] for row in run.rows if row[5] == "crash")
    awake = there.difference(run.naps) or there
    moments = [row[14] for row in run.rows if row[5] == "deliver" and row[1] in awake]
    begin_us = min((row[14] for row in run.rows if row[5] == "publish"), default=0)
    if not moments or max(moments) <= begin_us:
        return None
    return len(moments) / len(awake) / (int(max(moments) - begin_us) / 1e6)


# -- many seeds --------------------------------------------------------------------------------------------------------


def _one(scenario: Scenario) -> dict[str, Any]:
    return measure(simulate(scenario))


def measure_seeds(scenario: Scenario, count: int, step: Callable[[], None] | None = None) -> list[dict[str, Any]]:
    """The same scenario with `count` seeds, from its own on, in processes of their own; rows in the order of seeds."""
    cells = [replace(scenario, seed=scenario.seed + i) for i in range(count)]
    rows: list[dict[str, Any]] = []
    workers = min(count, multiprocessing.cpu_count())
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, begin_worker, (loaded(),)) as pool:
        for row in pool.map(_one, cells, chunksize=1):
            rows.append(row)
            if step is not None:
                step()
    return rows


def means(rows: Sequence[dict[str, Any]]) -> dict[str, tuple[float, float | None]]:
    """Measure -> mean over runs and half of its 95 % interval (None: of one run there is none); what no run has is left
    out."""
    table: dict[str, tuple[float, float | None]] = {}
    for name in SHOWN:
        values = [float(row[name]) for row in rows if row[name] is not None]
        if values:
            half = 1.96 * statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
            table[name] = (statistics.fmean(values), half)
    return table


def write_metrics(rows: Sequence[dict[str, Any]], directory: Path) -> Path:
    """`metrics.parquet`: one row per run."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "metrics.parquet"
    pq.write_table(pa.Table.from_pylist(list(rows)), path)
    return path
