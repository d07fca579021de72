"""What one cell measures, by name: each function takes knobs and a seed and gives one row of plain values.

Decided here: what is read from a run. Knobs are those of the model that is run, under the same names; a row holds
counts and means, never lists, but for curves by round, which are lists of equal meaning.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from antecede.lab.matrices import path_of
from antecede.sim.causes import Chains, run_chains
from antecede.sim.dice import stream
from antecede.sim.epidemic import Epidemic, broadcast
from antecede.sim.layout import broker_names
from antecede.sim.metrics import delays_ms, measure, most_kept, quantile
from antecede.sim.network import Latency, read_latency
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import judge
from antecede.trace.check import check

__all__ = [
    "attaching", "causes", "distances", "drawn", "events", "interests", "managed", "measured", "nothing", "paired",
    "spread",
]  # fmt: skip

Row = dict[str, Any]

CURVE = 24
"""Rounds of a curve."""


def spread(knobs: Mapping[str, Any], seed: int) -> Row:
    """One broadcast of the vectorised simulator. `label` and other words of the design are left alone."""
    known = {name: value for name, value in knobs.items() if name in Epidemic.__dataclass_fields__}
    outcome = broadcast(Epidemic(**known), seed)
    return {
        "correct": outcome.correct,
        "reached": outcome.reached[-1],
        "to_most": outcome.rounds_to(0.99),
        "to_all": outcome.rounds_to(),
        "rounds_run": len(outcome.reached) - 1,
        "copies": sum(outcome.copies),
        "requests": sum(outcome.requests),
        "crossings": sum(outcome.crossings),
        "curve": [outcome.share(r) for r in range(CURVE)],
    }


def causes(knobs: Mapping[str, Any], seed: int) -> Row:
    """One run of chains of causes over gossip."""
    known = {name: value for name, value in knobs.items() if name in Chains.__dataclass_fields__}
    result = run_chains(Chains(**known), seed)
    return {
        "arrived": result.arrived,
        "delivered": result.delivered,
        "delay_rounds": result.rounds,
        "follows": result.causes,
        "pulls": result.pulls,
    }


def _run(knobs: Mapping[str, Any], seed: int) -> Run:
    known = {name: value for name, value in knobs.items() if name in Scenario.__dataclass_fields__}
    return simulate(Scenario.from_knobs({**known, "seed": seed}, "the cell"))


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def events(knobs: Mapping[str, Any], seed: int) -> Row:
    """One event-driven run, judged by the oracle: fates and verdicts as shares of pairs, delays, frames, bytes."""
    run = _run(knobs, seed)
    report = check(run.rows, scenario=run.body())
    pairs = max(1, report.pairs)
    delays = list(delays_ms(run).values())
    frames = {"data": 0, "control": 0}
    sent = {"bytes": 0, "control_bytes": 0}
    for kinds in run.totals.values():
        for kind, total in kinds.items():
            payload = kind in ("data", "items", "publish", "rumours")
            frames["data" if payload else "control"] += total["frames"]
            sent["bytes"] += total["bytes"]
            sent["control_bytes"] += total["control_bytes"] if payload else total["bytes"]
    arrived = {role: [row for row in run.rows if row[5] == "arrive" and row[2] == role] for role in
               ("broker", "subscriber", "member")}  # fmt: skip
    stamps = {role: _mean([row[17] or 0 for row in rows]) for role, rows in arrived.items()}
    copies = sum(map(len, arrived.values()))
    members = len({row[1] for row in run.rows})
    return {
        "pairs": report.pairs,
        **{f"fate_{name}": count / pairs for name, count in report.fates.items()},
        "undelivered": 1 - report.fates["delivered"] / pairs,
        **{f"found_{name}": count / pairs for name, count in report.counts.items()},
        "p50_ms": quantile(delays, 0.5),
        "p95_ms": quantile(delays, 0.95),
        "copies_per_pair": copies / pairs,
        "data_frames_per_pair": frames["data"] / pairs,
        "control_frames_per_pair": frames["control"] / pairs,
        "bytes_per_pair": sent["bytes"] / pairs,
        "overhead_per_pair": sent["control_bytes"] / pairs,
        "bytes_per_member": sent["bytes"] / members,
        "frames_per_member": (frames["data"] + frames["control"]) / members,
        "stamp_to_broker": stamps["broker"],
        "stamp_to_subscriber": stamps["subscriber"],
        "stamp_to_member": stamps["member"],
        "most_kept": most_kept(run),
        "quiet": run.quiet,
    }


def measured(knobs: Mapping[str, Any], seed: int) -> Row:
    """One event-driven run, as `antecede simulate --seeds` measures it (`sim/metrics.py`)."""
    return {name: value for name, value in measure(_run(knobs, seed)).items() if name not in ("recipe", "seed")}


MANAGING = ("ping", "ping-request", "pong", "sync", "out", "attach", "attached", "detach", "snapshot",
            "snapshot-request")  # fmt: skip
"""Frames by which processes know of each other, find a broker and begin where others have history."""


def managed(knobs: Mapping[str, Any], seed: int) -> Row:
    """One event-driven run: what it costs a member per second to know who is there and to order, in control frames
    and bytes. A member counts from its first record to its last: those who come and go count for as long as they are
    there."""
    run = _run(knobs, seed)
    measures = measure(run)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for row in run.rows:
        first[row[1]] = min(row[14], first.get(row[1], row[14]))
        last[row[1]] = max(row[14], last.get(row[1], row[14]))
    seconds = max(1e-6, sum(last[name] - first[name] for name in first) / 1e6)
    frames, size = 0, 0
    for kinds in run.totals.values():
        frames += sum(kinds.get(kind, {}).get("frames", 0) for kind in MANAGING)
        size += sum(kinds.get(kind, {}).get("bytes", 0) for kind in MANAGING)
    return {
        "members_seen": len(first), "member_seconds": seconds, "reach": measures["reach"],
        "violations": measures["violations"], "control_bytes": measures["control_bytes"] / seconds,
        "control_frames": measures["control_frames"] / seconds, "managing_bytes": size / seconds,
        "managing_frames": frames / seconds,
    }  # fmt: skip


def attaching(knobs: Mapping[str, Any], seed: int) -> Row:
    """One event-driven run in which subscribers move: what an attachment costs, in bytes both ways."""
    run = _run(knobs, seed)
    frames, size = 0, 0
    for kinds in run.totals.values():
        frames += kinds.get("attach", {}).get("frames", 0)
        size += sum(kinds.get(kind, {}).get("bytes", 0) for kind in ("attach", "attached", "detach"))
    return {"attachments": frames, "bytes_per_attachment": size / max(1, frames)}


def paired(knobs: Mapping[str, Any], seed: int) -> Row:
    """Two recipes on the same seed, over pairs that both deliver: `ours` and `theirs` name them. Only where nobody
    replies (`reply` 0) do both publish the same messages."""
    runs = {
        who: delays_ms(_run({**knobs, "recipe": knobs[who], "reply": 0.0}, seed)) for who in ("ours", "theirs")
    }  # fmt: skip
    both = sorted(runs["ours"].keys() & runs["theirs"].keys())
    row: Row = {"both": len(both), "either": len(runs["ours"].keys() | runs["theirs"].keys())}
    for who, delays in runs.items():
        shared = [delays[pair] for pair in both]
        row |= {f"{who}_p50_ms": quantile(shared, 0.5), f"{who}_p95_ms": quantile(shared, 0.95),
                f"{who}_mean_ms": _mean(shared), f"{who}_delivered": len(delays)}  # fmt: skip
    return row


def drawn(knobs: Mapping[str, Any], seed: int) -> Row:
    """One drawn scenario of a recipe - losses, crashes, partitions, moves - simulated and judged."""
    judged = judge(seed, str(knobs["recipe"]), str(knobs.get("reading", "repaired")), 0)
    found = judged.verdicts
    said = ("inversion", "gap", "undelivered", "stuck", "idle")
    return {
        "pairs": judged.pairs,
        "what": judged.what,
        "inversions": found.get("inversion", 0),
        "gaps": found.get("gap", 0),
        "undelivered": found.get("undelivered", 0) + found.get("stuck", 0),
        "idle": found.get("idle", 0),
        "other": sum(count for name, count in found.items() if name not in said),
    }


def interests(knobs: Mapping[str, Any], seed: int) -> Row:
    """One event-driven run in which subscribers change their filters: pairs of a message and who wants it, pairs of a
    message and who wanted its group once and not any more (`lapsed`), and copies that reached those."""
    run = _run(knobs, seed)
    rows = sorted(run.rows, key=lambda row: (row[14], row[1], row[3]))
    below = {row[1] for row in rows if row[2] == "subscriber"}
    changes = [row for row in rows if row[1] in below and row[5] in ("join", "leave") and row[7]]
    after: dict[int, set[str]] = {}
    """What is wanted from a change on: whoever leaves to begin anew wants already what it joins next."""
    next_join: dict[str, set[str]] = {}
    for row in reversed(changes):
        if row[5] == "join":
            next_join[row[1]] = set(row[7])
        after[id(row)] = next_join.get(row[1], set())
    wants: dict[str, set[str]] = {}
    once: dict[str, set[str]] = {}
    lapsed: set[tuple[str, str]] = set()
    wanted = in_vain = 0
    for row in rows:
        if id(row) in after:
            wants[row[1]] = after[id(row)]
            once.setdefault(row[1], set()).update(row[7], after[id(row)])
        elif row[5] == "publish":
            groups = set(row[7])
            wanted += sum(bool(mine & groups) for mine in wants.values())
            lapsed |= {(row[6], name) for name, mine in once.items() if mine & groups and not wants[name] & groups}
        elif row[5] == "arrive":
            in_vain += (row[6], row[1]) in lapsed
    return {"wanted": max(1, wanted), "lapsed": len(lapsed), "copies_in_vain": in_vain}


def distances(knobs: Mapping[str, Any], seed: int) -> Row:
    """One event-driven run of brokers over a matrix of round trips (`matrix`: which): how far copies go, and who has
    it in time."""
    path = path_of(str(knobs["matrix"]))
    run = _run({**knobs, "latency": str(path)}, seed)
    report = check(run.rows, scenario=run.body())
    latency = Latency(read_latency(path), broker_names(run.scenario.brokers), stream(run.scenario.seed, "hosts"))
    site = latency.sites(run.scenario.sites)
    ways = [(row[15], row[1]) for row in run.rows if row[5] == "arrive" and row[15]]
    pairs = max(1, report.pairs)
    return {
        "pairs": report.pairs,
        "way_ms": _mean([latency.one_way_us(a, b) / 1000 for a, b in ways]),
        "crossing": _mean([float(site[a] != site[b]) for a, b in ways]),
        "undelivered": 1 - report.fates["delivered"] / pairs,
        "violations": sum(report.counts.values()),
        "p50_ms": quantile(list(delays_ms(run).values()), 0.5),
        "copies_per_pair": len(ways) / pairs,
    }


def nothing(knobs: Mapping[str, Any], seed: int) -> Row:
    """A point of a model, or of what a text gives: the knobs are the row."""
    return {}
