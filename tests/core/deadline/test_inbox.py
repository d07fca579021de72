"""Every way in and out of the Inbox, each rule by hand; then all of them against a twin that scans lists."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Effect
from antecede.core.interest import Interest
from antecede.core.message import Envelope
from antecede.core.order.graph import GraphWriter
from antecede.core.order.numbered import IndexReader, Log, item_stamp
from antecede.core.order.reader import Reader
from antecede.core.order.vector import VectorWriter
from tests.core.kit import EVENTS, PLANS, World, agree, flat, grouped, told


def everything(stream: str) -> bool:
    return True


class Box:
    """An Inbox of a flat group, and what it says."""

    def __init__(self, guard_us: int = 0, memory_us: int = 1000) -> None:
        self.out: list[Effect] = []
        self.passed: list[str] = []
        self.reader = Reader(everything, dense=True)
        self.inbox = Inbox(self.reader, self.out, self.on_deliver, guard_us=guard_us, memory_us=memory_us)

    def on_deliver(self, envelope: Envelope, now_us: int) -> None:
        assert told(self.out)[-1].startswith(f"deliver {envelope.message.id} ")
        self.passed.append(f"{envelope.message.id}@{now_us}")

    def accept(self, *envelopes: Envelope, now: int = 0) -> list[str]:
        for envelope in envelopes:
            self.inbox.accept(envelope, now)
        return self.said()

    def wake(self, now: int) -> list[str]:
        self.inbox.wake(now)
        return self.said()

    def said(self) -> list[str]:
        lines = told(self.out)
        self.out.clear()
        return lines


def test_what_is_ready_is_delivered_at_once_and_handed_on() -> None:
    box = Box()
    assert box.accept(flat("A:1"), now=7) == ["deliver A:1 causes"]
    assert box.passed == ["A:1@7"]


def test_a_second_arrival_is_a_duplicate_whatever_became_of_the_first() -> None:
    box = Box()
    held = flat("B:1", {"A": 1}, deadline_us=100)
    late = flat("C:1", deadline_us=3)
    assert box.accept(flat("A:2", {"A": 1}), held, late, now=5) == ["discard C:1 late"]
    assert box.accept(flat("A:2", {"A": 1}), held, late, now=5) == [
        "discard A:2 duplicate", "discard B:1 duplicate", "discard C:1 duplicate",
    ]  # fmt: skip
    box.accept(flat("A:1"))
    assert box.accept(held, now=200) == ["discard B:1 duplicate"]


def test_the_deadline_of_a_message_that_is_out_means_nothing() -> None:
    box = Box()
    held = flat("A:2", {"A": 1}, deadline_us=5)
    assert box.accept(held, flat("A:1")) == ["deliver A:1 causes", "deliver A:2 causes"]
    assert box.accept(flat("B:2", {"B": 1}, deadline_us=9)) == []
    assert box.wake(9) == ["deliver B:2 deadline"]


def test_in_time_means_up_to_the_deadline_less_the_guard() -> None:
    assert Box(guard_us=10).accept(flat("A:1", deadline_us=100), now=90) == ["deliver A:1 causes"]
    assert Box(guard_us=10).accept(flat("A:1", deadline_us=100), now=91) == ["discard A:1 late"]
    assert Box().accept(flat("A:1", deadline_us=100), now=100) == ["deliver A:1 causes"]


def test_what_lies_behind_is_superseded_or_late_or_before_the_cut() -> None:
    box = Box()
    box.accept(flat("B:1", {"A": 2}, deadline_us=10))
    assert box.wake(10) == ["deliver B:1 deadline"]
    assert box.accept(flat("A:1"), now=11) == ["discard A:1 superseded"]
    assert box.accept(flat("A:2", {"A": 1}, deadline_us=10), now=11) == ["discard A:2 late"]
    begun = Box()
    begun.reader.start_at({"A": 2})
    assert begun.accept(flat("A:2"), flat("A:1", deadline_us=5), now=9) == ["discard A:2 foreign", "discard A:1 late"]


def test_held_messages_follow_what_they_waited_for() -> None:
    box = Box()
    assert box.accept(flat("C:1", {"B": 1, "A": 1}), flat("B:1", {"A": 1})) == []
    assert [held.envelope.message.id for held in box.inbox.blocked] == ["C:1", "B:1"]
    assert box.accept(flat("A:1")) == ["deliver A:1 causes", "deliver B:1 causes", "deliver C:1 causes"]
    assert not box.inbox.held and not box.inbox.marks and box.inbox.next_due() is None


def test_a_held_message_goes_out_at_its_deadline_less_the_guard() -> None:
    box = Box(guard_us=10)
    box.accept(flat("B:1", {"A": 1}, deadline_us=100), flat("C:1", {"A": 1}, deadline_us=200))
    assert box.inbox.next_due() == 90
    assert box.wake(89) == []
    assert box.wake(90) == ["deliver B:1 deadline", "deliver C:1 causes"]


def test_the_logical_deadline_takes_held_predecessors_along_in_causal_order() -> None:
    box = Box()
    first, second = flat("B:2", {"B": 1}), flat("C:1", {"B": 2, "A": 1}, deadline_us=50)
    beside, last = flat("E:1", {"F": 1}, deadline_us=90), flat("D:1", {"C": 1, "B": 2, "A": 1}, deadline_us=40)
    box.accept(last, second, beside, first)
    assert box.wake(40) == ["deliver B:2 deadline", "deliver C:1 deadline", "deliver D:1 causes"]
    assert box.accept(flat("A:1"), flat("B:1"), now=41) == ["discard A:1 superseded", "discard B:1 superseded"]
    assert list(box.inbox.held) == ["E:1"] and box.inbox.next_due() == 90


def test_only_what_nothing_is_missing_before_claims_its_causes() -> None:
    box = Box()
    box.accept(flat("B:1", {"A": 1}), flat("C:1", {"B": 1, "A": 1}, deadline_us=5))
    assert box.wake(5) == ["deliver B:1 deadline", "deliver C:1 causes"]


def test_an_overslept_message_is_late_and_alone_lies_behind() -> None:
    box = Box()
    box.accept(flat("A:2", {"A": 1}, deadline_us=50), flat("B:1", {"A": 2}, deadline_us=90))
    assert box.wake(51) == ["discard A:2 late"]
    assert box.accept(flat("A:1"), now=52) == ["deliver A:1 causes", "deliver B:1 causes"]


def test_a_late_arrival_puts_itself_behind_and_not_its_causes() -> None:
    """H7: x1 -> x2 -> j; x1 lost, x2 arrives expired, j in time: j still waits for x1."""
    box = Box()
    assert box.accept(flat("A:2", {"A": 1}, deadline_us=5), now=6) == ["discard A:2 late"]
    assert box.accept(flat("B:1", {"A": 2}, deadline_us=50), now=6) == []
    assert box.reader.missing(flat("B:1", {"A": 2}).stamp) == [("A", 1)]
    assert box.accept(flat("A:1"), now=7) == ["deliver A:1 causes", "deliver B:1 causes"]


def test_a_late_arrival_lets_go_what_waited_for_it_alone() -> None:
    box = Box()
    box.accept(flat("B:1", {"A": 1}, deadline_us=90))
    assert box.accept(flat("A:1", deadline_us=5), now=6) == ["discard A:1 late", "deliver B:1 causes"]


def test_a_header_skips_what_never_came_and_nothing_else() -> None:
    box = Box()
    box.accept(flat("B:1", {"A": 2}))
    box.inbox.skip(flat("A:2", {"A": 1}), "expired", 9)
    assert box.said() == ["discard A:2 expired"]
    box.inbox.skip(flat("A:2", {"A": 1}), "expired", 9)
    box.inbox.skip(flat("B:1", {"A": 2}), "expired", 9)
    assert box.said() == [] and list(box.inbox.held) == ["B:1"]
    assert box.accept(flat("A:1")) == ["deliver A:1 causes", "deliver B:1 causes"]
    box.inbox.skip(flat("A:1"), "expired", 9)
    assert box.said() == []
    assert box.accept(flat("A:2", {"A": 1})) == ["discard A:2 superseded"]


def test_a_skip_lets_go_what_waited_for_it() -> None:
    box = Box()
    box.accept(flat("B:1", {"A": 1}))
    box.inbox.skip(flat("A:1"), "expired", 9)
    assert box.said() == ["discard A:1 expired", "deliver B:1 causes"]


def test_settle_looks_again_after_a_cut_from_outside() -> None:
    box = Box()
    box.accept(flat("B:1", {"A": 1}))
    box.reader.start_at({"A": 1})
    box.inbox.deliver_ready(3)
    assert box.said() == ["deliver B:1 causes"]


def test_clear_forgets_what_is_held_as_if_it_had_never_come() -> None:
    box = Box()
    box.accept(flat("C:1"))
    box.accept(flat("B:1", {"A": 1}, deadline_us=50))
    box.inbox.clear()
    assert box.inbox.next_due() is None and not box.inbox.marks and box.wake(60) == []
    assert box.accept(flat("A:1"), now=5) == ["deliver A:1 causes"]
    assert box.accept(flat("B:1", {"A": 1}, deadline_us=50), flat("C:1"), now=5) == [
        "deliver B:1 causes", "discard C:1 duplicate",
    ]  # fmt: skip


def test_arrivals_are_forgotten_after_a_while_but_not_what_is_held() -> None:
    box = Box(memory_us=100)
    held = flat("B:1", {"A": 9000})
    box.accept(held, now=0)
    for n in range(1, 4200):
        box.accept(flat(f"A:{n}", {"A": n - 1}), now=n)
    assert "A:1" not in box.inbox.seen and "A:4199" in box.inbox.seen
    assert box.accept(held, now=4200) == ["discard B:1 duplicate"]
    assert box.accept(flat("A:1"), now=4200) == ["discard A:1 superseded"]


# -- against the twin ----------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4))
def test_agrees_with_the_twin_in_a_flat_group(plan, events, guard) -> None:
    world = World(plan, lambda name, interest: VectorWriter(name, flat=True), one=True)
    past = {one: t.past for one, t in world.told.items()}
    agree([t.envelope for t in world.told.values()], past, Reader(everything, dense=True), events, guard)


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]))
def test_agrees_with_the_twin_in_overlapping_groups(plan, events, guard, groups) -> None:
    world = World(plan, lambda name, interest: VectorWriter(name, flat=False), one=False)
    interest = Interest(groups)
    wanted = [t.envelope for t in world.told.values() if interest.wants(t.envelope.message.topics)]
    past = {one: t.past for one, t in world.told.items()}
    agree(wanted, past, Reader(interest.concerns, dense=False), events, guard)


def graph_writer(name: str, interest: Interest) -> GraphWriter:
    return GraphWriter(name, interest, deadlines=True, slack_us=0, grace_us=0)


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]))
def test_agrees_with_the_twin_at_a_broker_with_a_context_graph(plan, events, guard, groups) -> None:
    world = World(plan, graph_writer, one=False)
    interest = Interest(groups)
    writer = graph_writer("R", interest)
    came = [t.envelope for t in world.told.values() if interest.wants(t.envelope.message.topics)]
    here = [writer.arrived(e) for e in reversed(came)]
    past = {one: t.past for one, t in world.told.items()}
    agree(here, past, Reader(interest.concerns, dense=False), events, guard)


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from([("G1",), ("G2", "G3"), ("G3",)]))
def test_agrees_with_the_twin_at_a_subscriber_of_a_context_graph(plan, events, guard, groups) -> None:
    world = World(plan, graph_writer, one=False)
    interest = Interest(groups)
    broker = world.writers["A"]
    have = [e for e in world.catch_up("A") if interest.wants(e.message.topics)]
    past = {one: t.past for one, t in world.told.items()}
    projected = [broker.project(e, interest) for e in have]
    agree(projected, past, Reader(interest.concerns, dense=False), events, guard)


@settings(max_examples=150)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]))
def test_agrees_with_the_twin_at_a_client_of_a_home(plan, events, guard, groups) -> None:
    world = World(plan, lambda name, interest: VectorWriter(name, flat=False), one=False)
    interest = Interest(groups)
    log = Log(1, interest, {}, (), plain=False)
    items = [log.append(e) for e in world.catch_up("A") if interest.wants(e.message.topics)]
    numbered = [Envelope(item.envelope.message, item_stamp(item, 0)) for item in items if item is not None]
    agree(numbered, {one: t.past for one, t in world.told.items()}, IndexReader(), events, guard)


def test_what_is_no_longer_wanted_is_dropped_and_may_come_again() -> None:
    box = Box()
    box.accept(flat("A:2", {"A": 1}), flat("B:1", {"A": 2}))
    left = box.inbox.dismiss(lambda message: False, 0)
    assert [e.message.id for e in left] == ["A:2", "B:1"]
    assert box.said() == ["discard A:2 foreign", "discard B:1 foreign"] and not box.inbox.held
    assert box.reader.behind("A", 2) and "A:2" not in box.inbox.seen


def test_what_waited_for_what_is_no_longer_wanted_waits_for_the_rest_only() -> None:
    box = Box()
    box.accept(flat("A:2", {"A": 1}), flat("B:1", {"A": 2}))
    box.inbox.held["B:1"].envelope.message.topics = ("G2",)
    box.inbox.dismiss(lambda message: message.topics == ("G2",), 0)
    assert box.said() == ["discard A:2 foreign"]
    assert box.accept(flat("A:1")) == ["deliver A:1 causes", "deliver B:1 causes"]


def test_what_lies_behind_in_one_of_its_streams_lies_behind_in_all() -> None:
    """It went to two groups, and what follows it in one is out: nothing waits for it in the other any more."""
    for came in ("late", "superseded", "expired"):
        box = Box()
        box.reader.dense = False
        both = grouped("C:1", "G1", "G3", deadline_us=50)
        waits = grouped("A:1", "G1", needs=[("C@G1", 1)], covers={"C@G1": 1, "C@G3": 1})
        assert box.accept(grouped("C:3", "G3"), waits) == ["deliver C:3 causes"]
        if came == "expired":
            box.inbox.skip(both, "expired", 60)
            assert box.said() == ["deliver A:1 causes"], "it was superseded: nothing is said of it"
        else:
            assert box.accept(both, now=60 if came == "late" else 40) == [f"discard C:1 {came}", "deliver A:1 causes"]
