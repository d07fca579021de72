"""The Spread of docs/guide/new-spread.md: nothing is lost with it, it sends what it says, the page shows its code."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from antecede.cli import main
from antecede.core.recipes import RECIPES
from antecede.sim import plugin
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import judge
from antecede.trace.check import check
from tests.house import rules

FILE = rules.ROOT / "examples" / "tree.py"
PAGE = rules.ROOT / "docs" / "guide" / "new-spread.md"
SEED = 2026


@pytest.fixture(scope="module", autouse=True)
def module() -> Iterator[ModuleType]:
    """The file, loaded as a user would; afterwards nobody else sees its recipe."""
    recipes, loaded = dict(RECIPES), dict(plugin._loaded)
    plugin.load([FILE])
    yield sys.modules["antecede_plugin_tree"]
    tables: list[tuple[dict[Any, Any], dict[Any, Any]]] = [(RECIPES, recipes), (plugin._loaded, loaded)]
    for table, before in tables:
        table.clear()
        table.update(before)
    del sys.modules["antecede_plugin_tree"]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 16])
def test_every_tree_reaches_everybody_once(module: Any, size: int) -> None:
    members = [f"m{n:02}" for n in range(size)]
    for root in members:
        reached = [root]
        for name in reached:
            reached += module.children_of(name, root, members)
        assert sorted(reached) == members


def test_everybody_delivers_everything_where_nothing_is_lost() -> None:
    run = simulate(Scenario(recipe="tree", brokers=16, subscribers=0, messages=20, seed=SEED))
    report = check(run.rows, scenario=run.body())
    assert report.clean and report.fates["delivered"] == report.pairs == 20 * 15


@pytest.mark.parametrize("index", range(4))
def test_drawn_scenarios_are_clean(index: int) -> None:
    judged = judge(SEED, "tree", "repaired", index)
    assert not any(judged.verdicts.values()), (SEED, index, judged.verdicts)


# -- the page ------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_code_that_runs() -> None:
    shown = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    code = FILE.read_text("utf-8")
    left = code[code.index("# -- the tree") : code.index("# -- what it costs")]
    for block in shown:
        assert block in left, block
        left = left.replace(block, "")
    assert not re.sub(r"^# -- .*$", "", left, flags=re.MULTILINE).strip(), "the page leaves some of the code out"


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    commands = re.findall(r"^\$ antecede (.*tree\.py.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["simulate", "check", "simulate", "explore"]
    folder = tmp_path_factory.mktemp("page")
    for command in commands:
        words = [word.replace("runs/", f"{folder}/") for word in shlex.split(command)]
        assert main([str(FILE) if word == "examples/tree.py" else word for word in words]) == 0
