"""A file of recipes is loaded once, in every process of a sweep, and refused in one sentence."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from antecede.core.recipes import RECIPES, recipe_named
from antecede.errors import InputError
from antecede.sim import plugin
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import Judged, Sweep, judge

SOURCE = """
from antecede.core.recipes import Recipe, build, register

def make(**given):
    return build("solicit", "repaired", **given)

register(Recipe("borrowed", "ours", "vector", flat=True, deadlines="optional", make=make))
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(plugin, "_loaded", {})
    before = set(RECIPES)
    path = tmp_path / "borrowed recipe.py"
    path.write_text(SOURCE, "utf-8")
    yield path
    for name in set(RECIPES) - before:
        del RECIPES[name]
    sys.modules.pop("antecede_plugin_borrowed_recipe", None)


def test_what_it_registers_is_known_and_it_is_run_once(file: Path) -> None:
    plugin.load([file])
    plugin.load([file])
    assert recipe_named("borrowed").flat and plugin.loaded() == (file.resolve(),)


def test_a_sweep_knows_it_in_its_workers_and_in_its_commands(file: Path, tmp_path: Path) -> None:
    plugin.load([file])
    sweep = Sweep(tmp_path / "sweep", "borrowed", "repaired", 5, 7)
    summary = sweep.run(workers=2)
    assert summary.scenarios == 7 and summary.pairs > 0 and not summary.failures
    assert f"antecede simulate --plugin '{file.resolve()}' --recipe borrowed" in sweep.command(Judged(0, 5))


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("absent.py", None, "is no Python file"),
        ("recipe.txt", "", "is no Python file"),
        ("broken.py", "1 / 0", "cannot be loaded: ZeroDivisionError"),
        ("bad.py", SOURCE.replace('"borrowed"', '"solicit"'), "already"),
    ],
)
def test_what_cannot_be_loaded_is_refused_and_forgotten(
    file: Path, tmp_path: Path, name: str, text: str | None, why: str
) -> None:
    path = tmp_path / name
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=why):
        plugin.load([path])
    assert plugin.loaded() == () and f"antecede_plugin_{path.stem}" not in sys.modules


def test_two_files_of_one_name_are_refused(file: Path, tmp_path: Path) -> None:
    plugin.load([file])
    other = tmp_path / "other" / file.name
    other.parent.mkdir()
    other.write_text(SOURCE, "utf-8")
    with pytest.raises(InputError, match="the same name"):
        plugin.load([other])


def test_an_error_of_its_code_is_told_with_its_line(file: Path) -> None:
    file.write_text(SOURCE.replace("return build(", "return 1 / 0 or build("), "utf-8")
    plugin.load([file])
    with pytest.raises(ZeroDivisionError) as raised:
        simulate(Scenario(recipe="borrowed", subscribers=0))
    assert plugin.to_blame(raised.value) == "borrowed recipe.py, line 5"
    assert plugin.told(raised.value) == "ZeroDivisionError: division by zero (borrowed recipe.py, line 5)"
    assert judge(5, "borrowed", "repaired", 0).what == plugin.told(raised.value)


def test_an_error_of_others_is_told_without_a_line(file: Path) -> None:
    plugin.load([file])
    assert plugin.to_blame(ValueError("odd")) == "" and plugin.told(ValueError("odd\nand long")) == "ValueError: odd"
