"""The drawing is well-formed, says of every element whose message it is, and escapes what comes from records."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import pytest

from antecede.report.show.chosen import about, window
from antecede.report.show.layout import lay_out
from antecede.report.show.run import Run, run_of
from antecede.report.show.svg import drawing
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from tests.house import rules
from tests.report.show.stories import ANSWERED, MOVED, UNORDERED, shown
from tests.trace.causal import causal_run
from tests.trace.tables import rows

SVG = "{http://www.w3.org/2000/svg}"


def drawn(run: Run, **options: bool) -> str:
    return drawing(run, lay_out(run, window(run), run.report.findings if run.report is not None else []), **options)


@pytest.mark.parametrize("run", [shown(ANSWERED), shown(MOVED), run_of(causal_run(2, messages=50), None)])
def test_it_is_well_formed_and_every_step_is_there(run: Run) -> None:
    tree = Xml.fromstring(drawn(run))
    steps = [one for one in tree.iter(f"{SVG}g") if one.get("data-m")]
    assert len(steps) == len(window(run).lines)
    assert {one.get("data-m") for one in steps} == {line.message for line in window(run).lines}


def test_steps_say_what_happened() -> None:
    text = drawn(shown(ANSWERED))
    for said in (
        "p publishes p:1 at 0 ms", "r asks q for p:1", "q:1 comes to r from q", "r leaves p:1 out", "r delivers q:1 at",
    ):  # fmt: skip
        assert said.replace("0 ms", "0.0 ms") in text
    assert "p:1 expired" in text and "p:1?" in text and "crashes" not in text, "the crash is after the last step"


def test_a_finding_is_red_and_says_what_went_wrong() -> None:
    text = drawn(run_of(rows(UNORDERED), None, order="causal"))
    assert 'class="found"' in text and "p~:1 after q~:1" in text and 'class="halo bad"' in text
    assert 'class="found"' not in drawn(shown(UNORDERED))


def test_names_are_escaped_and_long_ones_shortened() -> None:
    told = [
        row._replace(process=row.process.replace("p", "<p&" + "x" * 40)) for row in rows("p 0 join G1\np 9 end quiet")
    ]
    mine = told[0]._replace(kind="publish", message=f"{told[0].process}:1", step=1, at_us=3)
    text = drawn(run_of([told[0], mine, told[1]._replace(step=2)], None))
    assert "<p&" not in text and "&lt;p&amp;" in text and "…" in text
    Xml.fromstring(text)


def test_alone_it_brings_its_style() -> None:
    assert "<style>" in drawn(shown(MOVED)) and "<style>" not in drawn(shown(MOVED), alone=False)


def test_the_picture_of_the_documents_is_what_the_command_draws() -> None:
    """docs/show.md says by which two commands docs/show.svg is made."""
    scenario = Scenario(recipe="pbcast", messages=8, brokers=1, subscribers=3, loss=0.2, seed=9)
    made = simulate(scenario)
    run = run_of(made.rows, made.body(), order="causal")
    assert run.report is not None
    text = drawing(run, lay_out(run, about(run, "S1~:2"), run.report.findings))
    assert text == (rules.ROOT / "docs" / "show.svg").read_text("utf-8"), "write it anew with the commands of show.md"
