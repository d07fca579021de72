"""Arrow arrays from Python values without pandas, which `pyarrow.array` imports whether it is needed or not.

Decided in this file: the few types that tables are read and ordered in are made from their buffers; others are left to
pyarrow. Importing pandas takes longer than ordering a few thousand rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["array", "from_numpy", "to_numpy"]

NUMBERS: dict[pa.DataType, str] = {
    pa.int64(): "<i8",
    pa.int32(): "<i4",
    pa.int8(): "<i1",
    pa.float64(): "<f8",
}
MOST_BYTES = 2**31 - 1
"""In one array of texts; more is for pyarrow to refuse or to split."""


def array(values: Sequence[Any], kind: pa.DataType) -> Any:
    """The values as an array of that type; None is null."""
    if kind in NUMBERS:
        return from_numpy(np.array([0 if v is None else v for v in values], NUMBERS[kind]), kind, nulls(values))
    if pa.types.is_string(kind):
        return texts(values)
    if pa.types.is_boolean(kind):
        bits = bitmap(np.array([bool(v) for v in values], bool))
        return made(kind, len(values), [validity(nulls(values)), bits])
    if pa.types.is_list(kind) and not pa.types.is_nested(kind.value_type):
        inside = array([one for mine in values for one in mine or ()], kind.value_type)
        return made(kind, len(values), [validity(nulls(values)), offsets(values)], children=[inside])
    if pa.types.is_map(kind):
        pairs = [pair for mine in values for pair in mine or ()]
        both: Any = pa.StructArray.from_arrays(
            [array([k for k, _ in pairs], kind.key_type), array([v for _, v in pairs], kind.item_type)],
            fields=[pa.field("key", kind.key_type, nullable=False), pa.field("value", kind.item_type)],
        )
        return made(kind, len(values), [validity(nulls(values)), offsets(values)], children=[both])
    return pa.array(values, kind)


def from_numpy(numbers: Any, kind: pa.DataType, hidden: Any = None) -> Any:
    """Numbers that numpy has already; `hidden`: where there is none."""
    plain = np.ascontiguousarray(numbers, NUMBERS[kind])
    return made(kind, len(plain), [validity(hidden), buffer(plain)])


def to_numpy(numbers: Any) -> Any:
    """The other way, for numbers without nulls: the same memory."""
    size = len(numbers)
    if not size:
        return np.zeros(0, NUMBERS[numbers.type])
    return np.frombuffer(numbers.buffers()[1], NUMBERS[numbers.type])[numbers.offset : numbers.offset + size]


def made(kind: pa.DataType, size: int, buffers: list[Any], **more: Any) -> Any:
    make: Any = pa.Array.from_buffers
    return make(kind, size, buffers, **more)


def buffer(numbers: Any) -> Any:
    return pa.py_buffer(numbers)


def nulls(values: Sequence[Any]) -> Any:
    return np.array([value is None for value in values], bool)


def bitmap(bits: Any) -> Any:
    return pa.py_buffer(np.packbits(bits, bitorder="little").tobytes())


def validity(hidden: Any) -> Any:
    return None if hidden is None or not hidden.any() else bitmap(~hidden)


def offsets(values: Sequence[Any]) -> Any:
    edges = np.zeros(len(values) + 1, "<i4")
    np.cumsum([0 if value is None else len(value) for value in values], out=edges[1:])
    return buffer(edges)


def texts(values: Sequence[str | None]) -> Any:
    encoded = [b"" if value is None else value.encode() for value in values]
    data = b"".join(encoded)
    if len(data) > MOST_BYTES:
        return pa.array(values, pa.string())
    return made(pa.string(), len(values), [validity(nulls(values)), offsets(encoded), pa.py_buffer(data)])
