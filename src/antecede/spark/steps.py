"""The steps of a pipeline by name, each from DataFrame to DataFrame: how a configuration becomes calls.

Decided in this file: which columns of a run play which part, and what the audit of a source is: the records themselves
where there are records; else two tables, the rows as they came and as they were let out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from antecede.spark.config import Columns, Pipeline, Wanted
from antecede.spark.cuts import HOLD
from antecede.spark.fuse import fuse
from antecede.spark.order import causal_order
from antecede.spark.readings import Interest

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["RUN", "columns_of", "findings", "fused", "order"]

Step = Callable[["DataFrame"], "DataFrame"]

RUN = Columns(
    id="message",
    parents="parents",
    group="view",
    deadline="deadline_us",
    time="sent_us",
    arrived="arrived_us",
    topic="topics",
)
"""The columns of `views.arrivals`. Senders are in the ids; the edge to one's previous message is among the parents."""


def columns_of(config: Pipeline) -> Columns:
    return RUN if config.source.kind == "run" else config.columns


def order(config: Pipeline) -> Step:
    """Rows -> the same rows with their place and fate."""
    columns = columns_of(config)
    options: dict[str, Any] = {role: getattr(columns, role) for role in columns.__struct_fields__ if role != "topic"}
    return causal_order(
        **{role: name for role, name in options.items() if name is not None},
        wait_us=config.order.wait_us,
        skip=config.order.skip,
        max_held=config.order.max_held,
    )


def fused(config: Pipeline) -> Step:
    """Ordered rows -> one row per group, cut and interest."""
    assert config.fuse is not None
    columns, told = columns_of(config), config.fuse
    interests: dict[str, object] = {
        name: Interest(wanted.filters, wanted.where) if isinstance(wanted, Wanted) else wanted
        for name, wanted in told.interests.items()
    }
    return fuse(
        id=columns.id,
        parents=columns.parents,
        clock=columns.clock,
        sender=columns.sender,
        group=columns.group,
        topic=columns.topic,
        time=columns.arrived or columns.time,
        values=told.values,
        interests=interests or None,
        every=told.every,
        every_us=told.every_us,
        marks=told.marks,
        over=told.over,
        senders=told.senders,
        hold=told.hold or HOLD,
        patience=told.patience,
        last=not config.mode.continuous,
    )
