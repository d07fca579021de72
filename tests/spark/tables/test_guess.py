"""Types of columns that have none: texts stay texts, the cells of all blocks decide together."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.spark.tables.guess import TYPES, built, guessed, joined
from antecede.spark.tables.rows import Block, Number


def word(*cells: Any, text: bool = False, plain: bool = True) -> str:
    return guessed(Block({"x": list(cells)}, []), {"x"} if text else (), plain)["x"]


def test_what_cells_of_csv_are() -> None:
    assert word("1", "-20", None) == "whole" and word("1", "2.5", "1e3") == "number"
    assert word("007") == "text" and word("00.5") == "text" and word("12345678901234567890") == "number"
    assert word("true", "FALSE") == "truth" and word("true", "1") == "text" and word(None) == "none"
    assert word("1", "2", text=True) == "text"


def test_what_cells_of_json_are() -> None:
    def of(*cells: Any, text: bool = False) -> str:
        return word(*cells, text=text, plain=False)

    assert of(Number("1")) == "whole" and of(Number("1.5"), Number("1")) == "number" and of("1") == "text"
    assert of(True) == "truth" and of(True, "x") == "text" and of(Number("1"), "x") == "text"
    assert of(["a"], None) == "texts" and of([Number("1")]) == "json" and of([Number("1")], text=True) == "texts"
    assert of({"a": 1}) == "json" and of(["a"], "b") == "json" and of(float("nan"), Number("1")) == "number"


@pytest.mark.parametrize("a", TYPES)
@pytest.mark.parametrize("b", TYPES)
def test_the_type_does_not_depend_on_the_cut(a: str, b: str) -> None:
    assert joined(a, b) == joined(b, a) and joined(a, a) == a
    assert all(joined(joined(a, b), c) == joined(a, joined(b, c)) for c in TYPES)


def test_rows_that_do_not_fit_are_set_aside_whole() -> None:
    block = Block(
        {"id": ["a", "b", "c"], "n": [Number("1"), "x", None], "new": [None, None, Number("2.50")]}, [], [2, 4, 5]
    )
    arrays, aside, lines = built(block, {"id": "text", "n": "whole"}, "f.json")
    assert lines == [2] and [array.to_pylist() for array in arrays] == [["a"], [1]]
    assert [(bad.reason, bad.row) for bad in aside] == [
        ("n is not a whole number, as it is in the other rows (line 4)", '{"id": "b", "n": "x"}'),
        ("new is no column of the table (line 5)", '{"id": "c", "new": 2.50}'),
    ]


def test_values_in_their_types() -> None:
    cells = [Number("1.10"), True, {"p": Number("3")}, ["a", None], "x", None]
    arrays, aside, _ = built(Block({"x": list(cells)}, []), {"x": "json"}, "f")
    assert arrays[0].to_pylist() == ["1.10", "true", '{"p": 3}', '["a", null]', "x", None] and not aside
    arrays, _, _ = built(Block({"x": ["TRUE", None], "y": ["1.5", "2"]}, []), {"x": "truth", "y": "number"}, "f")
    assert [array.to_pylist() for array in arrays] == [[True, None], [1.5, 2.0]]
