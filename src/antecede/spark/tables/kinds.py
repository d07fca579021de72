"""Types of columns: their names as Spark says them, their form in a manifest, and which of Arrow's become which.

Decided in this file: tables are written in types that Spark and Arrow both have. Text is `string`, unsigned numbers
become the next larger signed ones, times are microseconds; what has no such type is refused with the column's name.
"""

from __future__ import annotations

import re
from typing import Any, cast

import pyarrow as pa

from antecede.errors import InputError

__all__ = ["arrow_type", "settled", "settled_type", "shown_type", "spark_schema"]

SIMPLE: dict[pa.DataType, tuple[str, str]] = {
    pa.string(): ("string", "string"),
    pa.int64(): ("long", "bigint"),
    pa.int32(): ("integer", "int"),
    pa.int16(): ("short", "smallint"),
    pa.int8(): ("byte", "tinyint"),
    pa.float64(): ("double", "double"),
    pa.float32(): ("float", "float"),
    pa.bool_(): ("boolean", "boolean"),
    pa.date32(): ("date", "date"),
    pa.binary(): ("binary", "binary"),
    pa.timestamp("us"): ("timestamp_ntz", "timestamp_ntz"),
    pa.null(): ("void", "void"),
}
"""Type -> its name in a schema of Spark, and in a sentence."""

WIDER: dict[pa.DataType, pa.DataType] = {
    pa.large_string(): pa.string(),
    pa.string_view(): pa.string(),
    pa.large_binary(): pa.binary(),
    pa.binary_view(): pa.binary(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.null(): pa.string(),
}


def settled_type(kind: pa.DataType) -> pa.DataType | None:
    """The type in which a column of this type is written; None: there is none."""
    is_ = pa.types
    if kind in WIDER:
        return WIDER[kind]
    if kind in SIMPLE or is_.is_decimal128(kind):
        return kind
    if is_.is_dictionary(kind):
        return settled_type(kind.value_type)
    if is_.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if is_.is_map(kind):
        key, item = settled_type(kind.key_type), settled_type(kind.item_type)
        return None if key is None or item is None else pa.map_(key, item)
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind):
        inner = settled_type(kind.value_type)
        return None if inner is None else pa.list_(inner)
    if is_.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        inside = [(field.name, settled_type(field.type)) for field in fields]
        return None if any(kind is None for _, kind in inside) else pa.struct(cast(Any, inside))
    return None


def settled(table: pa.Table) -> pa.Table:
    """The table in types that can be written."""
    columns = []
    for name, column in zip(table.schema.names, table.columns, strict=True):
        kind = settled_type(column.type)
        if kind is None:
            raise InputError(f"column {name} is {column.type}, which Spark does not have: drop it or cast it")
        if kind.equals(column.type):
            columns.append(column)
            continue
        column = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        columns.append(column.cast(kind, safe=False) if pa.types.is_timestamp(kind) else column.cast(kind))
    return pa.Table.from_arrays(columns, names=table.schema.names)


def spark_type(kind: pa.DataType) -> Any:
    is_ = pa.types
    if is_.is_timestamp(kind) and kind.tz is not None:
        return "timestamp"
    if is_.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if is_.is_map(kind):
        types = {"keyType": spark_type(kind.key_type), "valueType": spark_type(kind.item_type)}
        return {"type": "map", **types, "valueContainsNull": True}
    if is_.is_list(kind):
        return {"type": "array", "elementType": spark_type(kind.value_type), "containsNull": True}
    if is_.is_struct(kind):
        return spark_fields([kind.field(place) for place in range(kind.num_fields)])
    return SIMPLE[kind][0]


def spark_fields(fields: list[Any]) -> dict[str, Any]:
    told = [{"name": f.name, "type": spark_type(f.type), "nullable": True, "metadata": {}} for f in fields]
    return {"type": "struct", "fields": told}


def spark_schema(schema: pa.Schema) -> dict[str, Any]:
    """As `StructType.jsonValue` says it: the form of a manifest."""
    return spark_fields([schema.field(place) for place in range(len(schema.names))])


def arrow_type(told: Any) -> pa.DataType | None:
    """The other way: from a type as Spark writes it in a schema; None where Arrow has no such type."""
    if isinstance(told, str):
        if told == "timestamp":
            return pa.timestamp("us", "UTC")
        size = re.fullmatch(r"decimal\((\d+),(-?\d+)\)", told)
        if size is not None:
            return pa.decimal128(int(size[1]), int(size[2]))
        return next((kind for kind, (name, _) in SIMPLE.items() if name == told), None)
    inner = {"array": ("elementType",), "map": ("keyType", "valueType")}.get(told.get("type"), ())
    kinds: list[Any] = [arrow_type(told[name]) for name in inner]
    if told.get("type") == "struct":
        fields = [(field["name"], arrow_type(field["type"])) for field in told["fields"]]
        return None if any(kind is None for _, kind in fields) else pa.struct(cast(Any, fields))
    if not kinds or None in kinds:
        return None
    return pa.list_(kinds[0]) if len(kinds) == 1 else pa.map_(*kinds)


def shown_type(kind: pa.DataType | None) -> str:
    """As Spark names it in one word."""
    is_ = pa.types
    if kind is None:
        return "of a type without a name here"
    kind = settled_type(kind) or kind
    if is_.is_timestamp(kind) and kind.tz is not None:
        return "timestamp"
    if is_.is_map(kind):
        return f"map<{shown_type(kind.key_type)},{shown_type(kind.item_type)}>"
    if is_.is_list(kind):
        return f"array<{shown_type(kind.value_type)}>"
    if is_.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return f"struct<{','.join(f'{f.name}:{shown_type(f.type)}' for f in fields)}>"
    return SIMPLE[kind][1] if kind in SIMPLE else str(kind)
