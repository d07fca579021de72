"""The exported log is what ShiViz reads with its default expression, and its clocks tell the same happened-before."""

from __future__ import annotations

import json
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.trace.history import History
from antecede.trace.shiviz import shiviz
from tests.trace.tables import rows
from tests.trace.test_history import random_run

DEFAULT = re.compile(r"(?P<event>.*)\n(?P<host>\S*) (?P<clock>{.*})")


def test_the_log_of_a_small_run() -> None:
    text = "q 9 arrive p:1 from=p\nq 9 deliver p:1\np 1 join G1 from=A\np 2 publish p:1 G1\nq 9 end quiet"
    log = list(shiviz(rows(text)))
    assert log == [
        "",
        "",
        "join G1 at A @ 1 us",
        'p {"p": 1}',
        "publish p:1 G1 @ 2 us",
        'p {"p": 2}',
        "deliver p:1 (causes) @ 9 us",
        'q {"p": 2, "q": 1}',
        "end (quiet) @ 9 us",
        'q {"p": 2, "q": 2}',
    ]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 30))
def test_every_clock_starts_at_one_and_ticks_by_one(seed: int, size: int) -> None:
    run = random_run(seed, size)
    found = list(DEFAULT.finditer("\n".join(shiviz(run))))
    assert len(found) == sum(row.kind != "arrive" for row in run)
    last: dict[str, int] = {}
    published: dict[str, dict[str, int]] = {}
    for match in found:
        clock = json.loads(match["clock"])
        assert clock[match["host"]] == last.get(match["host"], 0) + 1
        last[match["host"]] = clock[match["host"]]
        words = match["event"].split()
        if words[0] == "publish":
            published[words[1]] = clock
    history = History(run)
    for told in history.messages:  # with `after`, the clock may know more than the declared causes, never less
        for other in history.messages:
            if told.ancestors & other.bit:
                mine, theirs = published[told.id], published[other.id]
                assert all(mine.get(name, 0) >= count for name, count in theirs.items())
