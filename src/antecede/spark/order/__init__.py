"""Rows in causal order: `causal_order`, for batches and streams."""

from __future__ import annotations
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from antecede.errors import InputError
from antecede.spark.order.columns import Columns, check, read

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["causal_order"]

def causal_order(**options: Any) -> Callable[[DataFrame], DataFrame]:
    columns = Columns(**options)
    def transform(df):
        check(columns, df.schema)
        from antecede.spark.order.batch import order_table
        return order_table(read(df, columns), columns)
    return transform
