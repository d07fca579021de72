"""Every bench starts the way its own docstring says: `python bench/NAME.py`, from any folder."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from bench.metadata import findings

from tests.house import rules

SCRIPTS = [path for path in sorted((rules.ROOT / "bench").glob("*.py")) if "__main__" in path.read_text("utf-8")]
LOCAL = re.compile(r"^(?:from|import) (?:bench|tests)\b", re.MULTILINE)
"""An import that only works once the checkout is on the path; Python puts `bench/` there and not its parent."""


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_checkout_is_on_the_path_before_something_of_it_is_imported(path: Path) -> None:
    text = path.read_text("utf-8")
    local = LOCAL.search(text)
    assert local is None or "sys.path.insert(0" in text[: local.start()], f"{path.name}: python bench/{path.name} fails"
    assert f"bench/{path.name}" in text.split('"""')[1], f"{path.name}: its docstring does not say how to start it"


def test_metadata_fails_where_a_row_costs_much_or_rows_differ() -> None:
    assert findings([5.2, 5.1, 5.4]) == []
    assert findings([5.2, 6.3]) == ["5.2 and 6.3 bytes a message differ by more than 1"]
    assert findings([16.1, 16.1]) == ["16.1 bytes a message are more than 16"] * 2
    assert findings([math.inf]) == ["inf bytes a message are more than 16"], "nothing came"
