"""What a broker carries: the bytes it sends by what they are for, and the messages it keeps.

Decided here: payloads are frames that carry messages, with their stamps; digests are what brokers compare by; the rest
is requests. Kept is what was delivered or published at a process and is not collected there, as it weighs on the wire.
The table of who is there is not counted: everybody is told it alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antecede.sim.metrics import PAYLOADS
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

__all__ = ["kept_bytes", "weigh_load"]


def weigh_load(knobs: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """One event-driven run of brokers, per broker and message published; kept: the most at any broker."""
    known = {name: value for name, value in knobs.items() if name in Scenario.__dataclass_fields__}
    run = simulate(Scenario.from_knobs({**known, "seed": seed}, "the cell"))
    report = check(run.rows, scenario=run.body())
    parts = {"payload_bytes": 0, "digest_bytes": 0, "request_bytes": 0}
    frames = 0
    for kinds in run.totals.values():
        for kind, total in kinds.items():
            part = "payload" if kind in PAYLOADS else "digest" if kind == "digest" else "request"
            parts[f"{part}_bytes"] += total["bytes"]
            frames += total["frames"]
    each = run.scenario.brokers * max(1, run.scenario.count)
    return {
        "pairs": report.pairs,
        "load": sum(parts.values()) / each,
        **{name: size / each for name, size in parts.items()},
        "frames": frames / each,
        "kept_bytes": kept_bytes(run),
        "undelivered": 1 - report.fates["delivered"] / max(1, report.pairs),
    }


def kept_bytes(run: Run) -> int:
    """The most bytes of messages that one process keeps at once; a publisher's own weigh what they weigh elsewhere."""
    weight: dict[str, int] = {}
    for row in run.rows:
        if row[5] == "arrive":
            weight[row[6]] = max(weight.get(row[6], 0), row[16] or 0)
    kept: dict[str, set[str]] = {}
    total: dict[str, int] = {}
    most = 0
    for row in sorted(run.rows, key=lambda row: (row[14], row[1], row[3])):
        name, message = row[1], row[6]
        mine = kept.setdefault(name, set())
        if row[5] in ("deliver", "publish") and message not in mine:
            mine.add(message)
            total[name] = total.get(name, 0) + weight.get(message, 0)
        elif row[5] == "collect" and message in mine:
            mine.discard(message)
            total[name] -= weight.get(message, 0)
        most = max(most, total.get(name, 0))
    return most
