"""Subscribers that pass on what they got: to whom, once, and how long they pull."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from antecede.core.frames import Attached, Data, Detach, Digest
from antecede.core.machine import Peer
from antecede.core.message import Envelope, Message, Stamp
from antecede.sim.draw import draw
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check
from tests.core.kit import machine, sent, told, view_of

ROUND = 50_000
COLOURS = 5
ALIKE = ("S1", "S2", "S3", "S4")


def subscriber(**knobs: Any) -> Any:
    one = machine("rounds", "S", "subscriber", colours=COLOURS, round_us=ROUND, **{"forward": True, **knobs})
    view = view_of({"A": "G1", "B": "G1 G2"}, "S")
    view |= {name: Peer(name, "subscriber", ("G1",)) for name in ("S", *ALIKE)}
    view["T"] = Peer("T", "subscriber", ("G1", "G2"))
    one.view(view, 0)
    one.subscribe(("G1",), ("A",), 0)
    one.receive(Attached(1, {}, ()), "A", 0)
    return one


def data(one: Any, name: str) -> Data:
    sender, _, number = name.partition(":")
    message = Message(sender, int(number), ("G1",), b"", one.reader.clock.end_us(int(number)))
    return Data((Envelope(message, Stamp(((sender, int(number)),), rank=1)),))


def targets(effects: Any) -> list[str]:
    return sorted(name for to, _ in sent(effects, Data) for name in to)


def test_what_came_goes_on_once_with_the_next_round_to_fanout_that_want_the_same() -> None:
    one = subscriber(fanout=2)
    assert targets(one.receive(data(one, "A:1"), "A", 5)) == [] and one.next_wake() == ROUND
    first = one.wake(ROUND)
    assert len(targets(first)) == 2 and set(targets(first)) < set(ALIKE), "T wants more: its stamps differ"
    assert targets(one.receive(data(one, "A:1"), "S1", ROUND + 1)) == []
    assert targets(one.wake(2 * ROUND)) == []
    everybody = subscriber(fanout=9)
    everybody.receive(data(everybody, "A:1"), "A", 5)
    assert targets(everybody.wake(ROUND)) == list(ALIKE)


def test_its_view_is_as_large_as_it_is_told() -> None:
    one = subscriber(fanout=9, view_below=2, renewed=0.0)
    one.receive(data(one, "A:1"), "A", 5)
    first = targets(one.wake(ROUND))
    one.receive(data(one, "A:2"), "A", ROUND + 5)
    assert len(first) == 2 and targets(one.wake(2 * ROUND)) == first


def test_it_pulls_from_a_broker_each_round_while_what_came_may_live() -> None:
    one = subscriber()
    one.receive(data(one, "A:1"), "A", 5)
    for number in range(1, COLOURS + 1):
        assert one.next_wake() <= number * ROUND
        pulls = sent(one.wake(number * ROUND), Digest)
        assert [(to, frame.reply) for to, frame in pulls] == [(("A",), True)]
    assert one.next_wake() is None, "a quiet system sends nothing"


def test_what_others_forward_is_taken_and_forwarded_but_nothing_that_expired() -> None:
    one = subscriber(fanout=9)
    assert told(one.receive(data(one, "A:1"), "S3", 5))[0] == "deliver A:1 causes"
    late = subscriber(fanout=9)
    late.receive(data(late, "A:1"), "S3", (COLOURS * ROUND) - 5)
    assert len(targets(one.wake(ROUND))) == 4 and targets(late.wake(COLOURS * ROUND)) == []


def test_who_wants_something_else_by_now_neither_takes_nor_forwards_gossip() -> None:
    one = subscriber(fanout=9)
    one.subscribe(("G2",), ("B",), 5)
    one.receive(Attached(2, {}, ()), "B", 6)
    effects = one.receive(data(one, "A:1"), "S3", 7)
    assert told(effects)[0] == "discard A:1 foreign" and targets(one.wake(ROUND)) == []
    other = subscriber()
    assert other.receive(Detach(2), "S", 8) == [], "or two of them would send each other off for ever"


def test_without_it_nobody_forwards() -> None:
    one = subscriber(forward=False)
    one.receive(data(one, "A:1"), "A", 5)
    assert one.forwarding is None and one.next_wake() is None


def test_subscribers_that_forward_reach_nearly_all_where_two_thirds_were_reached() -> None:
    base = Scenario(recipe="rounds", brokers=4, subscribers=120, messages=4, rate=20, loss=0.05, homes=1,
                    delay_ms=(5, 15), groups="G1=A,B,C,D", seed=3)  # fmt: skip

    def reach(scenario: Scenario) -> float:
        run = simulate(scenario)
        report = check(run.rows, scenario=run.body())
        assert report.clean and run.quiet
        return report.fates["delivered"] / report.pairs

    assert reach(base) < 0.8 and reach(replace(base, forward=True)) > 0.97


@pytest.mark.parametrize("index", range(6))
def test_drawn_scenarios_stay_clean(index: int) -> None:
    scenario = replace(draw(77, "rounds", index), forward=True, view_below=(0, 0, 3)[index % 3])
    run = simulate(scenario)
    report = check(run.rows, scenario=run.body())
    assert not report.findings and sum(report.fates.values()) == report.pairs, f"draw(77, 'rounds', {index})"
