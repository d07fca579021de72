"""A few get the message, the others its name; whoever is told asks."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data, Digest
from antecede.core.message import Publication
from tests.core.kit import carry, machine, sent
from tests.core.spread.test_multicast import VIEW, broker


def test_who_does_not_get_it_is_told_at_once() -> None:
    links = {f"S{i}": ("G1",) for i in range(5)}
    a: Any = broker("cbcast+lazy", links, fanout=1, deadlines=False)
    _, effects = a.publish(Publication(("G1",)), 1)
    got = {name for to, _ in sent(effects, Data) for name in to}
    told = {name: frame.offer for to, frame in sent(effects, Digest) for name in to}
    assert len(got) == 2 and got & {"B", "D"} and got & set(links)
    assert set(told) == ({"B", "D"} | set(links)) - got and all(offer == {"A@G1": 1} for offer in told.values())


def test_a_name_is_enough_to_get_it() -> None:
    a: Any = broker("cbcast+lazy", {}, fanout=1, deadlines=False)
    others: dict[str, Any] = {"A": a}
    for name in "BD":
        others[name] = machine("cbcast+lazy", name, "broker", "G1", deadlines=False)
        others[name].view(VIEW, 0)
        others[name].start(0)
    lines = carry(a.publish(Publication(("G1",)), 1)[1], "A", others, 1)
    assert {line for line in lines if "deliver" in line} == {"B: deliver A:1 causes", "D: deliver A:1 causes"}
    assert len([line for line in lines if "ask A for A:1" in line]) == 1


def test_where_rounds_count_a_subscriber_is_told_the_sender() -> None:
    a: Any = broker("rounds+lazy", {"S1": ("G1",), "S2": ("G1",)}, fanout=1, colours=9)
    _, effects = a.publish(Publication(("G1",)), 1)
    below = [frame.offer for to, frame in sent(effects, Digest) if to[0].startswith("S")]
    assert below == [{"A": 1}]
