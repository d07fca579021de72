"""The pipeline on Spark: what most people need, under one name; loaded when it is first used.

    from antecede.spark import audit, audit_table, causal_order, fuse, register, session

Nothing of Spark is imported until a name is asked for, so that `import antecede` stays quick and works without it. No
module here is called like one of these names: importing it would put it in the place of what people asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.spark.adopting import register
    from antecede.spark.foreign import audit_table
    from antecede.spark.fusing import Function, Interest, fuse
    from antecede.spark.imports import read_shiviz, spans
    from antecede.spark.metrics import stream_metrics
    from antecede.spark.order import causal_order, drain, held, quarantine, reconcile
    from antecede.spark.pipeline import run_pipeline
    from antecede.spark.rows import trace_schema
    from antecede.spark.sessions import session
    from antecede.spark.trace_audit import audit

__all__ = [
    "Function",
    "Interest",
    "audit",
    "audit_table",
    "causal_order",
    "drain",
    "fuse",
    "held",
    "quarantine",
    "read_shiviz",
    "reconcile",
    "register",
    "run_pipeline",
    "session",
    "spans",
    "stream_metrics",
    "trace_schema",
]

_ROOMS = {
    "Function": "fusing",
    "Interest": "fusing",
    "audit": "trace_audit",
    "audit_table": "foreign",
    "causal_order": "order",
    "drain": "order",
    "fuse": "fusing",
    "held": "order",
    "quarantine": "order",
    "read_shiviz": "imports",
    "reconcile": "order",
    "register": "adopting",
    "run_pipeline": "pipeline",
    "session": "sessions",
    "spans": "imports",
    "stream_metrics": "metrics",
    "trace_schema": "rows",
}


def __getattr__(name: str) -> object:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"antecede.spark has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"{__name__}.{room}"), name)


def __dir__() -> list[str]:
    return list(__all__)
