"""The few things done to Arrow data here, written so that all supported versions of pyarrow have them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from antecede.spark.tables.making import array, from_numpy

__all__ = ["compute", "empty_lists", "lists", "named", "runs", "table_bytes", "table_of", "together"]

compute: Any = pa.compute


def together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """One batch of several."""
    if len(batches) == 1:
        return batches[0]
    whole: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return whole[0]


def runs(array: Any) -> tuple[list[int], list[Any]]:
    """Where each run of equal values ends, and its value."""
    encoded = compute.run_end_encode(array)
    return encoded.run_ends.to_pylist(), encoded.values.to_pylist()


def lists(array: Any) -> list[list[Any]]:
    """The lists of a list array, their values brought to Python at once."""
    values, edges = array.values.to_pylist(), array.offsets.to_pylist()
    return [values[a:b] for a, b in pairwise(edges)]


def empty_lists(size: int) -> Any:
    make: Any = pa.ListArray.from_arrays
    return make(from_numpy(np.zeros(size + 1), pa.int32()), array([], pa.string()))


def named(words: tuple[str, ...], codes: Any, hidden: Any = None) -> Any:
    """A word for each code."""
    make: Any = pa.DictionaryArray.from_arrays
    return make(from_numpy(codes, pa.int8(), hidden), array(words, pa.string())).dictionary_decode()


def table_bytes(batch: pa.RecordBatch) -> bytes:
    """Rows as an Arrow stream: their types travel with them."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def table_of(data: Any) -> pa.RecordBatch:
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return together(list(reader))
