"""Rounds of pushing: how many, to whom, how often."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data
from antecede.core.machine import Peer
from antecede.core.message import Publication
from antecede.core.spread.gossip import Gossip
from tests.core.kit import grouped, sent
from tests.core.spread.test_multicast import broker

ROUND = 50_000


def targets(effects: Any) -> list[str]:
    return sorted(name for to, _ in sent(effects, Data) for name in to)


def gossiping(links: dict[str, tuple[str, ...]], times: int = 1, **knobs: Any) -> Any:
    return broker("cbcast+gossip", links, round_us=ROUND, times=times, **{"deadlines": False, **knobs})


def pushed(a: Any, now_us: int) -> list[str]:
    return targets(a.wake(now_us))


def test_ones_own_leaves_at_once_to_fanout_of_each_tier() -> None:
    a = gossiping({f"S{i}": ("G1",) for i in range(6)}, fanout=2)
    to = targets(a.publish(Publication(("G1", "G2")), 1)[1])
    assert len([name for name in to if name[0] == "S"]) == 2 and len([name for name in to if name[0] != "S"]) == 2
    assert a.spread.at_us is None, "once is once"


def test_what_came_goes_on_at_the_next_round_but_not_back() -> None:
    a = gossiping({"S1": ("G1",)}, fanout=9)
    effects = a.receive(Data((grouped("B:1", "G1", rank=1),)), "D", 1)
    assert targets(effects) == [] and a.spread.at_us == ROUND and a.next_wake() <= ROUND
    assert pushed(a, ROUND) == ["D", "S1"] and a.spread.at_us is None
    assert pushed(a, 2 * ROUND) == []


def test_as_often_as_it_is_told_to() -> None:
    a = gossiping({"S1": ("G1",)}, times=3, fanout=9)
    a.publish(Publication(("G1",)), 1)
    a.receive(Data((grouped("B:1", "G1", rank=1),)), "B", 2)
    assert [len(pushed(a, n * ROUND)) for n in (1, 2, 3, 4)] == [3 + 2, 3 + 2, 2, 0]


def test_what_has_expired_is_pushed_no_longer() -> None:
    a = gossiping({"S1": ("G1",)}, times=5, fanout=9, deadlines=True)
    a.publish(Publication(("G1",), b"", deadline_us=ROUND + 5), 1)
    assert pushed(a, ROUND) and not pushed(a, 2 * ROUND) and a.spread.at_us is None


def test_brokers_without_subscribers_pass_it_on_too() -> None:
    a = gossiping({}, fanout=9)
    a.receive(Data((grouped("B:1", "G1", rank=1),)), "B", 1)
    assert pushed(a, ROUND) == ["D"]


def test_how_often_is_a_setting() -> None:
    assert gossiping({}, times=4).spread.times == 4 and type(gossiping({}).spread) is Gossip


def test_with_a_view_below_gossip_goes_to_subscribers_of_others_too() -> None:  # 001 s3
    a = gossiping({"S1": ("G1",)}, fanout=3, view_below=3)
    everybody = {
        name: Peer(name, "subscriber", ("G1",) if name != "T" else ("G9",)) for name in ("S1", "S2", "S3", "T")
    }
    a.view({**a.members, **everybody}, 0)
    reached = set()
    for n in range(1, 20):
        a.publish(Publication(("G1",)), n * ROUND)
        reached |= {name for to in [targets(a.wake((n + 1) * ROUND))] for name in to if name[0] in "ST"}
        assert len(a.spread.below.names) == 3
    reached |= {name for name in targets(a.publish(Publication(("G1",)), 30 * ROUND)[1]) if name[0] in "ST"}
    out = [targets(a.publish(Publication(("G1",)), (31 + n) * ROUND)[1]) for n in range(20)]
    reached |= {name for to in out for name in to if name[0] in "ST"}
    assert reached == {"S1", "S2", "S3"}, "S2 and S3 are attached elsewhere; T wants nothing of this"
