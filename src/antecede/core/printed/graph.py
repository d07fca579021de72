"""001 s2.3 as printed: deliver when all ancestors (a broker) or the immediate predecessors (a subscriber) have come.

The paper does not say what becomes of predecessors that are addressed to other groups, which never come. Two readings:
wait for them all the same (for ever), or leave them out. A broker that leaves them out still verifies all the other
ancestors, for the whole graph comes along. A subscriber has only the immediate predecessors: with one that it leaves
out goes whatever stands behind it, and it delivers B1 without A1.
"""

from __future__ import annotations

from typing import Any

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Mark, Stamp
from antecede.core.order.graph import Entry, GraphWriter
from antecede.core.order.reader import everything

__all__ = ["READINGS", "PrintedGraphWriter"]

READINGS = {"printed-a": "wait", "printed-b": "leave out"}


class PrintedGraphWriter(GraphWriter):
    def __init__(self, *args: Any, foreign: str, **knobs: Any) -> None:
        super().__init__(*args, **knobs)
        self.foreign = foreign

    def _needs(self, entry: Entry, interest: Interest) -> tuple[Mark, ...]:
        """Of a broker. Those behind immediate ones were verified when these came; behind a left-out one all must be."""
        if self.foreign == "leave out":
            return super()._needs(entry, interest)
        return tuple(dict.fromkeys(mark for pred in entry.preds for mark in pred.marks))

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        """To a subscriber: "only the parent messages, that are immediate predecessors"."""
        entry = envelope.stamp.extra
        if not isinstance(entry, Entry):
            return envelope
        named = [pred for pred in entry.preds if self.foreign == "wait" or interest.wants(pred.node[2])]
        tests = interest.concerns if self.foreign == "leave out" else everything
        needs = tuple(dict.fromkeys(mark for pred in named for mark in pred.marks if tests(mark[0])))
        return Envelope(envelope.message, Stamp(entry.marks, needs, {}, envelope.stamp.rank))
