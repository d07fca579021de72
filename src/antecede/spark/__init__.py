"""The pipeline on Spark: what most people need, under one name; loaded when it is first used.

Nothing of Spark is imported until a name is asked for, so that `import antecede` stays quick and works without it.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.spark.rows import trace_schema
    from antecede.spark.session import register

__all__ = ["register", "trace_schema"]

_ROOMS = {
    "register": "antecede.spark.session",
    "trace_schema": "antecede.spark.rows",
}


def __getattr__(name: str) -> object:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"antecede.spark has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(room), name)


def __dir__() -> list[str]:
    return list(__all__)
