"""The line for people: when it appears, what it says, and that programs never see it."""

from __future__ import annotations

import io

import pytest

from antecede.cli import progress as module
from antecede.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE_S", 0.0)
    monkeypatch.setattr(module, "EVERY_S", 0.0)


def test_a_person_sees_stage_count_and_time_left_and_then_nothing() -> None:
    stream = Terminal()
    with Progress("runs", 4, stream) as progress:
        progress.step("home, storm")
        progress.step("home, storm", 2)
    shown = stream.getvalue().split(module.CLEAR)
    assert shown[1].startswith("home, storm: 1 of 4 runs, about ") and shown[2].startswith("home, storm: 3 of 4 runs")
    assert shown[-1] == ""


def test_what_was_there_before_says_nothing_of_the_time_left() -> None:
    progress = Progress("scenarios", 100, Terminal())
    progress.begin(90)
    progress.step()
    assert progress.line("", 2.0) == "91 of 100 scenarios, about 18 s left"


def test_where_nobody_knows_the_total_the_time_so_far_is_said() -> None:
    progress = Progress("states", stream=Terminal())
    progress.at(5_000)
    assert progress.line("solicit", 3.2) == "solicit: 5,000 states, 3 s"
    progress.stage("processes judged", 3, 8)
    assert progress.line("", 1.0) == "3 of 8 processes judged"


def test_an_interruption_leaves_the_line_and_ends_it() -> None:
    stream = Terminal()
    with pytest.raises(KeyboardInterrupt), Progress("runs", 4, stream) as progress:
        progress.step()
        raise KeyboardInterrupt
    assert stream.getvalue().endswith(" left\n")


def test_programs_see_nothing() -> None:
    stream = io.StringIO()
    with Progress("runs", 4, stream) as progress:
        progress.step("home")
    assert stream.getvalue() == ""
