"""A reader that closes the pipe changes neither what a command does nor how it ends."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from antecede import cli
from antecede.cli.output import fitted


@pytest.mark.parametrize(("words", "code"), [(["recipes"], 0), (["simulate", "--help"], 0), (["check", "nowhere"], 2)])
def test_a_reader_that_closes_the_pipe_changes_nothing(words: list[str], code: int) -> None:
    script = "import sys, time; from antecede.cli import main; sys.exit(main(sys.argv[1:]))"
    running = subprocess.Popen(
        [sys.executable, "-c", script, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    told = running.stderr.read()
    running.stderr.close()
    assert running.wait() == code and "Traceback" not in told and told.count("\n") == (code != 0)


def test_a_command_for_its_reader_ends_with_it() -> None:
    """A command that prints for ever stands in the place of `sub`."""
    script = """
import sys
from antecede import cli

def forever():
    while True:
        print("again", flush=True)

cli.load = lambda name: forever
sys.exit(cli.main(["sub"]))
"""
    running = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None and running.stderr is not None
    assert running.stdout.readline() == "again\n"
    running.stdout.close()
    assert running.wait(60) == 0 and running.stderr.read() == ""
    running.stderr.close()


def test_what_was_found_counts_also_without_a_reader(tmp_path: Path) -> None:
    simulated = [
        "simulate",
        "--reading",
        "printed",
        "--messages",
        "60",
        "--loss",
        "0.1",
        "--out",
        str(tmp_path / "run"),
    ]
    assert cli.main(simulated) == 1
    running = subprocess.Popen(
        [sys.executable, "-m", "antecede", "check", str(tmp_path / "run"), "--json"], stdout=subprocess.PIPE
    )
    assert running.stdout is not None
    running.stdout.close()
    assert running.wait() == 1


def test_what_could_not_be_written_is_said() -> None:
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("no /dev/full here")
    with device.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "antecede", "recipes"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert done.stderr == "antecede: standard output cannot be written: No space left on device.\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_sentences_fit_a_terminal_and_are_one_line_for_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = "a sentence that is longer than the terminal is wide\n  antecede a-command-that-is-longer-than-the-terminal"
    assert fitted(text, io.StringIO()) == text
    assert fitted(text, Terminal()).splitlines() == [
        "a sentence that is longer than the",
        "  terminal is wide",
        "  antecede a-command-that-is-longer-than-the-terminal",
    ]
    assert fitted(f"{'':<15} -> a cure of some length now", Terminal(), indent=" " * 19).splitlines() == [
        f"{'':<15} -> a cure of some length",
        f"{'':<19}now",
    ]
