"""The pipeline on Spark: what most people need, under one name; loaded when it is first used.

Nothing of Spark is imported until a name is asked for, so that `import antecede` stays quick and works without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.spark.adopting import register
    from antecede.spark.foreign import audit_table
    from antecede.spark.imports import read_shiviz, spans
    from antecede.spark.rows import trace_schema

__all__ = ["audit_table", "read_shiviz", "register", "spans", "trace_schema"]

_ROOMS = {
    "audit_table": "antecede.spark.foreign",
    "read_shiviz": "antecede.spark.imports",
    "register": "antecede.spark.adopting",
    "spans": "antecede.spark.imports",
    "trace_schema": "antecede.spark.rows",
}


def __getattr__(name: str) -> object:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"antecede.spark has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(room), name)


def __dir__() -> list[str]:
    return list(__all__)
