"""Attendance agrees with the oracle's own books: who is owed what at every step, whom it listens to, how it ended."""

from __future__ import annotations

import numpy as np
import pytest

from antecede.core.recipes import RECIPES
from antecede.spark.auditing.attendance import Attendance, Control, Debts
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import Messages, build_messages
from antecede.trace.history import History, time_of
from antecede.trace.ledger import Ledger
from antecede.trace.pairs import Receiver
from antecede.trace.record import Row
from tests.spark.auditing.test_judging import simulated


def table_of(history: History) -> Messages:
    """The oracle's own numbering and past, as a table."""
    import pyarrow as pa

    sets = sorted({told.topics for told in history.messages})
    edges = [(a, b.index) for b in history.messages for a in range(b.index) if b.ancestors >> a & 1]
    parent, child = (np.array([e[n] for e in edges], np.int64) for n in (0, 1))
    names = [told.id for told in history.messages]
    processes = sorted({told.publisher for told in history.messages})
    messages = build_messages(
        key=keys_of(names), names=pa.chunked_array([names], pa.string()), time_us=np.arange(len(names)), parent=parent,
        child=child, set=np.array([sets.index(t.topics) for t in history.messages], np.int64),
        publisher=np.array([processes.index(t.publisher) for t in history.messages], np.int64),
        sets=[list(s) for s in sets], processes=processes,
    )  # fmt: skip
    loose = [told for told in history.messages if history.unordered & told.bit]
    loose.sort(key=lambda told: (told.publisher, told.step))
    messages.extra = {"loose": np.array([told.index for told in loose], np.int32)}
    return messages


def control(row: Row) -> Control:
    cut = None if row.cut is None else keys_of(list(row.cut)).view(np.int64).tolist()
    return Control(row.step, row.at_us, time_of(row), row.kind, row.groups, cut, row.guard_us, row.peer, row.reason)


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_every_step_of_every_process_is_as_in_the_oracles_ledger(recipe: str) -> None:
    checked = 0
    for index in range(3):
        rows, _ = simulated(4404, recipe, index)
        history = History(rows)
        messages, cache = table_of(history), {}  # type: ignore[var-annotated]
        everything = np.arange(messages.count)
        for name in history.processes:
            receiver = Receiver(name, history)
            few = [control(r) for r in receiver.rows if r.kind in ("join", "leave", "move", "crash", "restart", "end")]
            mine = Attendance.of(receiver.role, few)
            assert (mine.correct, mine.tail_unknown) == (receiver.correct, receiver.tail_unknown)
            own = np.array([bool(receiver.own >> n & 1) for n in range(messages.count)], bool)
            debts = Debts(mine, messages, own, cache)
            assert mask(debts.to_the_end(everything)) == receiver.standing
            ledger = Ledger(receiver, history)
            steps = {r.step for r in receiver.rows if r.kind in ("join", "leave", "move")}
            for row in receiver.rows:
                if row.step - 1 in steps or row.step in steps or row.step % 50 == 0:
                    here = np.full(messages.count, row.step)
                    assert mask(debts.at(everything, here)) == ledger.owed
                    assert mine.guard_us(here[:1])[0] == ledger.guard_us
                    segment = mine.segments[int(mine.segment(here[:1])[0])]
                    assert segment.fresh_from == ledger.fresh_from
                    peers = sorted(history.processes)
                    listens = mine.listens(np.full(len(peers) + 1, row.step), np.arange(-1, len(peers)), peers)
                    assert listens.tolist() == [ledger.attached(p) for p in [None, *peers]]
                    checked += 1
                ledger.take(row)
    assert checked > 100


def mask(flags: np.ndarray) -> int:
    return sum(1 << int(n) for n in np.flatnonzero(flags))


def test_a_process_that_never_joined_is_owed_nothing() -> None:
    mine = Attendance.of("member", [Control(3, 9, 9, "end", reason="quiet")])
    assert mine.correct and not mine.tail_unknown and mine.end_reason == "quiet"
    assert mine.guard_us(np.array([0, 5])).tolist() == [0, 0]
