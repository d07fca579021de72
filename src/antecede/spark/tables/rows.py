"""The rows of CSV and JSON files as Python values, in blocks; lines that are no row are set aside with the reason.

Decided in this file: when a line is damaged; the reason ends with its number, except in a file that is one JSON list.
Of CSV: it has more or fewer cells than the header, a quote that is not closed or after which something stands, or bytes
that are no text. A cell in quotes may hold line ends; if it makes no row that way its first line alone is set aside and
reading goes on with the next. Of JSON: it is no object, it names a key twice, or its text is damaged. Blank lines are
no rows. An empty cell is null.
"""

from __future__ import annotations

import csv
import json
import re
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from antecede.errors import InputError, one_line
from antecede.spark.tables.decoded import Aside, is_sound, lines_of, readable

__all__ = ["BLOCK", "Block", "Number", "at_line", "blocks_of"]

BLOCK = 20_000
"""Rows in a block, about. Raising it costs memory and saves calls."""

MOST_LINES = 1_000
"""Lines that one cell in quotes may span: so far it is looked for the quote that closes it."""


csv.field_size_limit(2**31 - 1)  # a cell may be as long as it likes: the default is for files of strangers


class Number(str):
    """A number of JSON as it is written: 1.10 as an id is not 1.1."""

    __slots__ = ()


class Block(NamedTuple):
    columns: dict[str, list[Any]]
    """By name, all of one length; missing is None."""
    aside: list[Aside]
    lines: Sequence[int] = ()
    """Of each row the line on which it begins; empty where that is not known."""

    @property
    def size(self) -> int:
        return len(next(iter(self.columns.values()), ()))


def blocks_of(file: str | Path, kind: str, encoding: str | None = None) -> Iterator[Block]:
    """All rows of a file; the first block has its columns, even if it holds no row. An empty file has no block."""
    try:
        yield from (csv_blocks if kind == "csv" else json_blocks)(str(file), lines_of(file, encoding))
    except (OSError, EOFError) as error:
        raise InputError(f"{file} cannot be read: {one_line(error)}") from error


class Counted(Iterator[str]):
    """Lines, and how many of them were taken."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines, self.count = lines, 0

    def __next__(self) -> str:
        line = next(self.lines)
        self.count += 1
        return line


def at_line(reason: str, line: int | None) -> str:
    """
    >>> at_line("not JSON", 3), at_line("not JSON", None)
    ('not JSON (line 3)', 'not JSON')
    """
    return reason if line is None else f"{reason} (line {line})"


# -- CSV ---------------------------------------------------------------------------------------------------------------


def csv_blocks(file: str, given: Iterator[str]) -> Iterator[Block]:
    lines = Counted(given)
    ahead: deque[str] = deque()
    names = header(file, lines, ahead)
    if names is None:
        return
    rows: list[list[str]] = []
    aside: list[Aside] = []
    begun = array("q")
    first = True
    for line in chain_ahead(lines, ahead):
        at = lines.count - len(ahead)
        if '"' not in line:
            text = line.rstrip("\r\n")
            if not text:
                continue
            cells = text.split(",")
            wrong = None if len(cells) == len(names) else ragged(len(cells), len(names))
        else:
            cells, wrong, text = quoted(line, lines, ahead, len(names))
        if wrong is None and not is_sound("".join(cells)):
            wrong = "bytes that are no text in the file's encoding"
        if wrong is None:
            rows.append(cells)
            begun.append(at)
        else:
            aside.append(Aside(file, at_line(wrong, at), readable(text)))
        if len(rows) + len(aside) >= BLOCK:
            yield block(names, rows, aside, begun)
            rows, aside, begun, first = [], [], array("q"), False
    if rows or aside or first:
        yield block(names, rows, aside, begun)


def block(names: list[str], rows: list[list[str]], aside: list[Aside], begun: Sequence[int]) -> Block:
    cells: Any = zip(*rows, strict=True) if rows else [[] for _ in names]
    columns = {name: [cell or None for cell in column] for name, column in zip(names, cells, strict=True)}
    return Block(columns, aside, begun)


def chain_ahead(lines: Iterator[str], ahead: deque[str]) -> Iterator[str]:
    """The lines that were looked at and given back, then the others."""
    while True:
        line = ahead.popleft() if ahead else next(lines, None)
        if line is None:
            return
        yield line


def header(file: str, lines: Iterator[str], ahead: deque[str]) -> list[str] | None:
    for line in chain_ahead(lines, ahead):
        if not line.strip():
            continue
        names, wrong, _ = quoted(line, lines, ahead, None)
        if wrong is not None or not all(map(is_sound, names)):
            raise InputError(f"the header of {file} cannot be read ({wrong or 'name its encoding with --encoding'})")
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise InputError(f"{file} has two columns {twice[0] or 'without a name'}: rename one")
        return names
    return None


def ragged(here: int, wanted: int) -> str:
    return f"{here} cell{'' if here == 1 else 's'} where the header has {wanted}"


def quoted(line: str, lines: Iterator[str], ahead: deque[str], wanted: int | None) -> tuple[list[str], str | None, str]:
    """The cells of a record with quotes, what is wrong with it, and its text, over as many lines as it takes.

    Lines that are not taken are ahead again.
    """
    taken = [line]
    wrong = "a quote that is not closed"
    while len(taken) <= MOST_LINES:
        try:
            cells = next(csv.reader(taken, strict=True))
        except csv.Error as error:
            if "end of data" not in str(error):
                wrong = "something between a closing quote and the next comma" if len(taken) == 1 else wrong
                break
            more = next(chain_ahead(lines, ahead), None)
            if more is None:
                break
            taken.append(more)
            continue
        if wanted is None or len(cells) == wanted:
            return cells, None, "".join(taken)
        wrong = ragged(len(cells), wanted) if len(taken) == 1 else wrong
        break
    ahead.extendleft(reversed(taken[1:]))
    return [], wrong, line


# -- JSON --------------------------------------------------------------------------------------------------------------


class Twice(ValueError):
    """An object names a key twice."""


def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
    told = dict(found)
    if len(told) < len(found):
        raise Twice
    return told


SPACE, COMMA, CLOSED = re.compile(r"\s*"), re.compile(r"\s*,"), re.compile(r"\s*\]\s*$")
DECODER = json.JSONDecoder(object_pairs_hook=pairs, parse_int=Number, parse_float=Number)


def json_blocks(file: str, given: Iterator[str]) -> Iterator[Block]:
    lines = Counted(given)
    first = next((line for line in lines if line.strip()), None)
    if first is None:
        return
    texts: Iterator[str] = chain([first], lines)
    one_list = first.lstrip().startswith("[")
    if one_list:
        texts = elements("".join(texts))
    rows: list[dict[str, Any]] = []
    aside: list[Aside] = []
    begun = array("q")
    for text in texts:
        at = None if one_list else lines.count
        if not text.strip():
            continue
        row, wrong = object_of(text)
        if wrong is None:
            rows.append(row)
            if at is not None:
                begun.append(at)
        else:
            aside.append(Aside(file, at_line(wrong, at), readable(text)))
        if len(rows) + len(aside) >= BLOCK:
            yield by_name(rows, aside, begun)
            rows, aside, begun = [], [], array("q")
    yield by_name(rows, aside, begun)


def elements(whole: str) -> Iterator[str]:
    """The members of the one list that fills the file, or, where it does not, the lines."""
    decoder = json.JSONDecoder()
    found: list[str] = []
    begin = whole.index("[") + 1
    while True:
        start = SPACE.match(whole, begin)
        assert start is not None
        if whole[start.end() : start.end() + 1] == "]" and not found:
            return iter(found)
        try:
            end = decoder.raw_decode(whole, start.end())[1]
        except (ValueError, RecursionError):
            break
        found.append(whole[start.end() : end])
        after = COMMA.match(whole, end)
        if after is None:
            return iter(found) if CLOSED.match(whole, end) else iter(whole.splitlines())
        begin = after.end()
    return iter(whole.splitlines())


def object_of(text: str) -> tuple[dict[str, Any], str | None]:
    try:
        row = DECODER.decode(text.strip())
    except Twice:
        return {}, "it names a key twice"
    except (ValueError, RecursionError):
        return {}, "not JSON"
    if not isinstance(row, dict):
        return {}, "JSON, but not an object"
    plain = text.isascii() and "\\u" not in text
    if not plain and not (is_sound(text) and is_sound(json.dumps(row, ensure_ascii=False))):
        return {}, "bytes that are no text in the file's encoding"
    return row, None


def by_name(rows: list[dict[str, Any]], aside: list[Aside], begun: Sequence[int]) -> Block:
    names = dict.fromkeys(name for row in rows for name in row)
    return Block({name: [row.get(name) for row in rows] for name in names}, aside, begun)
