"""One scalar: what it says, what it cannot say, and that neither policy is ever out of order."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.deadline.eager import EagerInbox
from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Deliver, Discard, Effect
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Stamp
from antecede.core.order.colour import NEVER, ROUNDS, ColourReader, newest_before
from antecede.core.order.round_clock import RoundClock
from tests.core.kit import EVENTS, PLANS, message
from tests.core.order.test_matrix import world_of

CLOCK = RoundClock(10, 4)


def coloured(reader: ColourReader, name: str, before: int = 0) -> Envelope:
    """A message as it comes, with the colour of its newest predecessor's round, and as it is read."""
    told = message(name)
    return reader.arrived(Envelope(told, Stamp((), rank=CLOCK.colour_of(before, told.seq))))


def test_a_colour_is_read_as_a_round() -> None:
    reader = ColourReader(CLOCK, eager=True)
    stamp = coloured(reader, "A:9", 7).stamp
    assert stamp.own == (("A", 9),) and newest_before(stamp) == 7 and stamp.rank == 9
    assert newest_before(coloured(reader, "A:9").stamp) == 0


def test_hold_waits_for_time_only() -> None:
    reader = ColourReader(CLOCK, eager=False)
    stamp = coloured(reader, "A:3").stamp
    assert reader.blocker(stamp) == NEVER
    reader.watch(NEVER, "token")
    assert not reader.watched
    reader.delivered(stamp, forced=True)
    assert reader.blocker(coloured(reader, "B:4", 3).stamp) == NEVER


def test_eager_waits_for_something_of_the_predecessors_round() -> None:
    reader = ColourReader(CLOCK, eager=True)
    stamp = coloured(reader, "B:4", 3).stamp
    assert reader.blocker(coloured(reader, "A:3").stamp) is None
    assert reader.blocker(stamp) == (ROUNDS, 3)
    reader.watch((ROUNDS, 3), "B:4")
    reader.delivered(coloured(reader, "C:2").stamp, forced=False)
    assert reader.freed == [] and reader.blocker(stamp) == (ROUNDS, 3)
    reader.delivered(coloured(reader, "A:3").stamp, forced=False)
    assert reader.freed == ["B:4"] and reader.blocker(stamp) is None


def test_rounds_that_may_hold_a_predecessor_of_what_is_out_are_barred() -> None:
    reader = ColourReader(CLOCK, eager=True)
    reader.delivered(coloured(reader, "A:5", 3).stamp, forced=False)
    assert reader.barrier == 3 and reader.barred(coloured(reader, "B:3").stamp)
    assert not reader.barred(coloured(reader, "B:4").stamp), "newer than the newest predecessor: concurrent"
    reader.delivered(coloured(reader, "A:6", 2).stamp, forced=False)
    assert reader.barrier == 3 and not ColourReader(CLOCK, eager=False).barred(coloured(reader, "B:3").stamp)


def test_whatever_is_not_newer_than_the_newest_predecessor_may_precede() -> None:
    reader = ColourReader(CLOCK, eager=False)
    later = coloured(reader, "B:6", 5).stamp
    assert reader.precedes(coloured(reader, "A:5").stamp, later) and reader.precedes(
        coloured(reader, "A:4").stamp, later
    )
    assert not reader.precedes(coloured(reader, "A:6").stamp, later)


def test_what_is_asked_for_is_a_round_of_which_nothing_is_here() -> None:
    reader = ColourReader(CLOCK, eager=True)
    stamp = coloured(reader, "B:6", 5).stamp
    assert reader.missing(stamp) == [(ROUNDS, 5)] and not reader.behind(ROUNDS, 5)
    reader.held["A"] = {5}
    assert reader.missing(stamp) == [] and reader.behind(ROUNDS, 5)
    assert reader.missing(coloured(reader, "B:6").stamp) == []
    reader.delivered(coloured(reader, "C:9", 8).stamp, forced=False)
    assert reader.missing(coloured(reader, "D:8", 7).stamp) == [], "it cannot go out: why ask"


def test_behind_a_cut_nothing_is_waited_for() -> None:
    reader = ColourReader(CLOCK, eager=True)
    reader.start_at({"A": 5})
    stamp = coloured(reader, "B:6", 5).stamp
    assert reader.blocker(stamp) is None and reader.missing(stamp) == []
    assert reader.stale(coloured(reader, "A:5").stamp) and reader.cut_off(coloured(reader, "A:5").stamp)


def test_a_senders_earlier_messages_lie_behind_and_a_skip_is_one_mark() -> None:
    reader = ColourReader(CLOCK, eager=True)
    reader.delivered(coloured(reader, "A:5").stamp, forced=False)
    assert reader.stale(coloured(reader, "A:4").stamp) and not reader.stale(coloured(reader, "B:4").stamp)
    reader.skipped((("B", 7),), None)
    assert reader.behind("B", 7) and not reader.behind("B", 6)


def test_old_rounds_are_forgotten() -> None:
    reader = ColourReader(CLOCK, eager=True)
    for n in range(1, 100):
        reader.delivered(coloured(reader, f"A:{n}").stamp, forced=False)
    assert len(reader.rounds) <= 4 * CLOCK.colours + 1 and {95, 96, 97, 98, 99} <= reader.rounds


@settings(max_examples=200)
@given(PLANS, EVENTS, st.integers(0, 4), st.sampled_from([("G1",), ("G2", "G3"), ("G1", "G2", "G3")]), st.booleans())
def test_neither_policy_is_out_of_order_or_late(plan, events, guard, groups, eager) -> None:
    """Whatever comes when: hold delivers each message that came in time, at its end; eager some, none out of order."""
    clock = RoundClock(20, 5)
    world = world_of(plan, clock)
    interest, writer = Interest(groups), world.writers["A"]
    reader = ColourReader(clock, eager=eager)
    have = [e for e in world.catch_up("A") if interest.wants(e.message.topics)]
    here = [reader.arrived(writer.project(e, interest)) for e in have]
    if not here:
        return
    out: list[Effect] = []
    box = (EagerInbox if eager else Inbox)(reader, out, lambda e, now: None, guard_us=guard, memory_us=10**9)
    now_us, came, sent_us = 0, {}, {e.message.id: clock.start_us(e.message.seq) for e in here}
    done: dict[str, int] = {}

    def settle(until_us: int) -> None:
        while (due := box.next_due()) is not None and due <= until_us:
            box.wake(due)
            note(due)

    def note(at_us: int) -> None:
        for effect in out:
            if isinstance(effect, Deliver):
                done[effect.message.id] = at_us
                before = world.told[effect.message.id].past
                assert not any(effect.message.id in world.told[other].past for other in done)
                assert at_us <= clock.end_us(effect.message.seq), (effect.message.id, before)
            elif isinstance(effect, Discard) and effect.reason == "late":
                assert at_us > clock.end_us(int(effect.message.rpartition(":")[2])) - guard
            elif isinstance(effect, Discard):
                assert effect.reason == "duplicate" or any(effect.message in world.told[o].past for o in done)
        out.clear()

    for pick, wait_us, _ in events:
        envelope = here[pick % len(here)]
        now_us = max(now_us + 4 * wait_us, sent_us[envelope.message.id])  # not sent before its round
        settle(now_us)
        came.setdefault(envelope.message.id, now_us)
        box.accept(envelope, now_us)
        note(now_us)
    settle(10**9)
    if not eager:
        for one, at_us in came.items():
            end_us = clock.end_us(int(one.rpartition(":")[2])) - guard
            assert (one in done) == (at_us <= end_us) and done.get(one, end_us) == end_us
