"""Rows in causal order, in batches and in streams: the door to `causal_order` and what goes with it.

    ordered = table.transform(causal_order(id="id", parents="parents", group="room", unknown="skip"))
    reconcile(ordered, "room").show()

`operator` says what every argument means, `columns` which of them go together, `domain` what becomes of each row.
Names are loaded when they are first used: who orders in this process waits for nothing that only Spark needs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.spark.order.operator import causal_order, quarantine, reconcile
    from antecede.spark.order.saved import drain, held

__all__ = ["causal_order", "drain", "held", "quarantine", "reconcile"]

_ROOMS = {"causal_order": "operator", "quarantine": "operator", "reconcile": "operator", "drain": "saved"}
_ROOMS |= {"held": "saved"}


def __getattr__(name: str) -> object:
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"antecede.spark.order has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"antecede.spark.order.{room}"), name)
