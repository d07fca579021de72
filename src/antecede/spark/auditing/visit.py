"""One receiver of a table, ready to be judged.

Decided in this file: deliveries stand by position; at one position they have no order, are counted as ties, and stand
by name only so that every engine says the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from antecede.spark.auditing import cover
from antecede.spark.auditing.chunks import Coded
from antecede.spark.auditing.judge import Found
from antecede.spark.auditing.judging import named_in
from antecede.spark.auditing.messages import Messages
from antecede.spark.auditing.part import part_for
from antecede.spark.auditing.pieces import Results
from antecede.spark.auditing.places import TableMessages, judge_places
from antecede.spark.auditing.tables import Shelf

__all__ = ["Visit"]

Ints = NDArray[Any]


class Visit:
    """One receiver of a table."""

    matters = True

    def __init__(
        self, domain: str, receiver: str, chunks: list[dict[str, Any]], shelf: Shelf, results: Results
    ) -> None:
        self.domain = domain
        self.receiver = receiver
        self.shelf = shelf
        self.messages = shelf.get(domain)
        extra = self.messages.extra
        self.table = TableMessages(self.messages, extra["at"], extra["absent"], extra["keys"])
        read = [(c["count"], c["read"]()) for c in chunks]
        message = np.concatenate([np.frombuffer(data, np.int32, count) for count, data in read])
        position = np.concatenate([np.frombuffer(data, np.int64, count, 4 * count) for count, data in read])
        order, ties = in_order(message, position, self.messages)
        whole, self.position = message[order], position[order]
        self.rows = len(order)
        self.part = part_for(self.messages, whole)
        self.message = self.part.inside(whole)
        self.out = np.full(self.part.graph.count, cover.NEVER, np.int32)
        self.out[self.message[::-1]] = np.arange(len(order), dtype=np.int32)[::-1]
        results.add("counts", domain, rows=self.rows, deliveries=self.rows, processes=1)
        if len(ties):
            at = int(self.position[ties[0]])
            text = (
                f"receiver {receiver} has {len(ties)} deliveries at the position of another, the first at {at}: "
                "they have no order among themselves"
            )
            results.add("doubt", domain, verdict="tie", process=receiver, step=at, text=text)
            results.add("counts", domain, verdict="ties", rows=len(ties))

    def quick(self, results: Results) -> bool:
        covered = cover.quick(self.part.graph, self.out)
        if covered is None and self.part.numbers is None:
            return False
        if covered is None:
            covered = cover.blocks(self.part.graph, self.out[:, None])[:, 0]
        self.judge(covered, results)
        return True

    def judge(self, covered: Ints, results: Results) -> None:
        for found in judge_places(self.table, self.part, self.message, self.position, self.out, covered):
            message, other = self.messages.name(found.message), self._other(found)
            what = "missing" if found.verdict == "missing" else "finding"
            results.add(
                what, self.domain, verdict=found.verdict, process=self.receiver, message=message, other=other,
                step=found.step, text=named_in(found.text, message, other),
            )  # fmt: skip

    def _other(self, found: Found) -> str | None:
        if found.other < -1:
            return self.shelf.absent_name(self.domain, -2 - found.other)
        return self.messages.name(found.other) if found.other >= 0 else None


def in_order(message: Ints, position: Ints, messages: Messages) -> tuple[Ints, Ints]:
    """Places by position, at one position by name, so that every engine says the same; and which share a position."""
    order = np.argsort(position, kind="stable")
    placed = position[order]
    same = placed[1:] == placed[:-1]
    if not same.any():
        return order, np.zeros(0, np.int64)
    ties = np.flatnonzero(np.concatenate([[False], same]) | np.concatenate([same, [False]]))
    names = messages.names.take(pa.array(messages.named[message[order[ties]]]))
    coded = Coded.of(names)
    rank = np.argsort(np.argsort(np.array(coded.words, object)))[coded.codes]
    order[ties] = order[ties][np.lexsort((rank, placed[ties]))]
    return order, ties
