"""001 s2.3 as printed: deliver when all ancestors (a broker) or the immediate predecessors (a subscriber) have come.

The paper does not say what becomes of predecessors that are addressed to other groups, which never come. Two readings:
wait for them all the same (for ever), or leave them out and what stands behind them too (and deliver B1 without A1).
"""

from __future__ import annotations

from typing import Any

from antecede.core.interest import Interest
from antecede.core.message import Mark
from antecede.core.order.graph import Entry, GraphWriter

__all__ = ["READINGS", "PrintedGraphWriter"]

READINGS = {"printed-a": "wait", "printed-b": "leave out"}


class PrintedGraphWriter(GraphWriter):
    def __init__(self, *args: Any, foreign: str, **knobs: Any) -> None:
        super().__init__(*args, **knobs)
        self.foreign = foreign

    def _needs(self, entry: Entry, interest: Interest) -> tuple[Mark, ...]:
        before = entry.preds
        if self.foreign == "leave out":
            before = [pred for pred in before if interest.wants(pred.node[2])]
        return tuple(dict.fromkeys(mark for pred in before for mark in pred.marks if self._tests(mark, interest)))

    def _tests(self, mark: Mark, interest: Interest) -> bool:
        return self.foreign == "wait" or interest.concerns(mark[0])
