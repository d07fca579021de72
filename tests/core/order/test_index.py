"""The delivery index: causes found stream by stream are those a walk through the whole log finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.index import Log

STREAMS = ("p@G1", "p@G2", "q@G1")
MARKS = st.lists(st.tuples(st.sampled_from(STREAMS), st.integers(1, 12)), min_size=1, max_size=2)
STEPS = st.lists(st.tuples(MARKS, st.dictionaries(st.sampled_from(STREAMS), st.integers(0, 14)), st.integers(0, 8)))


def walked(log: Log, covers: dict[str, int]) -> int:
    """The slow and obvious way, before the next entry is appended."""
    after = 0
    for index, entry in log.entries.items():
        if any(n <= covers.get(stream, 0) for stream, n in entry.envelope.stamp.own):
            after |= 1 << (log.top - index)
    return after


@settings(max_examples=300, deadline=None)
@given(STEPS, st.booleans())
def test_causes_are_those_of_a_walk_through_the_log(
    steps: list[tuple[list[tuple[str, int]], dict[str, int], int]], in_turn: bool
) -> None:
    log = Log(1, Interest(("#",)), {}, (), plain=False)
    newest = dict.fromkeys(STREAMS, 0)
    for own, covers, ack in steps:
        marks = dict(own)
        if in_turn:
            marks = {stream: newest[stream] + n for stream, n in marks.items()}
            newest.update(marks)
        expected = walked(log, covers)
        item = log.append(Envelope(Message("p", 1, ("G1",)), Stamp(tuple(marks.items()), (), covers)))
        assert item is not None and item.after == expected
        log.acknowledge(log.top - ack)
