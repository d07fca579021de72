"""The oracle as a whole: a clean trace is clean, inversions agree with an even dumber twin, and it says what it saw."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import antecede
from antecede.core.recipes import RECIPES
from antecede.errors import InputError
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import EXEMPT, UNORDERED_RECIPES, check, exempt_of
from antecede.trace.parquet import write_run
from antecede.trace.record import Row
from tests.trace.causal import causal_run
from tests.trace.tables import found, rows, verdict

CLEAN = """
p 0 join G1
q 0 join G1
r 0 join G1
p 10 publish p:1 G1 due=100
q 20 arrive p:1 from=p
q 20 deliver p:1
q 30 publish q:1 G1 due=120
p 40 arrive q:1 from=q
p 40 deliver q:1
r 40 arrive q:1 from=q
r 50 arrive p:1 from=p
r 50 deliver p:1
r 50 deliver q:1
p 200 end quiet
q 200 end quiet
r 200 end quiet
"""


def test_a_clean_trace_is_clean() -> None:
    report = verdict(CLEAN)
    assert report.clean and report.findings == [] and report.pairs == 4 and report.fates["delivered"] == 4


def test_from_a_directory(tmp_path: Path) -> None:
    write_run(tmp_path, rows(CLEAN), scenario={"recipe": "solicit", "skew_ms": 0})
    assert check(tmp_path).to_json() == check(rows(CLEAN)).to_json()


def test_the_order_of_rows_in_the_file_does_not_matter() -> None:
    assert check(reversed(rows(CLEAN))).to_json() == check(rows(CLEAN)).to_json()


def test_inversion() -> None:
    swapped = CLEAN.replace("r 50 deliver p:1\nr 50 deliver q:1", "r 50 deliver q:1\nr 50 deliver p:1")
    assert ("inversion", "r", "p:1", "q:1") in found(swapped)


# --- faults planted anywhere in runs that are right by construction --------------------------------------------------


def renumbered(run: list[Row]) -> list[Row]:
    """Steps made contiguous again."""
    steps: dict[str, int] = {}
    out = []
    for row in run:
        out.append(row._replace(step=steps.setdefault(row.process, 0)))
        steps[row.process] += 1
    return out


def verdicts(run: list[Row]) -> set[str]:
    report = check(renumbered(run))
    assert sum(report.fates.values()) == report.pairs
    return {f.verdict for f in report.findings}


def one_of(run: list[Row], kind: str, dice: random.Random) -> int:
    return dice.choice([place for place, row in enumerate(run) if row.kind == kind])


seeds = st.integers(0, 10**9)


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from([None, 50_000, 500_000]))
def test_right_runs_are_clean(seed: int, deadline_us: int | None) -> None:
    report = check(causal_run(seed, messages=40, deadline_us=deadline_us))
    overdue = {"overdue"} if deadline_us == 50_000 else set()
    assert {f.verdict for f in report.findings} <= overdue
    assert report.fates["delivered"] == report.pairs == 120


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_delivery_taken_out_is_missed(seed: int) -> None:
    free, timed = (causal_run(seed, messages=30, deadline_us=d) for d in (None, 10**9))
    place = one_of(free, "deliver", random.Random(seed))
    assert verdicts(free[:place] + free[place + 1 :]) & {"undelivered", "gap"}
    assert verdicts(timed[:place] + timed[place + 1 :]) & {"stuck"}


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_a_delivery_put_off_is_seen(seed: int) -> None:
    """Moved to the end of its process: an inversion if something came after it there, else at least idle."""
    run = causal_run(seed, messages=30)
    place = one_of(run, "deliver", random.Random(seed))
    row = run[place]
    end = next(i for i, r in enumerate(run) if r.kind == "end" and r.process == row.process)
    moved = [*run[:place], *run[place + 1 : end], row._replace(true_us=run[end].true_us), *run[end:]]
    assert verdicts(moved) & {"inversion", "idle"}


@settings(max_examples=40, deadline=None)
@given(seeds, st.sampled_from(["late", "superseded", "duplicate", "expired", "foreign", "gone", "deadline"]))
def test_a_reason_made_up_is_false(seed: int, reason: str) -> None:
    run = causal_run(seed, messages=20, deadline_us=10**9)
    place = one_of(run, "deliver", random.Random(seed))
    kind = "deliver" if reason == "deadline" else "discard"
    planted = [*run[:place], run[place]._replace(kind=kind, reason=reason), *run[place + 1 :]]
    assert "false" in verdicts(planted)


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_an_arrival_hidden_is_not_explained(seed: int) -> None:
    run = causal_run(seed, messages=20)
    place = one_of(run, "arrive", random.Random(seed))
    assert "unexplained" in verdicts(run[:place] + run[place + 1 :])


IDLE = """
A 0 join G1
s 0 join G1 from=A
A 5 publish A:1 G2
A 10 publish A:2 G1
s 20 arrive A:2 from=A
s 30 deliver A:2
A 90 end quiet
s 90 end quiet
"""
"""It waits, though all that it is owed has come; but A:1, in another group, comes before."""


@pytest.mark.parametrize(
    ("scenario", "names"),
    [
        ({"recipe": "home", "grow": 2.0}, set()),
        ({"recipe": "home", "grow": 0.0}, {"s"}),
        ({"recipe": "graph", "grow": 2.0}, {"s"}),
        ({}, {"s"}),
    ],
)
def test_a_client_of_home_whose_filters_change_may_wait_for_a_number(scenario: dict[str, Any], names: set[str]) -> None:
    def idlers(trace: str) -> set[str]:
        return {f.process for f in check(rows(trace), scenario=scenario).findings if f.verdict == "idle"}

    assert idlers(IDLE) == names
    assert idlers(IDLE.replace("s ", "B ")) == {"B"}, "brokers are not excused"
    assert idlers(IDLE.replace("A 5 publish A:1 G2\n", "").replace("A:2", "A:1")) == {"s"}, "there is nothing before it"


def test_what_may_be_exempt() -> None:
    with pytest.raises(InputError, match="cannot exempt"):
        check(rows(CLEAN), exempt=["inversion"])
    with pytest.raises(InputError, match="cannot exempt"):
        check(rows(CLEAN), exempt=["nonsense"])
    with pytest.raises(InputError, match="partition 'A,B' does not read like"):
        check(rows(CLEAN), scenario={"partition": "A,B"})


UNORDERED = """
p 0 join G1
q 0 join G1
p 1 publish p~:1 G1 after=-
q 2 arrive p~:1 from=p
q 2 deliver p~:1
p 9 end quiet
q 9 end quiet
"""


@pytest.mark.parametrize("recipe", [name for name, recipe in RECIPES.items() if recipe.orders[0] != "none"])
def test_no_recipe_that_promises_order_gets_away_with_none_unasked(recipe: str) -> None:
    told = "p~:1 is published without order, which nobody asked for"
    assert [f.text for f in verdict(UNORDERED, scenario={"recipe": recipe}).findings] == [told]
    assert [f.text for f in verdict(UNORDERED, scenario={"recipe": recipe, "mix": "causal=1,fifo=1"}).findings] == [
        told
    ]
    assert verdict(UNORDERED, scenario={"recipe": recipe, "mix": "causal=1,none=1"}).clean


def test_recipes_without_order_are_those_that_say_so() -> None:
    assert {name for name, recipe in RECIPES.items() if recipe.orders[0] == "none"} == set(UNORDERED_RECIPES)
    assert all(verdict(UNORDERED, scenario={"recipe": recipe}).clean for recipe in UNORDERED_RECIPES)
    assert verdict(UNORDERED).clean, "records alone say what was asked for"


def test_what_promises_less_is_exempt_from_nothing_else() -> None:
    """A weaker order is told by each publication, and whom gossip misses it is lost to: neither needs an exemption."""
    assert not set(EXEMPT) & {name for name, recipe in RECIPES.items() if recipe.orders[0] != "causal" or recipe.chance}


def test_a_stream_without_a_record_is_an_unknown_tail(tmp_path: Path) -> None:
    write_run(tmp_path, causal_run(1, messages=5))
    assert check(tmp_path).clean
    (tmp_path / "records-z.arrow").write_bytes(b"\xff\xff\xff\xff\x10")  # killed while its first bytes were written
    report = check(tmp_path)
    assert not report.clean and report.unknown_tails == ["records-z.arrow"] and not report.findings


@pytest.mark.parametrize("skew_ms", ["abc", [1], float("nan"), float("inf"), -5, 1e308, True])
def test_a_skew_that_is_no_time(skew_ms: object) -> None:
    with pytest.raises(InputError, match="skew_ms is"):
        check(rows(CLEAN), scenario={"skew_ms": skew_ms})


@pytest.mark.parametrize("partition", ["A|B@0-inf", "A|B@0-nan", "A|B@9", "A"])
def test_a_partition_that_is_none(partition: str) -> None:
    with pytest.raises(InputError, match="does not read like"):
        check(rows(CLEAN), scenario={"partition": partition})


def test_a_run_in_memory_is_judged_with_its_scenario() -> None:
    run = simulate(Scenario(recipe="colour", messages=10, loss=0.1))
    assert check(run).exempt == ("idle",) and check(run).to_json() == check(run.rows, scenario=run.body()).to_json()
    assert antecede.check(antecede.simulate(antecede.Scenario(messages=5))).clean
    with pytest.raises(InputError, match="went to a sink"):
        check(simulate(Scenario(messages=5), lambda rows: None))


def test_every_pair_that_was_not_delivered_is_named() -> None:
    report = check(simulate(Scenario(messages=40, loss=0.3, deadline_ms=(30.0, 60.0))))
    assert len(report.left_out) == report.pairs - report.fates["delivered"] > 0
    assert Counter(fate for _, _, fate in report.left_out) == {
        fate: count for fate, count in report.fates.items() if count and fate != "delivered"
    }


def test_whoever_watches_is_told_how_far_it_is() -> None:
    told: list[tuple[str, int, int | None]] = []
    check(rows(CLEAN), watch=lambda *how: told.append(how))
    assert told[0] == ("rows read", 0, None) and told[-1] == ("processes judged", 2, 3)


def test_where_links_and_processors_take_time_less_is_judged() -> None:
    assert exempt_of({"recipe": "graph"}) == () and exempt_of({"recipe": "graph", "cpu_us": 0.0}) == ()
    assert "gap" in exempt_of({"recipe": "graph", "cpu_us": 5.0}) and exempt_of({}, "colour") == ("idle",)
    assert not {"inversion", "duplicate", "overdue"} & set(exempt_of({"recipe": "colour-eager", "buffer": 3}))
