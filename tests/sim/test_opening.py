"""The opening page: what it shows is what the runs did, it fits 80 columns, and needs nothing but Python."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from antecede.sim.opening import WIDTH, acts, main, tell
from antecede.trace.diagram import ASCII, BOX

ROOT = Path(__file__).parents[2]


def test_the_three_acts_are_what_they_say() -> None:
    gossip, causal, prompt = acts()
    assert {a.scenario.seed for a in (gossip, causal, prompt)} == {345}
    assert gossip.report.counts["inversion"] == 1 and causal.report.clean and prompt.report.clean
    assert [line.process for line in gossip.picture.lines if line.findings] == ["D", "D"]
    assert gossip.left_out == causal.left_out == []
    assert prompt.left_out == [("where do we meet?", "Eve", "late")]
    for act in (gossip, causal, prompt):  # in all three the same copy is lost, and only that one
        first = [(line.process, line.message[0]) for line in act.picture.lines if line.peer and line.sign != "asks"][:5]
        assert first == [("C", "A"), ("B", "A"), ("D", "B"), ("C", "B"), ("A", "B")]


def test_it_points_at_lines_that_are_there() -> None:
    page = list(tell())
    told = "\n".join(page)
    assert "Look at Eve, lines 5 and 9: the answer came before its question." in told
    assert "by causal order: 1 inversion, 1 gap." in told and told.count("by causal order: clean.") == 2
    assert re.search(r"^ +9 .*the question after the answer!$", told, flags=re.MULTILINE)
    assert re.search(
        r"^ +8 .*asks Bob for the question$", told, flags=re.MULTILINE
    ) and "asked for (8)" in told.replace("\n ", "")
    assert "the question is left out: late" in told and '"where do we meet?" to Eve: late' in told


@pytest.mark.parametrize("signs", [BOX, ASCII])
def test_it_fits_a_terminal(signs: object) -> None:
    assert max(map(len, tell(signs=signs))) <= WIDTH  # type: ignore[arg-type]


def test_it_is_written_as_the_stream_can_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    main(plain)
    plain.flush()
    shown = plain.buffer.getvalue().decode("ascii")  # type: ignore[attr-defined]
    assert "|---Q--->*" in shown and "\x1b" not in shown
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    main(terminal)
    terminal.flush()
    assert b"\x1b[1;31m" in terminal.buffer.getvalue()  # type: ignore[attr-defined]


def test_it_needs_nothing_but_python() -> None:
    """`-S`: no site packages, as on a machine where nothing is installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, "-S", "-m", "antecede.sim.opening"],
        env=environment, capture_output=True, text=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.splitlines() == list(tell())


def test_the_readme_shows_its_beginning() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    (shown,) = re.findall(r"^```text\n(Ann asks.*?)^```$", readme, flags=re.MULTILINE | re.DOTALL)
    assert shown.splitlines() == list(tell())[: shown.count("\n")] and "Look at Eve" in shown


def test_a_reader_may_leave() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    page = subprocess.Popen(
        [sys.executable, "-m", "antecede.sim.opening"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert page.stdout is not None and page.stderr is not None
    page.stdout.close()
    assert page.stderr.read() == b"" and page.wait() == 0
    page.stderr.close()
