"""The waiting list: a queue without time."""

from __future__ import annotations

from antecede.core.effects import Effect
from antecede.core.message import Stamp
from antecede.core.printed.waiting import LiteralReader, WaitingList
from tests.core.kit import flat, told


class Counted(LiteralReader):
    """Ready when the message's rank is reached."""

    def ready(self, stamp: Stamp) -> bool:
        return stamp.rank <= self.rank


def box() -> tuple[WaitingList, Counted, list[Effect]]:
    reader = Counted(lambda stream: True, dense=False)
    reader.rank = 1
    out: list[Effect] = []
    return WaitingList(reader, out, lambda envelope, now: None, guard_us=0, memory_us=10**9), reader, out


def test_what_is_ready_goes_out_and_the_rest_waits_whatever_the_time() -> None:
    waiting, reader, out = box()
    waiting.accept(flat("A:1", deadline_us=5), 9)
    waiting.accept(flat("B:1", {"A": 1}, deadline_us=5), 9)
    assert told(out) == ["deliver A:1 causes"] and list(waiting.held) == ["B:1"] and waiting.next_due() is None
    assert [held.envelope.message.id for held in waiting.blocked] == ["B:1"]
    out.clear()
    reader.rank = 2
    waiting.deliver_ready(10)
    assert told(out) == ["deliver B:1 causes"] and not waiting.held


def test_a_second_copy_is_noticed_only_while_the_first_waits() -> None:
    waiting, _, out = box()
    for name, needs in (("B:1", {"A": 1}), ("B:1", {"A": 1}), ("A:1", {}), ("A:1", {})):
        waiting.accept(flat(name, needs), 0)
    assert told(out) == ["discard B:1 duplicate", "deliver A:1 causes", "deliver A:1 causes"]


def test_headers_mean_nothing() -> None:
    waiting, _, out = box()
    waiting.skip(flat("A:1"), "expired", 0)
    assert out == [] and not waiting.seen
