"""The role of docs/guide/new-role.md: it keeps the promises, asks the backup first, and the page shows its code."""

from __future__ import annotations

import re
import shlex
import sys
from collections import Counter
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
from antecede.trace.record import Row
from tests.house import rules

FILE = rules.ROOT / "examples" / "backup.py"
PAGE = rules.ROOT / "docs" / "guide" / "new-role.md"
SEED = 2026


@pytest.fixture(scope="module", autouse=True)
def module() -> Iterator[ModuleType]:
    """The file, loaded as a user would; afterwards nobody else sees its recipe."""
    recipes, loaded = dict(RECIPES), dict(plugin._loaded)
    plugin.load([FILE])
    yield sys.modules["antecede_plugin_backup"]
    tables: list[tuple[dict[Any, Any], dict[Any, Any]]] = [(RECIPES, recipes), (plugin._loaded, loaded)]
    for table, before in tables:
        table.clear()
        table.update(before)
    del sys.modules["antecede_plugin_backup"]


def test_the_backup_gets_every_message_of_the_others_twice_and_nobody_else_does() -> None:
    run = simulate(Scenario(recipe="backup", brokers=5, subscribers=0, messages=20, seed=SEED))
    report = check(run.rows, scenario=run.body())
    assert report.clean and report.fates["delivered"] == report.pairs == 20 * 4
    rows = list(map(Row._make, run.rows))
    copies = Counter((row.process, row.message) for row in rows if row.kind == "arrive")
    published = {row.message: row.process for row in rows if row.kind == "publish"}
    for message, publisher in published.items():
        expected = {name: 2 if name == "A" else 1 for name in "ABCDE" if name != publisher}
        assert {name: copies[name, message] for name in expected} == expected


def test_with_two_members_nobody_is_left_to_hand_over() -> None:
    run = simulate(Scenario(recipe="backup", brokers=2, subscribers=0, messages=10, seed=SEED))
    assert check(run.rows, scenario=run.body()).clean


def test_the_backup_is_asked_more_often_than_anybody_else() -> None:
    run = simulate(Scenario(recipe="backup", brokers=16, subscribers=0, messages=100, loss=0.2, seed=SEED))
    asked = Counter(row.peer for row in map(Row._make, run.rows) if row.kind == "ask")
    assert asked["A"] > 2 * max(count for name, count in asked.items() if name != "A")


@pytest.mark.parametrize("index", range(4))
def test_drawn_scenarios_are_clean(index: int) -> None:
    judged = judge(SEED, "backup", "repaired", index)
    assert not any(judged.verdicts.values()), (SEED, index, judged.verdicts)


# -- the page ------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_code_that_runs() -> None:
    shown = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    code = FILE.read_text("utf-8")
    left = code[code.index("# -- the role") : code.index("# -- what it costs")]
    for block in shown:
        assert block in left, block
        left = left.replace(block, "")
    assert not re.sub(r"^# -- .*$", "", left, flags=re.MULTILINE).strip(), "the page leaves some of the code out"


@pytest.mark.slow
def test_the_commands_of_the_page_run(tmp_path_factory: pytest.TempPathFactory) -> None:
    commands = re.findall(r"^\$ antecede (.*backup\.py.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["simulate", "check", "simulate", "explore"]
    folder = tmp_path_factory.mktemp("page")
    for command in commands:
        words = [word.replace("runs/", f"{folder}/") for word in shlex.split(command)]
        assert main([str(FILE) if word == "examples/backup.py" else word for word in words]) == 0
