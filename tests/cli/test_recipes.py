"""`antecede recipes`: every protocol with what it promises, where it is from, and what is not judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from antecede.cli import main
from antecede.core.recipes import RECIPES
from antecede.trace.check import EXEMPT


def test_every_recipe_is_listed_with_its_promise(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.splitlines() if line and not line.startswith((" ", "Papers"))] == [
        *RECIPES
    ]
    assert "solicit            paper 000, 002\n    causal order; with deadlines or without; all are members\n" in shown
    assert "not promised, so not judged: gap, idle, stuck, undelivered" in shown
    assert "readings: repaired, printed-a, printed-b, printed-c" in shown
    assert "    --without bound: an answer reaches up to the upper vector and includes it\n" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_one_recipe_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes", "pbcast"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("pbcast ") and "solicit" not in shown
    assert main(["recipes", "solict"]) == 2 and "did you mean solicit?" in capsys.readouterr().err


def test_for_programs_and_with_a_recipe_of_ones_own() -> None:
    """In a process of its own: a plugin stays loaded."""
    plugin = Path(__file__).parents[2] / "examples" / "plausible.py"
    done = subprocess.run(
        [sys.executable, "-m", "antecede", "recipes", "--plugin", str(plugin), "--json"],
        capture_output=True,
        check=True,
    )
    told = {recipe["recipe"]: recipe for recipe in json.loads(done.stdout)}
    assert told["home"]["orders"] == ["causal", "fifo", "none"] and told["dcco"]["recovers"] is False
    exempt = {name: tuple(recipe["not_promised"]) for name, recipe in told.items() if name in RECIPES}
    assert {name: verdicts for name, verdicts in exempt.items() if verdicts} == EXEMPT
    assert any(name.startswith("plausible") for name in told)
