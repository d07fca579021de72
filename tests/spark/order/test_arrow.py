"""What is done to Arrow data, slices included."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from antecede.spark.order.arrow import empty_lists, lists, named, runs, table_bytes, table_of, together


def test_lists_of_a_slice() -> None:
    array = pa.array([["a"], [], None, ["b", "c"]], pa.list_(pa.string()))
    assert lists(array) == [["a"], [], [], ["b", "c"]]
    assert lists(array.slice(1, 3)) == [[], [], ["b", "c"]]


def test_runs_with_nulls() -> None:
    assert runs(pa.array(["a", "a", None, "b"])) == ([2, 3, 4], ["a", None, "b"])
    assert runs(pa.array([], pa.string())) == ([], [])


def test_words_and_empty_lists() -> None:
    assert named(("x", "y"), np.array([1, 0, 1]), np.array([False, True, False])).to_pylist() == ["y", None, "y"]
    assert empty_lists(2).to_pylist() == [[], []]


def test_rows_to_bytes_and_back_with_their_types() -> None:
    batch = pa.RecordBatch.from_pydict({"a": [1, 2], "b": pa.array([None, ["x"]], pa.list_(pa.string()))})
    whole = together([batch, batch.slice(1, 1)])
    assert table_of(table_bytes(whole)) == whole and whole.num_rows == 3
