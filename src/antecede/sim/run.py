"""A run: from a scenario to what it leaves behind.

Decided here: when a run is over - quiet (nothing in flight, nobody wants to be woken, nothing left to publish) or
stopped at its limit - and what is kept of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from antecede.collector import collecting_rarely
from antecede.core.entries import EACH
from antecede.sim.driver import Build, Driver, Measure, Workload
from antecede.sim.faults import Faults
from antecede.sim.layout import lay_out
from antecede.sim.records import Rows, Sink
from antecede.sim.replay import Recorded, Replay, read_history
from antecede.sim.scenario import RecipeFacts, Scenario, find_recipe
from antecede.sim.workload import Synthetic
from antecede.trace.record import digest as digest_of

__all__ = ["RESTLESS", "Run", "simulate"]

RESTLESS = "stopped though everybody was served"
"""The note of a fault: nothing excused the run from becoming quiet. That no broker is left for somebody does."""

PATIENCE_US = 120_000_000
"""How long after the last planned publication a run may take to become quiet."""


class Run:
    """What a run leaves: rows (in memory unless a sink took them), totals, and how it ended."""

    def __init__(self, driver: Driver, quiet: bool) -> None:
        self.scenario = driver.scenario
        self.rows: Rows = driver.rows
        self._running = driver.records.running
        self._partition = ";".join(map(str, driver.layout.partitions))
        self.streamed = driver.records.sink is not None
        self.totals = driver.totals()
        self.naps = driver.naps
        """Who slept, from when to when (true time, microseconds)."""
        self.overflowed = {} if driver.costs is None else driver.costs.overflowed
        """Per receiver: frames that were lost because its buffer was full."""
        self.events = driver.events
        """Frames that arrived and timers that fired."""
        self.quiet = quiet
        self.testimony = driver.testimony
        """With `witness`: (process, position, message, payload) of everything delivered or published, in order."""
        self.end_us = driver.now_us
        self.notes = dict(driver.notes)
        """What the driver counted beside the trace: replayed causes it could not honour, publications without taker."""

    def body(self) -> dict[str, Any]:
        """The scenario as it is written beside the records: partitions name everybody, also who was not named."""
        return {**self.scenario.to_body(), "partition": self._partition}

    def summary(self) -> dict[str, Any]:
        """What `totals.json` holds: what each process sent, who slept when, and what buffers had no room for."""
        body: dict[str, Any] = {"processes": self.totals}
        if self.scenario.perturb:
            body["naps_us"] = {name: [list(nap) for nap in naps] for name, naps in sorted(self.naps.items())}
        if self.scenario.costs:
            body["overflowed"] = dict(sorted(self.overflowed.items()))
        return body

    def digest(self) -> str:
        """SHA-256 of the rows by process and step."""
        if self._running is not None:
            return self._running.hexdigest()
        if self.streamed:
            raise ValueError("the rows went to a sink and no digest was asked for: simulate(..., digest=True)")
        return digest_of(self.rows)


def simulate(
    scenario: Scenario,
    sink: Sink | None = None,
    *,
    build: Build | None = None,
    facts: RecipeFacts | None = None,
    digest: bool = False,
    history: list[Recorded] | None = None,
    measure: Measure | None = None,
    progress: Callable[[int], None] | None = None,
) -> Run:
    """Run a scenario to its end; rows stay in memory, or go to `sink` in batches.

    `digest`: keep a running digest of rows that go to a sink (it costs about as much as the run). `build` and `facts`
    put other machines in the place of the recipe's own. `history`: what is published, instead of what is drawn or read
    from the scenario's workload. `measure`: what says how many bytes a frame has, instead of the wire.
    `progress` is told how many messages are published.
    """
    facts = facts or find_recipe(scenario.builds)
    scenario.fits(facts)
    if build is None:
        from antecede.core.recipes import build as build_recipe

        build = build_recipe
    workload: Workload = Synthetic()
    count = scenario.count
    if history is None and scenario.workload:
        history = read_history(Path(scenario.workload), scenario.messages)
    if history is not None:
        workload, count = Replay(history), len(history)
    layout = lay_out(scenario, facts, scenario.busy_us(count))
    if layout.table is not EACH:
        makes: Any = build
        build = partial(makes, table=layout.table)
    driver = Driver(scenario, facts, layout, build, sink, digest, measure)
    driver.workload, driver.progress = workload, progress
    busy_until_us = scenario.first_us + scenario.busy_us(count)
    Faults(driver, busy_until_us).begin()
    workload.begin(driver)
    if scenario.witness:
        driver.watch()
    limit_us = busy_until_us + PATIENCE_US
    if history is not None:  # a replay waits for deliveries, so the network sets its pace
        limit_us += count * 4 * driver.settings.retry_us
    if scenario.limit_s is not None:
        limit_us = int(scenario.limit_s * 1_000_000)
    with collecting_rarely():
        while quiet := driver.loop(limit_us):
            if not workload.idle(driver.now_us):
                break
    for process in driver.all:
        if process.alive:
            driver.records.note(process, "end", driver.now_us, reason="quiet" if quiet else "stopped")
    driver.records.flush()
    if not quiet and scenario.limit_s is None and _everybody_is_served(driver):
        driver.count(RESTLESS)
    return Run(driver, quiet)


def _everybody_is_served(driver: Driver) -> bool:
    """Whether each living subscriber has a living broker to attach to. Who has none waits for one to come back."""
    living = [process for process in driver.all if process.alive]
    brokers = {process.name: process.groups for process in living if process.role == "broker"}
    table = driver.layout.table
    return all(table.carrying(brokers, process.filters) for process in living if process.role == "subscriber")
