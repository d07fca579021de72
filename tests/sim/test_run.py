"""One seed decides a run: equal rows and digest, twice, in another process, whatever PYTHONHASHSEED says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from antecede.core.recipes import RECIPES
from antecede.sim import run as module
from antecede.sim.draw import draw
from antecede.sim.replay import order_history
from antecede.sim.run import RESTLESS, Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.record import Row
from antecede.trace.witness import witness
from tests.sim.echo import FLAT, HOME, TWO_TIERS, Facts, build

ROOT = Path(__file__).resolve().parents[2]
FAULTS: dict[str, Any] = {
    "loss": 0.1, "duplicate": 0.1, "spike": 0.05, "crash": 0.4, "restart": 0.7, "skew_ms": 10, "move": 1.0,
    "deadline_ms": (50, 200), "partition": "A,B|C,D@500-700", "declare": 0.3, "messages": 60,
}  # fmt: skip


def run(facts: Facts = TWO_TIERS, **knobs: Any) -> Run:
    return simulate(Scenario(recipe=facts.name, **knobs), build=build, facts=facts)


@pytest.mark.parametrize("facts", [TWO_TIERS, FLAT, HOME])
def test_the_same_seed_gives_the_same_rows(facts: Facts) -> None:
    first, second = run(facts, seed=5, **FAULTS), run(facts, seed=5, **FAULTS)
    assert first.rows == second.rows and first.totals == second.totals
    assert first.digest() == second.digest() != run(facts, seed=6, **FAULTS).digest()


def test_another_hash_seed_changes_nothing() -> None:
    code = (
        "from tests.sim.test_run import FAULTS, HOME, TWO_TIERS, run\n"
        "print(run(TWO_TIERS, seed=5, **FAULTS).digest(), run(HOME, seed=5, **FAULTS).digest())"
    )
    here = f"{run(TWO_TIERS, seed=5, **FAULTS).digest()} {run(HOME, seed=5, **FAULTS).digest()}"
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    for hash_seed in ("0", "42"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment, cwd=ROOT, check=True
        )
        assert out.stdout.strip() == here


def test_rows_of_a_process_are_contiguous_and_its_clock_only_advances() -> None:
    steps: dict[str, int] = {}
    clocks: dict[str, int] = {}
    for row in run(seed=3, **FAULTS).rows:
        process, step, at_us, true_us = row[1], row[3], row[4], row[14]
        assert step == steps.get(process, 0)
        steps[process] = step + 1
        assert at_us >= clocks.get(process, 0)
        clocks[process] = at_us
        assert abs(at_us - true_us) <= 10_000


def test_every_process_ends_or_has_crashed() -> None:
    rows = run(seed=3, **FAULTS).rows
    last = {row[1]: row for row in rows}
    first = {row[1]: row for row in reversed(rows)}
    assert {row[5] for row in last.values()} == {"end", "crash"}
    assert all(row[9] == "quiet" for row in last.values() if row[5] == "end")
    born = [name for name in first if "." in name]
    assert born and all(first[name][5] == "restart" and last[name.partition(".")[0]][5] == "crash" for name in born)


def test_a_run_that_does_not_become_quiet_is_stopped() -> None:
    stopped = run(seed=3, messages=50, limit_s=0.3)
    assert not stopped.quiet and {row[9] for row in stopped.rows if row[5] == "end"} == {"stopped"}


def test_a_run_must_become_quiet_unless_somebody_waits_for_a_broker_and_none_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "PATIENCE_US", 0)
    restless = run(seed=3, messages=50)
    assert not restless.quiet and restless.notes[RESTLESS] == 1
    assert RESTLESS not in run(seed=3, messages=50, limit_s=0.3).notes, "whoever sets a limit means it"
    monkeypatch.undo()
    deserted = simulate(draw(818181, "home", 6485))
    assert not deserted.quiet and RESTLESS not in deserted.notes
    dead = {row[1] for row in deserted.rows if row[5] == "crash"}
    assert dead >= {row[1] for row in deserted.rows if row[2] == "broker"}


def test_without_faults_everybody_gets_everything_once() -> None:
    rows = run(FLAT, messages=50).rows
    published = [row[6] for row in rows if row[5] == "publish"]
    delivered = [(row[1], row[6]) for row in rows if row[5] == "deliver"]
    assert len(published) == 50 and len(set(delivered)) == len(delivered) == 50 * 9


def test_a_sink_gets_the_same_rows_in_batches() -> None:
    kept = run(seed=5, **FAULTS)
    streamed: list[tuple[Any, ...]] = []
    scenario = Scenario(recipe="echo", seed=5, **FAULTS)
    result = simulate(scenario, streamed.extend, build=build, facts=TWO_TIERS, digest=True)
    assert streamed == kept.rows and result.rows == [] and result.digest() == kept.digest()
    with pytest.raises(ValueError, match="digest=True"):
        simulate(scenario, streamed.extend, build=build, facts=TWO_TIERS).digest()


def test_totals_add_up_with_what_arrives_when_nothing_is_lost() -> None:
    result = run(FLAT, messages=20)
    sent = sum(kinds["data"]["frames"] for kinds in result.totals.values() if "data" in kinds)
    size = sum(kinds["data"]["bytes"] for kinds in result.totals.values() if "data" in kinds)
    arrived = [row for row in result.rows if row[5] == "arrive"]
    assert sent == len(arrived) == result.events
    assert size == sum(row[16] for row in arrived) > 0


@pytest.mark.parametrize("declare", [0.0, 0.5])
def test_witness_payloads_name_what_was_seen(declare: float) -> None:
    result = run(messages=30, witness=True, seed=2, declare=declare)
    payloads = {message: payload for _, _, message, payload in result.testimony}
    told = [(process, message) for process, _, message, _ in result.testimony]
    assert told == [(row[1], row[6]) for row in result.rows if row[5] in ("publish", "deliver")]
    seen: dict[str, list[str]] = {}
    for row in result.rows:
        mine = seen.setdefault(row[1], [])
        if row[5] == "publish":
            mark, *named = payloads[row[6]].decode().split()
            own = [name for name in mine if name.startswith(f"{row[1]}:")][-1:]
            assert mark == "saw" and (named == mine if row[10] is None else set(named) == {*row[10], *own})
        if row[5] in ("publish", "deliver"):
            mine.append(row[6])


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_payloads_alone_show_no_inversion(recipe: str) -> None:
    facts = RECIPES[recipe]
    shortest = 200 if facts.deadlines == "same" else 80
    deadline_ms = None if facts.deadlines in ("none", "lifetime") else (shortest, 200)
    for seed in range(3):
        scenario = Scenario(recipe=recipe, seed=seed, witness=True, loss=0.1, duplicate=0.1, spike=0.05, move=0.5,
                            deadline_ms=deadline_ms, messages=40)  # fmt: skip
        findings = witness(simulate(scenario).testimony)
        assert findings == []


def test_whoever_watches_is_told_what_is_published_and_what_is_in_memory_needs_no_wire() -> None:
    told: list[int] = []
    run = simulate(Scenario(messages=7), progress=told.append, measure=lambda frame: (1, 0))
    assert told == [1, 2, 3, 4, 5, 6, 7]
    assert all(total["bytes"] == total["frames"] for kinds in run.totals.values() for total in kinds.values())
    measured = simulate(Scenario(messages=7))
    bare, full = ([_unsized(row) for row in one.rows] for one in (run, measured))
    assert bare == full and run.rows != measured.rows


def test_a_history_in_memory_is_replayed() -> None:
    history = order_history(["q", "a"], ["x", "y"], [[], ["q"]], None, "here")
    rows = [Row._make(row) for row in simulate(Scenario(loss=0.2), history=history).rows]
    assert [(row.message, row.after) for row in rows if row.kind == "publish"] == [("A:1", ()), ("B:1", ("A:1",))]


def _unsized(row: Sequence[Any]) -> Row:
    return Row._make(row)._replace(bytes=None, control_bytes=None)
