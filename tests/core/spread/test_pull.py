"""Few get a message by itself; all brokers do."""

from __future__ import annotations

from collections import Counter
from typing import Any

from antecede.core.frames import Data
from antecede.core.message import Publication
from tests.core.kit import sent
from tests.core.spread.test_multicast import broker


def test_so_many_subscribers_as_the_fanout_get_it_whatever_they_want() -> None:
    links = {f"S{i}": ("G1",) if i % 2 else ("G1", "G2") for i in range(10)}
    a: Any = broker("pull", links, fanout=3, deadlines=False)
    count = Counter[str]()
    for now_us in range(1, 60):
        frames = sent(a.publish(Publication(("G1",)), now_us)[1], Data)
        assert frames[0][0] == ("B", "D")
        below = [name for to, _ in frames[1:] for name in to]
        assert len(below) == len(set(below)) == 3
        count.update(below)
    assert len(count) == 10


def test_nobody_is_left_out_where_all_are_few() -> None:
    a: Any = broker("pull", {"S1": ("G1",), "S2": ("G2",)}, fanout=3, deadlines=False)
    assert [to for to, _ in sent(a.publish(Publication(("G1", "G2")), 1)[1], Data)] == [
        ("B", "C", "D"),
        ("S1",),
        ("S2",),
    ]
