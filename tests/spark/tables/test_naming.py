"""What is said of a column that is not there."""

from __future__ import annotations

import pytest

from antecede.spark.tables.naming import as_named, hint


@pytest.mark.parametrize(
    ("name", "names", "said"),
    [
        ("hash", ["Commit Hash", " Hash "], " (did you mean ' Hash '?)"),
        ("parent", ["id", "parents"], " (did you mean parents?)"),
        ("id", ["id\tparents"], "tabs between them"),
        ("id", ["id;parents;at"], "semicolons between them"),
        ("meta.refs", ["meta", "id"], "meta is one column"),
        ("a.b", ["id"], ""),
        ("id", ["key", "value"], ""),
        ("id", [], ""),
    ],
)
def test_a_hint_only_where_one_is_likely_right(name: str, names: list[str], said: str) -> None:
    told = hint(name, names)
    assert said in told and bool(said) == bool(told)


def test_names_that_could_be_overlooked_are_quoted() -> None:
    assert as_named(["id", "two words", "", " a", "b,c"]) == "id, two words, '', ' a', 'b,c'"
