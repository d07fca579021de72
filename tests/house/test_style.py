"""ruff and mypy are clean, with the settings of pyproject.toml; and both would notice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.house import rules

CONFIG = str(rules.ROOT / "pyproject.toml")


def run(*arguments: str, cwd: Path = rules.ROOT) -> tuple[int, str]:
    done = subprocess.run([sys.executable, "-m", *arguments], cwd=cwd, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def test_ruff_finds_nothing() -> None:
    code, said = run("ruff", "check", ".")
    assert code == 0, said


def test_everything_is_formatted() -> None:
    code, said = run("ruff", "format", "--check", ".")
    assert code == 0, said


def test_mypy_strict_finds_nothing() -> None:
    code, said = run("mypy")
    assert code == 0, said


def test_planted_faults_are_found(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("import os\ndef f( x ):\n  return x\n", "utf-8")
    code, said = run("ruff", "check", "--config", CONFIG, str(bad))
    assert code != 0 and "F401" in said, said
    code, said = run("ruff", "format", "--check", "--config", CONFIG, str(bad))
    assert code != 0, said
    code, said = run("mypy", "--config-file", CONFIG, "--cache-dir", str(tmp_path / "cache"), str(bad))
    assert code != 0 and "no-untyped-def" in said, said
