"""The door to causal order: its names, loaded when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

from antecede.spark import order


def test_every_name_is_there() -> None:
    assert all(callable(getattr(order, name)) for name in order.__all__)
    with pytest.raises(AttributeError, match="has no 'nothing'; it has causal_order"):
        _ = order.nothing


def test_ordering_in_this_process_loads_no_spark() -> None:
    code = "import sys, antecede.spark.order.written; print([m for m in ('pyspark', 'pandas') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"
