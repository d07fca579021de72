"""Imports point down only: cli > report > lab > spark > live > sim > trace | wire > core > collector | errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.house import rules

LINT = """
import sys
from importlinter.cli import lint_imports
sys.exit(lint_imports(config_filename=sys.argv[1], no_cache=True))
"""


def lint(folder: Path, source: Path) -> tuple[int, str]:
    """Run import-linter with the contract of our pyproject.toml on the package below `source`."""
    done = subprocess.run(
        [sys.executable, "-c", LINT, str(rules.ROOT / "pyproject.toml")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_imports_point_down_only(tmp_path: Path) -> None:
    code, said = lint(tmp_path, rules.SOURCE)
    assert code == 0, said


def plant(source: Path, files: dict[str, str]) -> None:
    for name, text in {"__init__.py": "", "errors.py": "", "core/__init__.py": "", **files}.items():
        path = source / "antecede" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def test_a_planted_import_upwards_is_found(tmp_path: Path) -> None:
    plant(tmp_path, {"sim/__init__.py": "", "sim/run.py": "", "core/inbox.py": "import antecede.sim.run\n"})
    code, said = lint(tmp_path, tmp_path)
    assert code != 0 and "antecede.core.inbox -> antecede.sim.run" in said, said


def test_a_planted_import_between_neighbours_is_found(tmp_path: Path) -> None:
    plant(tmp_path, {"wire.py": "import antecede.trace\n", "trace/__init__.py": ""})
    code, said = lint(tmp_path, tmp_path)
    assert code != 0 and "antecede.wire -> antecede.trace" in said, said


def test_a_room_without_a_place_is_found(tmp_path: Path) -> None:
    plant(tmp_path, {"utils.py": ""})
    code, said = lint(tmp_path, tmp_path)
    assert code != 0 and "utils" in said, said
