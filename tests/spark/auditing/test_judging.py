"""The steps of the audit, run without Spark, say what the oracle says: of every recipe, with faults planted too."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.recipes import RECIPES
from antecede.errors import InputError
from antecede.sim.draw import draw
from antecede.sim.run import simulate
from antecede.trace.check import check
from antecede.trace.record import Row
from antecede.trace.report import Report
from tests.papers.test_home_queues import drawn
from tests.spark.auditing.rig import Result, audited, cut_up, renumbered, with_faults
from tests.trace.causal import causal_run
from tests.trace.tables import rows
from tests.trace.test_verdicts import SELECTING

FIVE = ("inversion", "gap", "overdue", "duplicate", "stuck")


def same(report: Report, result: Result) -> None:
    """The five verdicts, and lateness in doubt, are the same set."""
    want = {(f.verdict, f.process, f.message, f.other, f.step) for f in report.findings if f.verdict in FIVE}
    found = result.get("finding", [])
    got = {(r["verdict"], r["process"], r["message"], r["other"], r["step"]) for r in found}
    assert got == want and len(found) == len(want)
    doubts = {(f.process, f.message, f.step) for f in report.in_doubt if f.verdict == "overdue"}
    assert {(r["process"], r["message"], r["step"]) for r in result.get("doubt", [])} == doubts
    assert sorted(r["process"] for r in result.get("tail", [])) == sorted(report.unknown_tails)
    assert sum(r["rows"] or 0 for r in result["counts"] if r["verdict"] is None) == report.rows
    assert sum(r["messages"] or 0 for r in result["counts"]) == report.messages


def simulated(seed: int, recipe: str, index: int) -> tuple[list[Row], float]:
    scenario = draw(seed, recipe, index)
    run: list[Any] = []
    simulate(scenario, run.extend)
    return [Row._make(row) for row in run], scenario.skew_ms


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_recipe_under_every_fault(recipe: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    judged = 0
    for index in range(12):
        if index >= 4 and judged > 20:  # some draws are so short that few faults find a place
            break
        run, skew_ms = simulated(3303, recipe, index)
        for attempt in range(3):
            dice = random.Random(f"{recipe} {index} {attempt}")
            mine = run if attempt == 0 else with_faults(run, dice)
            try:
                report = check(mine, scenario={"skew_ms": skew_ms})
            except InputError:
                continue  # the planted faults contradict each other
            scratch = tmp_path_factory.mktemp("scratch")
            same(report, audited(cut_up(mine, dice), scratch, dice, skew_us=round(1000 * skew_ms)))
            judged += len(report.findings)
    assert judged > 20, "faults were planted, so something must have been found"


@pytest.mark.parametrize("seed", range(6))
def test_queues_of_applications_and_later_lives(seed: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Own messages, what was left in a queue for too long, what a broker had no room for."""
    run, judged = drawn(seed), 0
    for attempt in range(5):
        dice = random.Random(f"{seed} {attempt}")
        mine = run if attempt == 0 else with_faults(run, dice)
        try:
            report = check(mine, scenario={"recipe": "home"}, idle=False)
        except InputError:
            continue
        assert attempt or report.clean
        same(report, audited(cut_up(mine, dice), tmp_path_factory.mktemp("scratch"), dice))
        judged += len(report.findings)
    assert judged


@pytest.mark.slow
@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_a_large_run_of_every_recipe(recipe: str, tmp_path: Path) -> None:
    run, skew_ms = simulated(3303, recipe, 49)
    dice = random.Random(recipe)
    mine = with_faults(run, dice)
    report = check(mine, scenario={"skew_ms": skew_ms})
    same(report, audited(cut_up(mine, dice), tmp_path, dice, skew_us=round(1000 * skew_ms)))


@settings(max_examples=60)
@given(st.integers(0, 10**9), st.sampled_from([None, 50_000, 10**9]))
def test_faults_in_runs_that_are_right_by_construction(
    tmp_path_factory: pytest.TempPathFactory, seed: int, deadline_us: int | None
) -> None:
    dice = random.Random(seed)
    mine = with_faults(causal_run(seed, messages=30, deadline_us=deadline_us), dice)
    try:
        report = check(mine)
    except InputError:
        return
    same(report, audited(cut_up(mine, dice), tmp_path_factory.mktemp("scratch"), dice))


THROUGH_OTHERS = """
p 0 join G1,G2
q 0 join G1,G2
r 0 join G2
p 10 publish p:1 G2
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1
q 40 publish q:2 G2 after=q:1
r 50 arrive q:2 from=q
r 50 deliver q:2
r 60 arrive p:1 from=p
r 60 deliver p:1
p 90 end stopped
q 90 end stopped
r 90 end stopped
"""


def test_an_ancestor_behind_a_message_for_others_is_found(tmp_path: Path) -> None:
    run = rows(THROUGH_OTHERS)
    result = audited(cut_up(run, random.Random(1)), tmp_path)
    found = {(r["verdict"], r["process"], r["message"], r["other"], r["step"]) for r in result["finding"]}
    assert ("inversion", "r", "p:1", "q:2", 4) in found
    same(check(run), result)


FOREIGN_COPY = """
A 0 join G1
B 0 join G1
c 1 join G1 from=A
c 2 move from=B
A 10 publish A:1 G1 due=100
B 20 arrive A:1 from=A
B 20 deliver A:1
c 30 arrive A:1 from=B
c 30 arrive A:1 from=A
c 30 discard A:1 foreign
A 400 end quiet
B 400 end quiet
c 400 end quiet
"""


def test_a_copy_that_is_foreign_lets_go_of_no_other_copy(tmp_path: Path) -> None:
    run = rows(FOREIGN_COPY)
    result = audited(cut_up(run, random.Random(1)), tmp_path)
    assert [(r["verdict"], r["step"]) for r in result["finding"]] == [("stuck", 2)]
    same(check(run), result)


RESTARTED = """
p 0 join G1
r 0 join G1
p 10 publish p:1 G1 due=300
r 20 arrive p:1 from=p
r 20 restart
p 400 end quiet
r 400 end quiet
"""


def test_a_restart_drops_what_was_held_only_after_a_crash(tmp_path_factory: pytest.TempPathFactory) -> None:
    for text, stuck in ((RESTARTED, 1), (RESTARTED.replace("r 20 restart", "r 20 crash\nr 20 restart"), 0)):
        run = rows(text)
        result = audited(cut_up(run, random.Random(1)), tmp_path_factory.mktemp("scratch"))
        assert [r["verdict"] for r in result["finding"]] == ["stuck"] * stuck
        same(check(run), result)


def test_verdicts_a_recipe_does_not_promise_are_left_out(tmp_path: Path) -> None:
    run = rows(THROUGH_OTHERS)
    result = audited(cut_up(run, random.Random(1)), tmp_path, exempt=["gap"])
    assert {r["verdict"] for r in result["finding"]} == {"inversion"}


def test_two_runs_in_one_table_are_two_domains(tmp_path: Path) -> None:
    one = rows(THROUGH_OTHERS)
    two = [row._replace(run="other") for row in one]
    mixed = [row for pair in zip(one, two, strict=True) for row in pair]
    result = audited(cut_up(mixed, random.Random(1)), tmp_path)
    assert sorted((r["run"], r["verdict"]) for r in result["finding"]) == sorted(
        (run, verdict) for run in ("test", "other") for verdict in ("gap", "inversion")
    )


def reasons(result: Result) -> list[str]:
    return [row["text"] for row in result.get("quarantine", [])]


def test_steps_that_do_not_run_from_zero(tmp_path: Path) -> None:
    run = rows("p 0 join G1\np 1 publish p:1 G1\np 2 publish p:2 G1\np 9 end quiet")
    del run[1]
    assert reasons(audited(cut_up(run, random.Random(1)), tmp_path)) == [
        "process p has 3 rows with steps up to 3; steps must run from 0 on, each once"
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "r 20 arrive p:1 from=p\nr 20 discard p:1 whatever\nr 90 end quiet",
            "discard never has the reason 'whatever'",
        ),
        ("r 20 end quiet\nr 30 arrive p:1 from=p", "process r has rows after step 1, which is its last"),
        ("r 20 crash\nr 30 arrive p:1 from=p\nr 90 end quiet", "process r has rows after step 1, which is its last"),
    ],
)
def test_what_no_process_can_say_is_set_aside(text: str, sentence: str, tmp_path: Path) -> None:
    run = rows(f"p 0 join G1\np 10 publish p:1 G1\np 90 end quiet\nr 0 join G1\n{text}")
    [reason] = reasons(audited(cut_up(run, random.Random(1)), tmp_path))
    assert reason.startswith(sentence)
    with pytest.raises(InputError):
        check(run)


def test_a_process_has_one_known_role(tmp_path: Path) -> None:
    run = rows("p 0 join G1\np 10 publish p:1 G1\np 90 end quiet\nr 0 join G1\nr 90 end quiet")
    run[-1] = run[-1]._replace(role="broker")
    [reason] = reasons(audited(cut_up(run, random.Random(1)), tmp_path))
    assert reason.startswith("process r has the role") and "broker" in reason and "member" in reason


def test_deliveries_of_what_nobody_published_are_counted(tmp_path: Path) -> None:
    run = renumbered(rows("p 0 join G1\np 1 arrive x:1 from=x\np 2 deliver x:1\np 9 end quiet"))
    result = audited(cut_up(run, random.Random(1)), tmp_path)
    assert sum(r["rows"] for r in result["counts"] if r["verdict"] == "unknown") == 2
    assert not result["finding"]


@pytest.mark.parametrize("where", ["where=x_!=_2", "", "where=x_>_2", "where=payload.y_in_(1,2)"])
def test_predicates_mean_what_they_mean_to_the_oracle(where: str, tmp_path: Path) -> None:
    run = rows(SELECTING.replace("where=x_!=_2", where) + "\n".join(f"{who} 9 end quiet" for who in "Bps"))
    dice = random.Random(1)
    same(check(run), audited(cut_up(run, dice), tmp_path, dice))
