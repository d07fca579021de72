"""Types for the columns of CSV and JSON, which have none, and the rows that do not fit the types others have.

Decided in this file: columns that name things (ids, parents, senders, groups, clocks) are text whatever they look like:
001 is not 1. Of the others all cells decide together: whole numbers, numbers, true and false, lists of texts, else
text; what is nested stands as its JSON. A type is the same however the rows are cut into blocks and files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from antecede.spark.tables.decoded import Aside
from antecede.spark.tables.making import array
from antecede.spark.tables.rows import Block, Number, at_line

__all__ = ["TYPES", "built", "guessed", "joined"]

TYPES: Mapping[str, pa.DataType] = {
    "none": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "truth": pa.bool_(),
    "text": pa.string(),
    "texts": pa.list_(pa.string()),
    "json": pa.string(),
}
"""Word -> the type of a column of which all cells are this."""

WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")
DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
TRUTHS = {"true": True, "false": False}
SCALAR = ("whole", "number", "truth", "text")


def guessed(block: Block, texts: Collection[str | None], plain: bool) -> dict[str, str]:
    """For each column a word of TYPES. `texts`: columns that are text; `plain`: the cells are those of CSV."""
    return {
        name: "none" if not cells else joined_all(words(cells, name in texts, plain))
        for name, cells in block.columns.items()
    }


def words(cells: list[Any], text: bool, plain: bool) -> set[str]:
    if plain and text:
        return {"text"}
    return {word_of(cell, text, plain) for cell in cells}


def word_of(cell: Any, text: bool, plain: bool) -> str:
    if cell is None:
        return "none"
    if isinstance(cell, str):
        if text or not (plain or isinstance(cell, Number)):
            return "text"
        if WHOLE.fullmatch(cell):
            return "whole"
        if DECIMAL.fullmatch(cell) and (plain or isinstance(cell, Number)) and not cell.lstrip("+-").startswith("00"):
            return "number"
        return "truth" if plain and cell.lower() in TRUTHS else "text"
    if isinstance(cell, bool):
        return "text" if text else "truth"
    if isinstance(cell, float):  # NaN and the infinities, which JSON does not have and Python writes
        return "none" if text else "number"
    if isinstance(cell, list) and all(one is None or (isinstance(one, str) and is_text(one, text)) for one in cell):
        return "texts"
    return "json"


def is_text(one: str, text: bool) -> bool:
    """In lists: texts, and in those that name things the digits of numbers too."""
    return text or not isinstance(one, Number)


def joined(a: str, b: str) -> str:
    """The word for a column that has cells of both."""
    if a == b or b == "none":
        return a
    if a == "none":
        return b
    if {a, b} == {"whole", "number"}:
        return "number"
    return "text" if a in SCALAR and b in SCALAR else "json"


def joined_all(found: Collection[str]) -> str:
    whole = "none"
    for word in sorted(found):
        whole = joined(whole, word)
    return whole


class Built(NamedTuple):
    arrays: list[Any]
    """Of each column."""
    aside: list[Aside]
    """Rows that do not fit, which are not in these."""
    lines: Sequence[int]
    """Of each row the line on which it begins; empty where that is not known."""


def built(block: Block, types: Mapping[str, str], file: str) -> Built:
    """The block's columns as Arrow arrays in the order of `types`."""
    size = block.size
    bad: dict[int, str] = {}
    for name, cells in block.columns.items():
        if name not in types:
            more = [place for place, cell in enumerate(cells) if cell is not None]
            bad.update(dict.fromkeys(more, f"{name} is no column of the table"))
    columns: list[list[Any]] = []
    for name, word in types.items():
        values: list[Any] = []
        for place, cell in enumerate(block.columns.get(name) or [None] * size):
            try:
                values.append(value_of(cell, word))
            except ValueError:
                values.append(None)
                bad.setdefault(place, f"{name} is not {NAMES[word]}, as it is in the other rows")
        columns.append(values)
    aside = [
        Aside(file, at_line(reason, block.lines[place] if block.lines else None), as_json(block, place))
        for place, reason in sorted(bad.items())
    ]
    lines = block.lines
    if bad:
        lines = [line for place, line in enumerate(lines) if place not in bad]
        columns = [[value for place, value in enumerate(values) if place not in bad] for values in columns]
    arrays = [array(values, TYPES[word]) for values, word in zip(columns, types.values(), strict=True)]
    return Built(arrays, aside, lines)


NAMES = {"whole": "a whole number", "number": "a number", "truth": "true or false", "texts": "a list of texts"}


def value_of(cell: Any, word: str) -> Any:
    """A cell in the type of its column, which some cells of later files may not have."""
    if cell is None or word == "none":
        if cell is not None:
            raise ValueError
        return None
    if word in ("text", "json"):
        return cell if isinstance(cell, str) else None if cell != cell else dumped(cell)
    if word == "texts":
        if not isinstance(cell, list) or not all(one is None or isinstance(one, str) for one in cell):
            raise ValueError
        return cell
    if word == "truth":
        return cell if isinstance(cell, bool) else truth_of(cell)
    if isinstance(cell, bool | list | dict):
        raise ValueError
    if word == "whole":
        if not isinstance(cell, str) or not WHOLE.fullmatch(cell):
            raise ValueError
        return int(cell)
    return float(cell)


def truth_of(cell: Any) -> bool:
    if not isinstance(cell, str) or cell.lower() not in TRUTHS:
        raise ValueError
    return TRUTHS[cell.lower()]


def as_json(block: Block, place: int) -> str:
    return dumped({name: cells[place] for name, cells in block.columns.items() if cells[place] is not None})


def dumped(value: Any) -> str:
    """JSON again, numbers as they were written.

    >>> dumped({"p": [Number("1.10"), None]})
    '{"p": [1.10, null]}'
    """
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(map(dumped, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k, ensure_ascii=False)}: {dumped(v)}" for k, v in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False)
