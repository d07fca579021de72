"""Arrays made from buffers are those pyarrow makes, and pandas is not imported for them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from antecede.spark.tables.cells import CLOCK
from antecede.spark.tables.making import array, from_numpy, to_numpy

CASES: list[tuple[Any, pa.DataType]] = [
    ([1, None, -(2**63), 2**63 - 1], pa.int64()),
    ([1, 2], pa.int32()),
    ([1.5, None, float("inf")], pa.float64()),
    (["a", None, "", "éß\u2028😀"], pa.string()),
    ([True, None, False], pa.bool_()),
    ([["a", None], None, [], ["b"]], pa.list_(pa.string())),
    ([[1], None, [2, 3]], pa.list_(pa.int64())),
    ([[("p", 1), ("q", 2)], None, []], CLOCK),
    ([], pa.string()),
    ([], pa.list_(pa.string())),
    ([], CLOCK),
    ([{"x": 1}], pa.struct([("x", pa.int64())])),
    ([None] * 9, pa.string()),
]


@pytest.mark.parametrize(("values", "kind"), CASES, ids=str)
def test_they_are_what_pyarrow_makes(values: Any, kind: pa.DataType) -> None:
    found, expected = array(values, kind), pa.array(values, kind)
    found.validate(full=True)
    assert found.equals(expected) and found.null_count == expected.null_count and found.type == kind


def test_numbers_that_numpy_has() -> None:
    found = from_numpy(np.arange(10)[::2], pa.int64(), np.array([False, True, False, False, False]))
    assert found.to_pylist() == [0, None, 4, 6, 8]
    whole = array([5, 6, 7, 8], pa.int64())
    assert to_numpy(whole.slice(1, 2)).tolist() == [6, 7] and to_numpy(whole.slice(4)).tolist() == []


def test_pandas_stays_out() -> None:
    code = (
        "import sys, pyarrow as pa; from antecede.spark.tables.making import array; "
        "array(['a'], pa.string()); array([[1]], pa.list_(pa.int64())); print('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
