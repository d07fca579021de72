"""Senders that left: when nobody need name them any more, who is told, and what a late copy meets."""

from __future__ import annotations

from typing import Any

from antecede.core.effects import Deliver, Discard, Effect, Send
from antecede.core.frames import Attach, Data, Frame, Quiet, Retired
from antecede.core.home.retiring import Naming, Retiring, strip
from antecede.core.message import Envelope, Publication, Stamp
from tests.core.kit import grouped, machine, message, view_of

KNOBS = {"round_us": 100, "grace_us": 1_000, "memory_us": 500, "retry_us": 50, "deadlines": False}
STEP_US = 10


class Town:
    """Brokers A and B and their clients, each frame a step later than it was sent, each timer when it is due."""

    def __init__(self, remember_us: int = 100_000, brokers: str = "AB") -> None:
        self.now_us, self.remember_us = 0, remember_us
        self.brokers = dict.fromkeys(brokers, "G1")
        self.all: dict[str, Any] = {}
        self.flying: list[tuple[str, str, Frame]] = []
        self.delivered: dict[str, list[str]] = {}
        self.envelopes: dict[str, Envelope] = {}
        self.lost: set[str] = set()
        """Kinds of frames that are lost from now on."""
        for name in brokers:
            self.add(name, "broker", "G1")
        self.look()
        for name in brokers:
            self.told(name, self.all[name].start(0))

    def add(self, name: str, role: str, groups: str = "") -> Any:
        self.all[name] = machine("home", name, role, groups, remember_us=self.remember_us, **KNOBS)
        return self.all[name]

    def look(self) -> None:
        view = view_of(self.brokers, " ".join(name for name in self.all if name not in self.brokers))
        for name, one in self.all.items():
            self.told(name, one.view(view, self.now_us))

    def client(self, name: str, at: str, *filters: str) -> Any:
        one = self.add(name, "subscriber")
        self.look()
        self.told(name, one.start(self.now_us))
        self.told(name, one.subscribe(filters, (at,), self.now_us))
        self.run(200)
        return one

    def leave(self, name: str) -> None:
        self.told(name, self.all.pop(name).unsubscribe(self.now_us))
        self.look()

    def publish(self, name: str) -> Envelope:
        told, effects = self.all[name].publish(Publication(["G1"], b""), self.now_us)
        self.told(name, effects)
        self.run(60)
        return self.envelopes[told.id]

    def told(self, name: str, effects: list[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                for envelope in getattr(effect.frame, "envelopes", ()):
                    self.envelopes.setdefault(envelope.message.id, envelope)
                if effect.frame.kind not in self.lost:
                    self.flying += [(name, to, effect.frame) for to in effect.to]
            elif isinstance(effect, Deliver):
                self.delivered.setdefault(name, []).append(effect.message.id)

    def run(self, span_us: int) -> None:
        until_us = self.now_us + span_us
        while self.now_us < until_us:
            self.now_us += STEP_US
            flying, self.flying = self.flying, []
            for sender, to, frame in flying:
                if to in self.all:
                    self.told(to, self.all[to].receive(frame, sender, self.now_us))
            for name, one in list(self.all.items()):
                wake_us = one.next_wake()
                if wake_us is not None and wake_us <= self.now_us:
                    self.told(name, one.wake(self.now_us))

    def chat(self, name: str, times: int) -> Envelope:
        """Somebody publishes now and then: a quiet system compares nothing, and so retires nothing."""
        for _ in range(times):
            self.run(240)
            last = self.publish(name)
        return last


def visited(**knobs: Any) -> Town:
    """P has published once and left; S, at B, has had it; T goes on publishing."""
    town = Town(**knobs)
    town.client("S", "B", "G1")
    town.client("T", "A", "G1")
    town.client("P", "A")
    town.publish("P")
    assert town.delivered["S"] == ["P:1"]
    town.leave("P")
    return town


def test_who_left_is_named_until_it_is_over_everywhere_and_then_no_more() -> None:
    town = visited()
    assert town.publish("S").stamp.covers == {"P@G1": 1}
    town.chat("T", 20)
    last = town.publish("S").stamp
    assert "P@G1" not in last.covers and all(stream != "P@G1" for stream, _ in last.needs)
    assert set(last.covers) == {"T@G1"}, "what S itself published is over, too"
    for name in "ST":
        frontier = town.all[name].application.frontier()
        assert "P@G1" not in frontier.marks and "P" not in town.all[name].tops
    for name in "AB":
        assert "P@G1" not in town.all[name].writer.past() and "P" not in town.all[name].tops


def test_where_nothing_is_remembered_for_a_time_nobody_is_ever_left_out() -> None:
    town = visited(remember_us=0)
    town.chat("T", 20)
    assert "P@G1" in town.publish("S").stamp.covers


def test_a_client_that_begins_later_is_not_told_of_it_and_its_cut_counts_what_was_let_go_of() -> None:
    town = visited()
    town.chat("T", 20)
    late = town.client("L", "B", "G1")
    assert "P@G1" not in late.start_marks
    assert not any(one.startswith("P:") for one in town.all["B"].cut())
    assert f"B@:{town.all['B'].store.collected}" in town.all["B"].cut()


def test_a_late_copy_lies_behind_although_nobody_names_it() -> None:
    town = visited()
    old = town.envelopes["P:1"]
    town.chat("T", 20)
    assert town.all["B"].retiring.retired["P@G1"] == 1
    town.all["B"].inbox.seen.clear()
    said = town.all["B"].receive(Data((old,)), "A", town.now_us)
    assert [type(one) for one in said if not isinstance(one, Send)] == [Discard]
    assert town.delivered["S"].count("P:1") == 1


def test_a_subscriber_that_has_not_had_it_holds_it_back() -> None:
    town = Town()
    town.client("S", "B", "G1")
    town.client("T", "A")
    town.client("P", "A")
    town.lost = {"items", "top", "grown"}
    town.publish("P")
    town.leave("P")
    town.chat("T", 15)
    assert not town.all["A"].retiring.retired
    town.lost = set()
    town.chat("T", 25)
    assert town.delivered["S"][0] == "P:1"
    assert town.all["A"].retiring.retired["P@G1"] == 1


def test_whatever_is_lost_is_said_again() -> None:
    town = visited()
    town.lost = {"quiet"}
    town.chat("T", 15)
    assert not town.all["A"].retiring.retired
    town.lost = {"retired"}
    town.chat("T", 10)
    assert town.all["A"].retiring.retired and not town.all["B"].retiring.retired
    assert set(town.all["A"].retiring._untold) == {"B", "T"}
    town.lost = set()
    town.chat("T", 8)
    assert town.all["B"].retiring.retired and "P@G1" not in town.all["S"].upper.past()
    assert not town.all["A"].retiring._untold


def test_who_publishes_again_is_named_again() -> None:
    town = Town()
    town.client("S", "B", "G1")
    town.client("T", "A", "G1")
    town.client("P", "A")
    town.publish("P")
    town.chat("T", 20)
    assert "P@G1" not in town.publish("S").stamp.covers
    town.publish("P")
    assert town.delivered["S"][-1] == "P:2" and town.publish("S").stamp.covers["P@G1"] == 2


def test_who_is_out_of_view_is_forgotten_who_is_in_it_is_not() -> None:
    town = visited(remember_us=1)
    town.client("Q", "A")
    town.publish("Q")
    town.chat("T", 45)
    for name in "AB":
        broker = town.all[name]
        assert "P@G1" not in broker.reader.front and "P" not in broker.departed
        assert broker.reader.front["Q@G1"] == 1 and broker.retiring.retired["Q@G1"] == 1
    town.leave("Q")
    town.client("P.1", "B")
    assert town.publish("P.1").message.id == "P.1:1" and town.delivered["S"][-1] == "P.1:1"


def test_a_newcomer_among_the_brokers_is_told_what_has_retired() -> None:
    town = visited()
    town.chat("T", 20)
    town.brokers["C"] = "G1"
    town.add("C", "broker", "G1")
    town.look()
    town.told("C", town.all["C"].start(town.now_us, joining=True))
    town.chat("T", 10)
    assert town.all["C"].retiring.retired["P@G1"] == 1
    town.told("S", town.all["S"].move(("C",), town.now_us))
    town.chat("T", 3)
    assert town.delivered["S"].count("P:1") == 1


def test_two_newcomers_among_the_brokers_are_told_by_one_that_was_there_before() -> None:
    """Each of them has a smaller name than C, and has nothing to tell."""
    town = visited(brokers="ABC")
    town.chat("T", 20)
    for name in "AB":
        del town.brokers[name], town.all[name]
    town.look()
    town.run(3_000)
    for name in ("A.1", "B.1"):
        town.brokers[name] = "G1"
        town.add(name, "broker", "G1")
    town.look()
    for name in ("A.1", "B.1"):
        town.told(name, town.all[name].start(town.now_us, joining=True))
    town.client("V", "C")
    town.chat("V", 10)
    for name in ("A.1", "B.1"):
        assert town.all[name].retiring.retired == town.all["C"].retiring.retired


def test_a_client_that_attaches_and_still_names_it_is_told() -> None:
    town = visited()
    town.chat("T", 20)
    town.told("B", town.all["B"].receive(Attach(1, ("G1",), {"P@G1": 1}), "S2", town.now_us))
    assert town.all["B"].retiring._untold == {"S2": {"P@G1": 1}}
    town.all["B"].receive(Retired({"P@G1": 1}, heard=True), "S2", town.now_us)
    assert not town.all["B"].retiring._untold


def test_only_brokers_say_that_a_stream_is_over() -> None:
    town = visited()
    town.all["A"].receive(Quiet({"T@G1": 9}), "S", town.now_us)
    town.all["A"].receive(Retired({"T@G1": 9}), "S", town.now_us)
    assert isinstance(town.all["A"].retiring, Retiring) and "T@G1" not in town.all["A"].retiring.retired


def test_a_client_does_not_learn_again_what_it_was_told_while_something_waits() -> None:
    town = visited()
    client = town.all["S"]
    client.naming.on_retired(Retired({"P@G1": 1}), town.now_us)
    assert isinstance(client.naming, Naming)
    client.delivered(grouped("Q:1", "G1", needs=[("P@G1", 1)]), 0)
    assert "P@G1" not in client.upper.past() and client.upper.past()["Q@G1"] == 1


def test_a_client_with_which_something_always_waits_forgets_what_retired_long_ago() -> None:
    town = visited()
    client = town.all["S"]
    client.inbox.accept(Envelope(message("Q:2"), Stamp((("", 99),), (("", 98),))), town.now_us)
    assert client.waits()
    known = []
    for at_us in range(0, 1_000_000, 20_000):
        client.naming.on_retired(Retired({f"P{at_us}@G1": 1}), town.now_us + at_us)
        known.append(len(client.naming._retired))
    assert max(known[10:]) <= 11, "those of twice the time that brokers know them"
    last = grouped("Q:3", "G1", needs=[("P900000@G1", 1)])
    assert not client.naming.learned(last).stamp.covers


def test_what_is_stripped_keeps_its_own_mark_and_other_causes() -> None:
    envelope = grouped("Q:2", "G1", needs=[("P@G1", 3), ("Q@G1", 1)], covers={"P@G1": 3, "Q@G1": 1, "R@G1": 2})
    bare = strip(envelope, {"P@G1": 3, "R@G1": 1}).stamp
    assert bare.own == (("Q@G1", 2),) and dict(bare.covers) == {"Q@G1": 1, "R@G1": 2}
    assert set(bare.needs) == {("Q@G1", 1), ("R@G1", 2)}, "P:3 may have stood for R:2"
    assert strip(envelope, {"X@G1": 1}) is envelope and strip(envelope, {"P@G1": 2}) is envelope


def test_who_waits_for_something_of_a_stream_that_is_over_waits_no_more() -> None:
    """A says that P:1, which never came to B, is over everywhere: what follows it goes out at B."""
    one = machine("home", "B", "broker", "G1", remember_us=100_000, **KNOBS)
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    late = grouped("T:1", "G1", needs=[("P@G1", 1)])
    assert not [e for e in one.receive(Data((late,)), "A", 1) if isinstance(e, Deliver)]
    effects = one.receive(Retired({"P@G1": 1}), "A", 2)
    assert [e.message.id for e in effects if isinstance(e, Deliver)] == ["T:1"]
