"""What a line of the demo's tables adds up, and the command that replays a run."""

from __future__ import annotations

import shlex

from antecede.cli import weathers
from antecede.cli.weathers import Line, command, every_weather, fill, in_the_storm, waits_us
from antecede.core.recipes import RECIPES
from antecede.sim.scenario import Scenario
from antecede.trace.report import Report
from tests.trace.tables import rows


def test_every_recipe_has_a_line_in_the_storm_and_one_or_two_in_each_weather() -> None:
    assert [line.recipe for line in in_the_storm(RECIPES)] == [*RECIPES]
    lines = list(every_weather(RECIPES))
    assert {(line.recipe, line.weather) for line in lines} == {(r, w) for r in RECIPES for w in weathers.WEATHERS}
    assert [line.deadlines for line in lines if line.recipe == "home"] == [True] * 3 + [False] * 3


def test_a_line_is_filled_and_measured() -> None:
    gossip, causal = (Line(name, "", "storm", False) for name in ("pbcast", "cbcast"))
    for line in (gossip, causal):
        fill(line, range(1), measured=True)
        assert sum(line.fates.values()) == line.pairs > 0 and line.bytes > line.pairs and line.verdict == "clean"
    assert gossip.inverted > 0 == causal.inverted and causal.waited_us > gossip.waited_us


def test_waiting_is_from_the_first_arrival_to_delivery() -> None:
    table = """
    q 10 arrive p:1 from=p
    q 15 arrive p:1 from=p
    q 40 deliver p:1
    q 50 deliver q:1
    """
    assert list(waits_us(rows(table))) == [30, 0]


def test_a_verdict_names_what_was_not_looked_for() -> None:
    line = Line("colour", "", "calm", True)
    line.add(Scenario(), Report(exempt=("idle",)))
    assert line.verdict == "clean (not judged: idle)"


def test_records_that_were_cut_short_are_not_clean() -> None:
    line = Line("solicit", "", "calm", True)
    line.add(Scenario(), Report(unknown_tails=["A"]))
    assert line.verdict == "1 cut short" and len(line.replay) == 1


def test_the_command_names_what_is_not_as_usual() -> None:
    words = shlex.split(
        command(Scenario(recipe="home", loss=0.3, deadline_ms=(200.0, 400.0), partition="A,B|C,D@400-900"))
    )
    assert words[:4] == ["antecede", "simulate", "--recipe", "home"] and "--seed" not in words
    assert words[words.index("--deadline-ms") + 1] == "200:400" and "A,B|C,D@400-900" in words
