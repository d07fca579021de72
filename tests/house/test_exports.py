"""Every module says what it is and what it offers; the core stands alone; time, dice and bytes come from outside."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.house import rules

Rule = Callable[[Path], Iterator[str]]

# The rooms that meet the real world may read its clock. Anything more would be an exemption, and there is none.
WITH_A_CLOCK = ("live", "cli")

EVERYWHERE: list[Rule] = [rules.documented, rules.declares_exports, rules.no_pickle]
WITHOUT_A_CLOCK: list[Rule] = [rules.told_the_time, rules.given_its_dice]
CORE: list[Rule] = [rules.only_standard_library, rules.portable_dice]


def room(path: Path) -> str:
    return path.relative_to(rules.SOURCE / "antecede").parts[0]


def findings(paths: list[Path], checks: list[Rule]) -> list[str]:
    return [finding for path in paths for check in checks for finding in check(path)]


def keep(paths: list[Path], checks: list[Rule]) -> None:
    found = findings(paths, checks)
    assert not found, "\n" + "\n".join(found)


def test_every_module_keeps_the_rules() -> None:
    keep(rules.modules(), EVERYWHERE)


def test_only_live_and_cli_read_a_clock_or_roll_their_own_dice() -> None:
    keep([path for path in rules.modules() if room(path) not in WITH_A_CLOCK], WITHOUT_A_CLOCK)


def test_the_core_stands_on_the_standard_library() -> None:
    core = [path for path in rules.modules() if room(path) == "core"]
    assert core, "the core was not found: this test would pass on nothing"
    keep(core, CORE)


@pytest.mark.parametrize("path", rules.modules(), ids=lambda path: str(path.relative_to(rules.SOURCE)))
def test_everything_exported_exists(path: Path) -> None:
    names = rules.exported(rules.parse(path)) or []
    inside = path.relative_to(rules.SOURCE).with_suffix("")
    module = importlib.import_module(".".join(part for part in inside.parts if part != "__init__"))
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(names) == len(set(names))


BAD: list[tuple[Rule, str, str]] = [
    (rules.documented, "X = 1\n", "docstring"),
    (rules.declares_exports, '"""A."""\ndef f(): return 1\n', "no __all__"),
    (rules.no_pickle, "import pickle\n", "imports pickle"),
    (rules.no_pickle, "def f():\n    from cloudpickle import dumps\n", "imports cloudpickle"),
    (rules.only_standard_library, "import numpy as np\n", "imports numpy"),
    (rules.only_standard_library, "from antecede.trace import record\n", "imports antecede.trace"),
    (rules.only_standard_library, "from . import inbox\n", "imports ."),
    (rules.told_the_time, "import time\nX = time.time()\n", "time.time"),
    (rules.told_the_time, "from time import perf_counter as p\nX = p()\n", "time.perf_counter"),
    (rules.told_the_time, "from datetime import datetime\nX = datetime.now()\n", "datetime.datetime.now"),
    (rules.told_the_time, "import datetime as d\nX = d.date.today()\n", "datetime.date.today"),
    (rules.given_its_dice, "import random\nX = random.random()\n", "random.random"),
    (rules.given_its_dice, "from random import shuffle\nshuffle([])\n", "random.shuffle"),
    (rules.given_its_dice, "import random\nX = random.Random()\n", "without a seed"),
    (rules.given_its_dice, "import numpy as np\nX = np.random.rand()\n", "numpy.random.rand"),
    (rules.given_its_dice, "import numpy as np\nX = np.random.default_rng()\n", "without a seed"),
    (rules.given_its_dice, "import uuid\nX = uuid.uuid4()\n", "uuid.uuid4"),
    (rules.portable_dice, "def f(dice): return dice.choice([1])\n", ".choice()"),
]


@pytest.mark.parametrize(("rule", "text", "word"), BAD, ids=[f"{rule.__name__}-{word}" for rule, _, word in BAD])
def test_a_planted_fault_is_found(rule: Rule, text: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "planted.py"
    path.write_text(text, "utf-8")
    assert any(word in finding for finding in rule(path)), list(rule(path))


def test_good_code_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "good.py"
    path.write_text(
        '"""Good."""\nimport random\nimport numpy as np\nfrom antecede.core.message import Message\n__all__ = ["f"]\n'
        "def f(time, now_us):\n    time.sleep(now_us)\n"
        "    return random.Random(7).random(), np.random.default_rng(7), time.time, Message\n",
        "utf-8",
    )
    assert findings([path], EVERYWHERE + WITHOUT_A_CLOCK + [rules.portable_dice]) == []
