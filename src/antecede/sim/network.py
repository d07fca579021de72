"""The lossy network: what becomes of a copy - nothing, one arrival, or two - and when.

Decided here: loss, duplication, delay, spikes, and which partition is in force. All from one stream, drawn in the
order in which frames leave. Copies already under way when a partition begins still arrive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from antecede.errors import InputError
from antecede.sim.agenda import SHIFT, Agenda
from antecede.sim.dice import shuffled
from antecede.sim.scenario import Scenario

__all__ = ["Latency", "Network", "read_latency"]

SPIKE = 10
"""How many times longer a copy takes in a spike."""
JITTER = 0.1
"""With a latency matrix: a copy takes half the round trip and up to this share more."""


class Network:
    __slots__ = ("dice", "duplicate", "latency", "loss", "low_us", "side", "span_us", "spike")

    def __init__(self, scenario: Scenario, dice: Random, latency: Latency | None = None) -> None:
        self.dice = dice
        self.loss = scenario.loss
        self.duplicate = scenario.duplicate
        self.spike = scenario.spike
        self.low_us = int(scenario.delay_ms[0] * 1000)
        self.span_us = int(scenario.delay_ms[1] * 1000) - self.low_us + 1
        self.latency = latency
        self.side: Mapping[str, object] | None = None
        """While a partition stands: which side each process is on."""

    def post(self, source: str, to: Sequence[str], frame: object, ids: tuple[str, ...], now_us: int,
             book: Mapping[str, Any], agenda: Agenda) -> None:  # fmt: skip
        """Put the arrivals of one frame on the agenda, as (arrival, process, source, frame, ids)."""
        # One call per frame, not per copy, no dice for what cannot happen, and the usual case of `Agenda.push` spelt
        # out: this is the simulator's hottest loop.
        draw, push, bucket_of = self.dice.random, agenda.push, agenda.buckets.get
        loss, duplicate, spike = self.loss, self.duplicate, self.spike
        low, span, side, latency = self.low_us, self.span_us, self.side, self.latency
        for name in to:
            if side is not None and side[source.partition(".")[0]] != side[name.partition(".")[0]]:
                continue
            if loss and draw() < loss:
                continue
            process = book.get(name)
            if process is None:
                continue
            copies = 2 if duplicate and draw() < duplicate else 1
            while copies:
                if latency is None:
                    delay = low + int(draw() * span)
                else:
                    delay = int(latency.one_way_us(source, name) * (1.0 + JITTER * draw()))
                if spike and draw() < spike:
                    delay *= SPIKE
                delay += now_us
                bucket = bucket_of(delay >> SHIFT)
                if bucket is None:
                    push((delay, process, source, frame, ids))
                else:
                    bucket.append((delay, process, source, frame, ids))
                copies -= 1


class Latency:
    """A matrix of round trips between real hosts; processes are put onto hosts by the seed, in order of their names."""

    def __init__(self, rtt_us: Sequence[Sequence[int]], names: Sequence[str], dice: Random) -> None:
        hosts = shuffled(dice, range(len(rtt_us)))
        self._host = {name: hosts[i % len(hosts)] for i, name in enumerate(names)}
        self._rtt_us = rtt_us
        ways = sorted(self.one_way_us(a, b) for a in names for b in names if a != b) or [0]
        self.range_us = (ways[0], int(ways[int(0.95 * (len(ways) - 1))] * (1 + JITTER)))
        """From the shortest to nearly the longest way between two processes: what retries are derived from."""

    def sites(self, count: int) -> dict[str, int]:
        """Process -> site: of `count` hosts far from each other, the number of the one nearest to it."""
        names = list(self._host)

        def far_us(a: str, b: str) -> int:
            return 0 if self._host[a] == self._host[b] else self.one_way_us(a, b)

        centres = names[:1]
        while len(centres) < min(count, len(names)):
            centres.append(max(names, key=lambda name: min(far_us(name, centre) for centre in centres)))
        return {name: min(range(len(centres)), key=lambda i: far_us(name, centres[i])) for name in names}

    def one_way_us(self, source: str, target: str) -> int:
        host = self._host
        return self._rtt_us[host[source.partition(".")[0]]][host[target.partition(".")[0]]] // 2


def read_latency(path: Path) -> list[list[int]]:
    """Round trips in microseconds, host by host. A pair that was not measured takes the median of all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=["source", "target", "rtt_ms"])
        sources, targets, rtts = (table.column(name).to_pylist() for name in ("source", "target", "rtt_ms"))
    except FileNotFoundError:
        raise InputError(f"The latency file {path} does not exist.") from None
    except (OSError, pa.ArrowException, KeyError):
        raise InputError(f"{path} is no latency matrix: it must be Parquet with source, target and rtt_ms.") from None
    hosts = {name: i for i, name in enumerate(dict.fromkeys(sources + targets))}
    known = sorted(rtt for rtt in rtts if rtt is not None and rtt > 0)
    if not known:
        raise InputError(f"{path} holds no round trip above 0 ms.")
    middle_us = int(known[len(known) // 2] * 1000)
    matrix = [[middle_us] * len(hosts) for _ in hosts]
    for source, target, rtt in zip(sources, targets, rtts, strict=True):
        if rtt is not None and rtt > 0:
            matrix[hosts[source]][hosts[target]] = int(rtt * 1000)
    return matrix
