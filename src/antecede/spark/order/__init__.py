"""Rows in causal order, in batches and in streams: the door to `causal_order` and what goes with it.

    ordered = table.transform(causal_order(id="id", parents="parents", group="room", unknown="skip"))
    reconcile(ordered, "room").show()

`operator` says what every argument means, `columns` how a table is read, `domain` what becomes of each row.
"""

from antecede.spark.order.operator import causal_order, quarantine, reconcile
from antecede.spark.order.saved import drain, held

__all__ = ["causal_order", "drain", "held", "quarantine", "reconcile"]
