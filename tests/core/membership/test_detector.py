"""Pings, suspicion and news, each rule by itself and then in a town that loses frames."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from antecede.core.effects import Effect, Send
from antecede.core.frames import Frame, Ping, PingRequest, Pong, Sync
from antecede.core.membership.detector import NEWS, SUSPECTS, Detector, Probing
from antecede.core.membership.news import ALIVE, DEAD, LEFT, SUSPECT, News
from antecede.core.membership.table import Table
from tests.core.membership.town import Town

PERIOD = 1000
PROBING = Probing(period_us=PERIOD, timeout_us=300, proxies=2, suspicion=3, sync=100)


class Lone:
    """One detector, by hand."""

    def __init__(self, *others: str, role: str = "member", me: str = "A", at: str = "", sync: int = 100) -> None:
        self.out: list[Effect] = []
        self.table = Table(News(me, role, at=tuple(at.split())))
        for name in others:
            self.table.merge(News(name, "broker" if role != "member" else "member"))
        self.detector = Detector(self.table, replace(PROBING, sync=sync), Random(3), self.out)
        self.detector.begin(0)
        self.at_us = self.detector.next_us()

    def tick(self, at_us: int | None = None) -> list[tuple[str, Frame]]:
        self.at_us = self.detector.next_us() if at_us is None else at_us
        self.detector.tick(self.at_us)
        return self.sent()

    def get(self, frame: Ping | PingRequest | Pong | Sync, sender: str) -> list[tuple[str, Frame]]:
        self.detector.heard(sender)
        self.detector.receive(frame, sender)
        return self.sent()

    def sent(self) -> list[tuple[str, Frame]]:
        frames = [(to, effect.frame) for effect in self.out if isinstance(effect, Send) for to in effect.to]
        self.out.clear()
        return frames

    def state(self, name: str) -> str:
        return self.table.entries[name].state

    def pinged(self, periods: int) -> list[str]:
        """Whom it pings in so many periods; all answer."""
        found = []
        for _ in range(periods):
            for to, frame in self.tick():
                if isinstance(frame, Ping):
                    found.append(to)
                    self.get(Pong(frame.number, to), to)
            self.tick(self.at_us + PROBING.timeout_us)
        return found


def test_each_peer_is_pinged_once_a_round_in_changing_order() -> None:
    lone = Lone("B", "C", "D", "E")
    rounds = [lone.pinged(4) for _ in range(6)]
    assert all(sorted(one) == ["B", "C", "D", "E"] for one in rounds)
    assert len({tuple(one) for one in rounds}) > 1


def test_who_does_not_answer_is_pinged_by_others_then_suspected_then_dead() -> None:
    lone = Lone("B", "C", "D")
    ((target, ping),) = lone.tick()
    began_us = lone.at_us
    asked = lone.tick(began_us + PROBING.timeout_us)
    assert sorted(to for to, _ in asked) == sorted({"B", "C", "D"} - {target})
    assert all(isinstance(f, PingRequest) and f.target == target and f.number == ping.number for _, f in asked)  # type: ignore[union-attr]
    assert lone.state(target) == ALIVE
    lone.tick(began_us + PERIOD)
    assert lone.state(target) == SUSPECT
    ends_us = lone.at_us + lone.detector.suspicion_us()
    while lone.at_us < ends_us - PERIOD:
        lone.tick(lone.at_us + PERIOD // 2)
        assert lone.state(target) == SUSPECT
    lone.tick(ends_us)
    assert lone.state(target) == DEAD


def test_an_answer_in_time_asks_nobody() -> None:
    lone = Lone("B", "C", "D")
    ((target, ping),) = lone.tick()
    lone.get(Pong(ping.number, target), target)  # type: ignore[union-attr]
    assert not lone.tick(lone.at_us + PROBING.timeout_us)
    lone.tick()
    assert lone.state(target) == ALIVE


def test_an_answer_through_another_counts() -> None:
    lone = Lone("B", "C", "D")
    ((target, ping),) = lone.tick()
    proxy = lone.tick(lone.at_us + PROBING.timeout_us)[0][0]
    lone.get(Pong(ping.number, target), proxy)  # type: ignore[union-attr]
    lone.tick()
    assert lone.state(target) == ALIVE


def test_anything_heard_counts() -> None:
    lone = Lone("B", "C")
    ((target, _),) = lone.tick()
    lone.detector.heard(target)
    assert not lone.tick(lone.at_us + PROBING.timeout_us)


def test_what_was_heard_before_the_ping_does_not_count() -> None:
    lone = Lone("B")
    lone.detector.heard("B")
    lone.tick()
    lone.tick(lone.at_us + PROBING.timeout_us)
    lone.tick()
    assert lone.state("B") == SUSPECT


def test_a_proxy_passes_the_answer_on() -> None:
    lone = Lone("B", "C")
    ((to, ping),) = lone.get(PingRequest(7, "C"), "B")
    assert to == "C" and isinstance(ping, Ping)
    ((to, pong),) = lone.get(Pong(ping.number, "C"), "C")
    assert to == "B" and isinstance(pong, Pong) and (pong.number, pong.of) == (7, "C")
    assert not lone.get(Pong(ping.number, "C"), "C"), "once"


def test_a_ping_is_answered_by_its_number() -> None:
    lone = Lone("B")
    ((to, pong),) = lone.get(Ping(9), "B")
    assert to == "B" and isinstance(pong, Pong) and (pong.number, pong.of) == (9, "A")


def test_a_suspect_is_pinged_every_period_and_told_of_it() -> None:
    lone = Lone(*"BCDEFG")
    lone.detector.learn(replace(lone.table.entries["C"], state=SUSPECT))
    for _ in range(3):
        pings = {to: frame for to, frame in lone.tick(lone.at_us + PERIOD) if isinstance(frame, Ping)}
        assert "C" in pings and any(news.name == "C" and news.state == SUSPECT for news in pings["C"].news)


def test_no_more_than_a_few_suspects_are_pinged_at_once() -> None:
    lone = Lone(*(f"m{i}" for i in range(40)))
    for i in range(40):
        lone.detector.learn(News(f"m{i}", "member", state=SUSPECT))
    assert len([f for _, f in lone.tick() if isinstance(f, Ping)]) <= SUSPECTS + 1


def test_a_suspect_refutes_with_a_greater_number() -> None:
    lone = Lone("B")
    ((_, pong),) = lone.get(Ping(1, (News("A", "member", number=4, state=SUSPECT),)), "B")
    assert isinstance(pong, Pong) and pong.news[0].name == "A"
    assert (pong.news[0].number, pong.news[0].state) == (5, ALIVE)
    lone.get(Ping(2, (News("A", "member", number=4, state=SUSPECT),)), "B")
    assert lone.table.me.number == 5, "that one is answered already"
    other = Lone("A", me="B")
    other.detector.learn(News("A", "member", number=4, state=SUSPECT))
    other.get(pong, "A")
    assert other.state("A") == ALIVE
    other.tick(other.at_us + 100 * PERIOD)
    assert other.state("A") == ALIVE, "its time is not up: it has refuted"


def test_a_claim_that_leaves_no_greater_number_is_not_taken_up() -> None:
    lone = Lone("B")
    ((_, pong),) = lone.get(Ping(1, (News("A", "member", number=2**63 - 1, state=SUSPECT),)), "B")
    assert pong.news[0].number == 0, "what it says of itself can still be sent"


def test_suspicion_lasts_longer_in_larger_views() -> None:
    times = [Lone(*(f"m{i}" for i in range(n))).detector.suspicion_us() for n in (1, 7, 63)]
    assert times == [6 * PERIOD, 12 * PERIOD, 21 * PERIOD]


def test_who_is_said_to_be_dead_and_is_not_is_expelled() -> None:
    for state in (DEAD, LEFT):
        lone = Lone("B")
        lone.get(Ping(1, (News("A", "member", state=state),)), "B")
        assert lone.detector.expelled_by == "B"


def test_whose_place_is_taken_is_expelled() -> None:
    lone = Lone("B")
    lone.get(Ping(1, (News("A.1", "member"),)), "B")
    assert lone.detector.expelled_by == "B"
    later = Lone("B", me="A.2")
    later.get(Ping(1, (News("A.1", "member"),)), "B")
    assert later.detector.expelled_by is None and "A.1" not in later.table.entries


def test_news_is_told_so_often_and_no_more_and_the_least_told_first() -> None:
    lone = Lone(*(f"m{i}" for i in range(30)))
    lone.detector.learn(News("x", "member"))
    carried = 0
    for number in range(60):
        ((_, pong),) = lone.get(Ping(number), "m1")
        assert isinstance(pong, Pong)
        carried += any(news.name == "x" for news in pong.news)
    assert carried == 3 * len(lone.table.entries).bit_length()
    for i in range(20):
        lone.detector.learn(News(f"y{i}", "member"))
    told: list[str] = []
    for number in range(3):
        ((_, pong),) = lone.get(Ping(number), "m1")
        assert isinstance(pong, Pong) and len(pong.news) <= NEWS + 1
        told += [news.name for news in pong.news if news.name.startswith("y")]
    assert len(set(told)) == 20


def test_everything_is_told_every_so_often() -> None:
    lone = Lone("B", "C", sync=4)
    syncs = [frame for _ in range(8) for _, frame in lone.tick() if isinstance(frame, Sync)]
    assert syncs and {news.name for news in syncs[0].news} == {"A", "B", "C"} and syncs[0].reply
    ((to, answer),) = lone.get(Sync((News("D", "member"),), reply=True), "D")
    assert to == "D" and isinstance(answer, Sync) and not answer.reply
    assert {news.name for news in answer.news} == {"A", "B", "C", "D"}


# -- two tiers -----------------------------------------------------------------------------------------------------


def test_a_broker_pings_brokers_its_own_subscribers_and_orphans() -> None:
    lone = Lone("B", "C", role="broker")
    for name, at in (("S1", ("A",)), ("S2", ("B",)), ("S3", ("B", "A")), ("S4", ("X",)), ("S5", ())):
        lone.detector.learn(News(name, "subscriber", at=at))
    assert set(lone.pinged(12)) == {"B", "C", "S1", "S3", "S4", "S5"}
    lone.detector.learn(News("B", "broker", state=DEAD))
    assert "S2" in lone.pinged(12)


def test_a_subscriber_pings_its_own_brokers_and_decides_about_nobody() -> None:
    lone = Lone("B", "C", role="subscriber", me="S1", at="B")
    for _ in range(20):
        assert {to for to, frame in lone.tick() if isinstance(frame, Ping)} <= {"B"}
    assert lone.state("B") == ALIVE and list(lone.detector.lost) == ["B"]
    lone.detector.heard("B")
    assert not lone.detector.lost


def test_a_subscriber_speaks_for_itself_only() -> None:
    lone = Lone("B", role="broker")
    lone.get(Ping(1, (News("S1", "subscriber"), News("B", "broker", state=DEAD))), "S1")
    assert lone.state("B") == ALIVE and lone.state("S1") == ALIVE
    lone.get(Ping(2, (News("S1", "subscriber", at=("B",), number=1),)), "S1")
    assert lone.table.entries["S1"].at == ("B",)


def test_two_subscribers_under_one_name_lose_it_whichever_is_heard_of_first() -> None:
    ann = News("ann", "subscriber", site="1 A", at=("A",), number=7)
    other = News("ann", "subscriber", site="2 B", at=("B",), number=1)
    for one, two, sender in ((ann, other, "B"), (other, ann, "ann")):
        lone = Lone("B", role="broker")
        lone.get(Ping(1, (one,)), "B")
        lone.get(Ping(2, (two,)), sender)
        assert lone.table.entries["ann"] == replace(other, state=DEAD) and lone.table.is_out("ann")


def test_a_subscriber_that_moves_or_is_suspected_is_one() -> None:
    lone, ann = Lone("B", role="broker"), News("ann", "subscriber", site="1 A", at=("A",), number=7)
    for news in (ann, replace(ann, at=("B",), number=8), replace(ann, state=SUSPECT), replace(ann, number=9)):
        lone.get(Ping(1, (news,)), "B")
        assert lone.state("ann") == ALIVE
    lone.get(Ping(1, (News("eve", "subscriber", number=1), News("eve", "subscriber", site="1 A"))), "B")
    assert lone.state("eve") == ALIVE, "one of them did not say where it began"


def test_a_subscriber_hears_of_brokers_only_the_newest_with_every_frame() -> None:
    lone = Lone("B", role="broker")
    lone.detector.learn(News("S1", "subscriber", at=("A",)))
    lone.detector.learn(News("S2", "subscriber"))
    for number in range(40):
        ((_, pong),) = lone.get(Ping(number), "S1")
        assert isinstance(pong, Pong) and {news.name for news in pong.news} == {"A", "B"}


# -- all together --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [2, 5, 16])
def test_a_crash_is_found_by_all(count: int) -> None:
    names = " ".join(f"m{i:02}" for i in range(count))
    town = Town(names)
    town.run(4)
    town.crash("m00")
    took = town.run_until_agreed(60)
    assert 5 <= took <= 2 + 5 * count.bit_length()
    assert not town.expelled


def test_nobody_is_expelled_though_a_tenth_is_lost() -> None:
    town = Town(" ".join(f"m{i}" for i in range(8)), loss=0.1)
    town.run(200)
    assert not town.expelled and town.agree()
