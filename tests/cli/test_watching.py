"""The line of commands on Spark: what is done, tasks, rows and time left; the page of Spark; nothing for programs."""

from __future__ import annotations

import io
import logging
import sys
import time
from contextlib import nullcontext
from typing import Any

import pytest

from antecede.cli import progress, watching
from antecede.cli.watching import Line, span, ui_settings, watched, watched_spark
from antecede.spark.jobs import Far


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_it_says_stage_tasks_rows_and_time_left() -> None:
    line = Line("starting Spark", Terminal())
    assert line.line("", 3.2) == "starting Spark: 3 s"
    line.doing("ordered")
    line.far(Far(0, 8))
    line.far(Far(2, 8, 1_204_331))
    assert line.line("", 4.0) == "ordered: 2 of 8 tasks, 1,204,331 rows, about 12 s left"
    line.far(Far(1, 4, 10))  # other tasks: these say nothing yet
    assert line.line("", 4.0) == "ordered: 1 of 4 tasks, 10 rows"
    line.far(Far(text="60 rows in, 12 held"))
    assert line.line("", 4.0) == "ordered: 60 rows in, 12 held"


def test_times_for_people() -> None:
    assert [span(s) for s in (0.2, 99, 150, 5000, 7000)] == ["1 s", "99 s", "2 min", "83 min", "2 h"]


def test_nobody_watches_nothing_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    with watched("reading") as line:
        line.far(Far(1, 2))
        line.note("unheard")
    assert capsys.readouterr() == ("", "") and ui_settings(None) == {}


def test_while_this_process_waits_the_line_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    with watched("starting Spark"):
        until = time.monotonic() + 60
        while "starting Spark: 1 s" not in screen.getvalue() and time.monotonic() < until:
            time.sleep(0.05)
    assert "starting Spark: 1 s" in screen.getvalue() and screen.getvalue().endswith(progress.CLEAR)


def test_what_the_bridge_to_java_logs_of_an_interruption_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    def log(path: str) -> None:
        root = logging.getLogger()
        root.handle(root.makeRecord("root", logging.ERROR, path, 1038, "KeyboardInterrupt while sending", (), None))

    with watching.quiet_py4j():
        log("/x/site-packages/py4j/java_gateway.py")
        log("/x/mine.py")
    log("/x/site-packages/py4j/java_gateway.py")
    assert [record.pathname for record in caplog.records] == ["/x/mine.py", "/x/site-packages/py4j/java_gateway.py"]


def test_a_person_sees_the_line_and_the_page_of_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    class Spark:
        class _sc:
            uiWebUrl = "http://127.0.0.1:4040"

    asked: dict[str, Any] = {}

    def opened(master: str | None, app: str, settings: dict[str, Any], small: bool) -> Any:
        asked.update(master=master, app=app, small=small, **settings)
        return Spark()

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "PATIENCE_S", 0.0)
    monkeypatch.setattr(progress, "EVERY_S", 0.0)
    monkeypatch.setattr("antecede.spark.sessions.opened", opened)
    monkeypatch.setattr("antecede.spark.adopting.register", lambda spark, formats: spark)
    monkeypatch.setattr("antecede.spark.jobs.following", lambda spark, told: nullcontext(told(Far(1, 2, 30))))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    with watched_spark("antecede audit", "local[2]", doing="judging", small=True):
        pass
    assert asked == {"master": "local[2]", "app": "antecede audit", "small": True, "spark.ui.enabled": True}
    assert "Spark shows its work at http://127.0.0.1:4040\n" in screen.getvalue()
    assert "judging: 1 of 2 tasks, 30 rows" in screen.getvalue()
    assert watching.ui_settings("sc://host") == {}, "a Connect server has its own page"
