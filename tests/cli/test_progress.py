"""The line: silent at first and without a person, then what is done, rows so far and the time left."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

import pytest

from antecede.cli import progress
from antecede.cli.progress import Line, watched_spark, span, ui_settings, watched


def line() -> tuple[Line, list[str], list[float]]:
    shown: list[str] = []
    now = [0.0]
    return Line("starting", shown.append, shown.append, lambda: now[0]), shown, now


def test_it_is_silent_for_two_seconds_then_says_stage_rows_and_time_left() -> None:
    told, shown, now = line()
    told.far(1, 8)
    assert shown == []
    now[0] = 3
    told.doing("ordered")
    now[0] = 7
    told.far(2, 8, 1_204_331)
    told.far(8, 8)
    told.far(0, 0)
    told.text("12 held")
    assert shown == [
        "ordered ...",
        "ordered: 2 of 8 tasks, 1,204,331 rows, about 12 s left",
        "ordered: 8 of 8 tasks",
        "ordered ...",
        "ordered: 12 held",
    ]
    told.note("for good")
    assert shown[-1] == "for good"


def test_times_for_people() -> None:
    assert [span(s) for s in (0.2, 99, 150, 5000, 7000)] == ["1 s", "99 s", "2 min", "83 min", "2 h"]


def test_nobody_watches_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with watched("reading") as told:
        told.far(1, 2)
        told.note("unheard")
    assert capsys.readouterr() == ("", "") and ui_settings(None) == {}


class Terminal:
    """Standard error where a person sits."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...


def test_a_person_sees_the_line_and_the_page_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    class Spark:
        class _sc:
            uiWebUrl = "http://127.0.0.1:4040"

    asked: dict[str, Any] = {}

    def session(master: str | None, *, app: str, settings: dict[str, Any]) -> Any:
        asked.update(master=master, app=app, **settings)
        return Spark()

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "QUIET_S", 0.0)
    monkeypatch.setattr("antecede.spark.session.session", session)
    monkeypatch.setattr("antecede.spark.jobs.following", lambda spark, told: nullcontext(told(progress_of_one())))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with watched_spark("antecede audit", "local[2]", doing="judging"):
        pass
    assert asked == {"master": "local[2]", "app": "antecede audit", "spark.ui.enabled": True}
    assert "Spark shows its work at http://127.0.0.1:4040" in screen.text and "judging: 1 of 2 tasks" in screen.text
    assert ui_settings("sc://host") == {}, "a Connect server has its own page"


def progress_of_one() -> Any:
    from antecede.spark.jobs import Far

    return Far(1, 2, 30)
