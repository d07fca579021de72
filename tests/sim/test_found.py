"""Members that find the view by themselves: runs end when all know who is there, and rows tell what happened."""

from __future__ import annotations

import pytest

from antecede.core.membership.wrapper import Managed
from antecede.sim.found import UNHEARD
from antecede.sim.run import Run, simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check


def judged(**knobs: object) -> Run:
    run = simulate(Scenario(membership="swim", **knobs))  # type: ignore[arg-type]
    report = check(run.rows, scenario=run.body())
    assert report.clean and not report.unknown_tails, report.findings[:3]
    assert UNHEARD not in run.notes
    return run


def rows(run: Run, kind: str) -> dict[str, tuple[int, str | None]]:
    """Process -> (when, reason) of its last row of a kind."""
    return {row[1]: (row[14], row[9]) for row in run.rows if row[5] == kind}


@pytest.mark.parametrize("recipe", ["solicit", "graph", "home", "cbcast"])
def test_a_run_becomes_quiet_once_all_know_who_is_there(recipe: str) -> None:
    deadline_ms = None if recipe == "cbcast" else (300.0, 600.0)
    run = judged(recipe=recipe, crash=0.4, restart=0.5, deadline_ms=deadline_ms, loss=0.05, seed=5)
    assert run.quiet and rows(run, "crash") and rows(run, "restart")
    kinds = {kind for sent in run.totals.values() for kind in sent}
    assert {"ping", "pong", "sync"} <= kinds
    assert run.end_us > max(at_us for at_us, _ in rows(run, "crash").values()) + 300_000, "that takes time"


def test_the_same_seed_gives_the_same_rows() -> None:
    scenario = Scenario(recipe="home", membership="swim", crash=0.3, join=0.3, leave=0.3, deadline_ms=(200, 400))
    assert simulate(scenario).digest() == simulate(scenario).digest()


def test_after_a_long_partition_the_smaller_side_comes_back_under_new_names() -> None:
    run = judged(
        recipe="solicit", brokers=5, subscribers=0, partition="A,B|C,D,E@300-6000", deadline_ms=(200, 400), messages=60
    )
    crashed = rows(run, "crash")
    assert {name: reason for name, (_, reason) in crashed.items()} == {"A": "expelled", "B": "expelled"}
    assert set(rows(run, "restart")) == {"A.1", "B.1"}
    assert set(rows(run, "end")) == {"A.1", "B.1", "C", "D", "E"}
    assert run.notes["expelled"] == 2


def test_subscribers_move_by_themselves() -> None:
    moved = 0
    for seed in range(4):
        run = judged(recipe="home", crash=0.3, restart=0.0, brokers=5, groups="G1=A,B,C,D,E", seed=seed,
                     deadline_ms=(200, 400))  # fmt: skip
        crashed = {name for name in rows(run, "crash") if name in "ABCDE"}
        moves = [(row[14], row[15]) for row in run.rows if row[5] == "move"]
        moved += len(moves)
        assert all(to not in crashed or rows(run, "crash")[to][0] > at_us for at_us, to in moves)
    assert moved


def test_leavers_say_so_and_are_not_suspected() -> None:
    run = judged(recipe="solicit", leave=0.5, messages=200, deadline_ms=(200, 400))
    left = rows(run, "leave")
    assert len(left) > 2 and run.notes["left"] == len(left)
    assert {name: reason for name, (_, reason) in rows(run, "crash").items()} == dict.fromkeys(left, "left")
    assert not rows(run, "restart"), "who left does not come back"


def test_newcomers_join_through_their_contacts() -> None:
    run = judged(recipe="graph", join=0.5, messages=200, deadline_ms=(200, 400))
    begun = {row[1] for row in run.rows if row[5] == "join"}
    assert {"E", "S7"} <= begun and run.quiet


def test_when_all_have_crashed_the_first_to_come_back_begins_alone() -> None:
    for seed in range(3):
        run = judged(recipe="cbcast", crash=1.0, restart=1.0, seed=seed, messages=30)
        assert run.quiet and set(rows(run, "end")) == set(rows(run, "restart"))


def test_machines_inside_are_the_recipes_own() -> None:
    from antecede.core.recipes import build
    from antecede.sim.process import Process

    made = []

    def watched(*args: object, **more: object) -> object:
        made.append(build(*args, **more))  # type: ignore[arg-type]
        return made[-1]

    run = simulate(Scenario(membership="swim", brokers=2, subscribers=0, messages=3, deadline_ms=(100, 200)),
                   build=watched)  # type: ignore[arg-type] # fmt: skip
    assert run.quiet and len(made) == 2 and not any(isinstance(machine, Managed) for machine in made)
    assert Process("A", "member", made[0], (), 0).admits is None
