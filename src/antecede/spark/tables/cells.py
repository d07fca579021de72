"""What a cell means: ids, parents, vector clocks, whole numbers and times, and when a cell means none of these.

Decided in this file, for every engine: how each may be written, which cells must not be empty, and the reason why a row
is `invalid`. What may be read in two ways is not read at all. Each reader takes an Arrow array of any fitting type and
gives the values in their one plain type, and beside them why a cell cannot be read (null where it can).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute

from antecede.spark.tables.making import array as made

__all__ = [
    "CLOCK",
    "FITTING",
    "NUMBER",
    "PARENTS",
    "PLAIN",
    "REQUIRED",
    "TEXT",
    "TIMES",
    "Cells",
    "fits",
    "is_plain",
    "is_written_time",
    "read_cells",
    "read_role",
]

pc: Any = pa.compute

TEXT, NUMBER = pa.string(), pa.int64()
PARENTS = pa.list_(pa.string())
CLOCK = pa.map_(pa.string(), pa.int64())
PLAIN: Mapping[str, pa.DataType] = {
    "id": TEXT, "sender": TEXT, "receiver": TEXT, "run": TEXT, "parents": PARENTS, "clock": CLOCK,
    "seq": NUMBER, "position": NUMBER, "deadline": NUMBER, "time": NUMBER, "arrived": NUMBER,
}  # fmt: skip
"""The type in which each role is read. Times are microseconds."""

REQUIRED = ("id", "sender", "receiver", "seq", "position", "clock")
"""Where a null makes the row invalid. No parents are no parents, and a time that is null does not bind."""

TIMES = ("deadline", "time", "arrived")
A_TIME = "a timestamp, whole microseconds, or text like 2024-05-01T12:00:00Z"
FITTING: Mapping[str, str] = {
    "id": "text or a whole number",
    "sender": "text or a whole number",
    "receiver": "text or a whole number",
    "run": "text or a whole number",
    "parents": 'an array of ids, JSON text like ["a"], or text with commas, semicolons or spaces between ids',
    "seq": "a whole number",
    "position": "a whole number, or a time: a timestamp, or text like 2024-05-01T12:00:00Z",
    "clock": 'a map of text to whole numbers, a struct of them, or JSON text like {"p": 3}',
    "group": "text, a number, a boolean or a date",
    "deadline": A_TIME,
    "time": A_TIME,
    "arrived": A_TIME,
}  # fmt: skip

LARGEST = 2**63
BETWEEN = re.compile(r"[\s,;]+")
WHOLE = re.compile(r"[+-]?[0-9]+")
BRACED = re.compile(r"\{[0-9A-Fa-f-]{32,36}\}")
"""A UUID as Windows writes it. Other text in braces is an array of some database, not an id."""
PAIRS = (("[", "]"), ("{", "}"), ("(", ")"), ('"', '"'))
SHOWN = 60
"""Characters of a cell that stand in a reason."""


class Cells(NamedTuple):
    values: Any
    """An Arrow array of the plain type."""
    wrong: Any
    """Texts: why the cell cannot be read; null where it can. None: all can."""


class Unreadable(ValueError):
    """Why one cell cannot be read."""


def fits(role: str, kind: pa.DataType | None) -> bool:
    """Whether cells of this type can be read in this role at all; `None` is a type that Arrow does not have."""
    if kind is None:
        return False
    is_ = pa.types
    kind = kind.value_type if is_.is_dictionary(kind) else kind
    text = is_.is_string(kind) or is_.is_large_string(kind)
    number = is_.is_integer(kind) or is_.is_floating(kind)
    if is_.is_null(kind):
        return True
    if role == "parents":
        if is_.is_list(kind) or is_.is_large_list(kind):
            return fits("id", kind.value_type)
        return text or number
    if role == "clock":
        if is_.is_map(kind):
            return fits("id", kind.key_type) and (is_.is_integer(kind.item_type) or is_.is_null(kind.item_type))
        return text or (is_.is_struct(kind) and all(is_.is_integer(kind.field(n).type) for n in range(kind.num_fields)))
    if role in TIMES or role == "position":
        return text or number or is_.is_timestamp(kind) or is_.is_date(kind)
    if role == "group":
        return not (is_.is_nested(kind) or is_.is_binary(kind) or is_.is_large_binary(kind))
    return text or number


def is_plain(role: str, kind: pa.DataType) -> bool:
    """Whether a null is the only thing that can be wrong with cells of this type, and no reader is needed."""
    is_ = pa.types
    if role == "parents":
        return is_.is_list(kind) and (is_.is_string(kind.value_type) or is_.is_signed_integer(kind.value_type))
    if role == "clock":
        return False
    if role in TIMES:
        return is_.is_signed_integer(kind) or is_.is_timestamp(kind) or is_.is_date(kind)
    if role in ("seq", "position"):
        return is_.is_signed_integer(kind)
    return is_.is_string(kind) or is_.is_signed_integer(kind)


def read_cells(columns: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """The cells of each role (`columns`: role -> array), and for each row the first thing wrong with it, or null."""
    read: dict[str, Any] = {}
    wrong: list[Any] = []
    for role, array in columns.items():
        cells = read_role(role, array)
        read[role] = cells.values
        if cells.wrong is not None:
            wrong.append(cells.wrong)
    size = len(next(iter(columns.values()))) if columns else 0
    return read, pc.coalesce(*wrong) if wrong else pa.nulls(size, pa.string())


def read_role(role: str, array: Any) -> Cells:
    """One column in its role; its type fits."""
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_large_string(array.type):
        array = array.cast(TEXT)
    plain = PLAIN[role]
    if pa.types.is_null(array.type):
        array = made([None] * len(array), plain)
    values, wrong = READERS[plain](array, role)
    if role == "parents" and values.null_count:
        values = made([mine or [] for mine in values.to_pylist()], PARENTS)
    if role in REQUIRED and values.null_count:
        empty = made([f"{role} is null"] * len(values), TEXT)
        nothing = pa.nulls(len(values), TEXT)
        wrong = pc.if_else(values.is_null(), empty if wrong is None else pc.coalesce(wrong, empty), nothing)
    return Cells(values, wrong)


# -- the readers -------------------------------------------------------------------------------------------------------


def texts(array: Any, role: str) -> Cells:
    """An id: text, or a whole number, also where one with empty cells beside it has become a float."""
    if pa.types.is_string(array.type):
        return one_by_one(array, TEXT, text_of, "") if has_empty(array) else Cells(array, None)
    if pa.types.is_integer(array.type):
        return Cells(array.cast(TEXT), None)
    return one_by_one(array, TEXT, text_of, f"{role} is neither text nor a whole number")


def parents(array: Any, role: str) -> Cells:
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        inner = array.type.value_type
        if pa.types.is_string(inner) or pa.types.is_integer(inner):
            array = array if array.type.equals(PARENTS) else array.cast(PARENTS)
            names = array.flatten()
            if not names.null_count and not has_empty(names):
                return Cells(array, None)
    return one_by_one(array, PARENTS, parents_of, f"{role} cannot be read")


def clocks(array: Any, role: str) -> Cells:
    return one_by_one(array, CLOCK, clock_of, f"{role} is not a vector clock")


def numbers(array: Any, role: str) -> Cells:
    kind = array.type
    if role in TIMES or role == "position":
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return Cells(array.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(NUMBER), None)
        if not pa.types.is_signed_integer(kind):
            otherwise = "is not a time" if role in TIMES else "is neither a whole number nor a time"
            return one_by_one(array, NUMBER, time_of, f"{role} {otherwise}")
    if pa.types.is_signed_integer(kind):
        return Cells(array.cast(NUMBER), None)
    return one_by_one(array, NUMBER, number_of, f"{role} is not a whole number")


READERS: Mapping[pa.DataType, Callable[[Any, str], Cells]] = {
    TEXT: texts, PARENTS: parents, CLOCK: clocks, NUMBER: numbers,
}  # fmt: skip


def has_empty(texts: Any) -> bool:
    """Whether some text is empty. (Comparing with a Python value would import pandas.)"""
    return bool(pc.min(pc.binary_length(texts)).as_py() == 0)


def one_by_one(array: Any, plain: pa.DataType, meaning: Callable[[Any], Any], otherwise: str) -> Cells:
    values: list[Any] = []
    wrong: dict[int, str] = {}
    for place, cell in enumerate(array.to_pylist()):
        try:
            values.append(None if cell is None else meaning(cell))
        except Unreadable:
            values.append(None)
            wrong[place] = f"{otherwise}: {shown(cell)}"
    reasons = made([wrong.get(place) for place in range(len(values))], TEXT) if wrong else None
    return Cells(made(values, plain), reasons)


def shown(cell: Any) -> str:
    text = cell if isinstance(cell, str) else repr(cell)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def text_of(value: Any) -> str | None:
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable
    if isinstance(value, float):
        if value != value:
            return None
        if not value.is_integer():
            raise Unreadable
    return str(int(value))


def parents_of(value: Any) -> list[str]:
    """A list, the same as JSON, or ids with commas, semicolons or spaces between them."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            value = json_of(text)
        else:
            listed = [part for part in BETWEEN.split(text) if part]
            if any(not balanced(part) for part in listed):
                raise Unreadable
            return listed
    several = value if isinstance(value, list) else [value]
    return [text for text in map(text_of, (one for one in several if one is not None)) if text is not None]


def balanced(part: str) -> bool:
    """Whether this is an id rather than a piece of some other way to write a list."""
    if part.startswith("{"):
        return BRACED.fullmatch(part) is not None
    return all(part.count(a) % 2 == 0 if a == b else part.count(a) == part.count(b) for a, b in PAIRS)


def clock_of(value: Any) -> list[tuple[str, int]] | None:
    """A map, a struct or JSON; what is 0 or null counts nothing."""
    if isinstance(value, str):
        if not value.strip():
            return None
        value = json_of(value)
    pairs = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(pairs, list):
        raise Unreadable
    found: dict[str, int] = {}
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise Unreadable
        name, count = text_of(pair[0]), 0 if pair[1] is None else number_of(pair[1])
        if name is None or name in found or count is None or count < 0 or isinstance(pair[1], str):
            raise Unreadable
        found[name] = count
    return [(name, count) for name, count in found.items() if count]


def number_of(value: Any) -> int | None:
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        if not WHOLE.fullmatch(text) or len(text) > 20:
            raise Unreadable
        value = int(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Unreadable
    if isinstance(value, float):
        if value != value:
            return None
        if not value.is_integer():
            raise Unreadable
    if not -LARGEST <= value < LARGEST:
        raise Unreadable
    return int(value)


def time_of(value: Any) -> int | None:
    """Whole microseconds, or a date and time in ISO 8601; without a zone it is UTC."""
    if isinstance(value, str) and value.strip() and not WHOLE.fullmatch(value.strip()):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise Unreadable from None
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        since = moment - datetime(1970, 1, 1, tzinfo=UTC)
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds
    return number_of(value)


def is_written_time(value: Any) -> bool | None:
    """Whether a cell is a time in ISO 8601 and not a whole number; None: it is neither.

    >>> is_written_time("2024-05-01"), is_written_time("17"), is_written_time("soon")
    (True, False, None)
    """
    try:
        if time_of(value) is None:
            return None
    except Unreadable:
        return None
    return isinstance(value, str) and WHOLE.fullmatch(value.strip()) is None


def json_of(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        raise Unreadable from None
