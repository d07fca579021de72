"""The command line as a whole: what is listed, what is imported, and what a failure looks like."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable

import pytest

import antecede
from antecede import cli
from antecede.errors import EnvironmentFault, InputError, RemoteProtocolError


def test_help_lists_the_commands_that_exist(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "COMMANDS", {**cli.COMMANDS, "unbuilt": "Not here."})
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^  doctor ", shown, flags=re.MULTILINE) and "unbuilt" not in shown


def test_no_argument_teaches() -> None:
    assert cli.main([]) in (0, 2)  # typer releases differ here


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"antecede {antecede.__version__}\n"


@pytest.mark.parametrize("name", [name for name in cli.COMMANDS if cli.exists(name)])
def test_every_command_has_help_that_teaches(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([name, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 6 and max(map(len, lines)) <= 80


def test_help_imports_nothing_heavy() -> None:
    script = (
        "import sys; from antecede.cli import main; main(['--help']); "
        "print([m for m in ('numpy', 'pyarrow', 'msgspec', 'pyspark', 'antecede.sim.run') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def raising(error: BaseException) -> Callable[[str], Callable[[], None]]:
    def command() -> None:
        """Fails."""
        raise error

    return lambda name: command


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (
            InputError("no recipe is named 'x': choose one of a, b."),
            2,
            "antecede: no recipe is named 'x': choose one of a, b.\n",
        ),
        (EnvironmentFault("no Java: install one."), 2, "antecede: no Java: install one.\n"),
        (RemoteProtocolError("not a frame."), 2, "antecede: not a frame.\n"),
        (
            FileNotFoundError(2, "No such file or directory", "a.parquet"),
            2,
            "antecede: a.parquet: No such file or directory.\n",
        ),
        (ValueError("odd"), 70, "antecede: a mistake of ours, ValueError: odd (ANTECEDE_TRACEBACK=1 shows where).\n"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_failure_is_one_sentence(
    error: Exception, code: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ANTECEDE_TRACEBACK", raising=False)
    monkeypatch.setattr(cli, "load", raising(error))
    assert cli.main(["doctor"]) == code
    shown = capsys.readouterr()
    assert shown.err == said and shown.out == ""


def test_an_interrupt_ends_with_130_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "load", raising(KeyboardInterrupt()))
    assert cli.main(["doctor"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_mistake_of_ours_can_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTECEDE_TRACEBACK", "1")
    monkeypatch.setattr(cli, "load", raising(ValueError("odd")))
    with pytest.raises(ValueError, match="odd"):
        cli.main(["doctor"])


@pytest.mark.parametrize("arguments", [["doctr"], ["doctor", "--no-such-option"], ["--no-such-option"]])
def test_bad_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    assert "No such" in capsys.readouterr().err


def test_what_a_terminal_cannot_show_is_shown_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert cli.main(["check", "nowhere-é"]) == 2
    sys.stderr.flush()
    assert b"nowhere-\\xe9 does not exist" in sys.stderr.buffer.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("line", "offered"),
    [("antecede sim", "simulate"), ("antecede simulate --rea", "--reading"), ("antecede check --a", "--as")],
)
def test_the_shell_completes_commands_and_options(line: str, offered: str) -> None:
    asked = {"_ANTECEDE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    environment = {**os.environ, **asked}
    done = subprocess.run([sys.executable, "-m", "antecede"], env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [offered]


def test_the_help_has_every_command_under_one_heading(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n{heading}:\n" in shown for heading in cli.SECTIONS)
    listed = re.findall(r"^  ([a-z]+) {2,}", shown[shown.index("To begin with:") :], flags=re.MULTILINE)
    assert listed == list(cli.COMMANDS)
    assert cli.main(["sub", "--help"]) == 0
    assert "<list" not in capsys.readouterr().out
