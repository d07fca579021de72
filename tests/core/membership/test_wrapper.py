"""Joining, leaving, being declared dead, partitions, clocks that leap, subscribers that move: each rule in a town."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from antecede.core.effects import Expelled, Send
from antecede.core.frames import Out, Sync, Top
from antecede.core.membership.news import ALIVE, DEAD, LEFT, News
from antecede.core.membership.wrapper import KNOCKS, STRANGERS
from antecede.core.message import Publication
from antecede.core.state.freeze import freeze, thaw
from antecede.errors import InputError
from tests.core.membership.town import PERIOD_US, PROBING, Town

LONG = 60
"""Periods after which everything has been found out."""


def test_the_founders_begin_with_each_other() -> None:
    town = Town("A B C")
    assert town.agree("A", "B", "C")
    assert [town.inner(name).begun for name in "ABC"] == [False] * 3
    assert town.all["A"].epoch == 1


def test_no_founder_is_called_like_a_later_life_of_another() -> None:
    """Each would end the other."""
    with pytest.raises(InputError, match=r"10\.0\.0\.2 .*10\.0\.0\.1"):
        Town("10.0.0.1 10.0.0.2")


def test_of_strangers_only_so_many_are_remembered() -> None:
    town = Town("A B")
    for i in range(STRANGERS + 9):
        town.all["A"].receive(Top(1, 1), f"X{i}", town.now_us)
    assert len(town.all["A"]._strangers) == STRANGERS and "X8" not in town.all["A"]._strangers


# -- joining and leaving -------------------------------------------------------------------------------------------


def test_a_newcomer_asks_a_contact_who_is_there_before_it_begins() -> None:
    town = Town("A B C")
    machine = town.join("D", "B")
    assert not machine.begun and town.inner("D").begun is None and not town.inner("D").views
    town.run(1)
    assert town.inner("D").begun is True and town.view("D") == "A B C D"
    assert town.run_until_agreed(LONG) < 20


def test_a_newcomer_tries_its_contacts_in_turn() -> None:
    town = Town("A B C")
    town.crash("B")
    town.join("D", "B C")
    town.run(3)
    assert town.inner("D").begun is True


def test_a_newcomer_without_contacts_begins_alone() -> None:
    town = Town("A B")
    town.join("D", "")
    assert town.view("D") == "D" and town.inner("D").begun is True


def test_a_subscriber_without_contacts_waits_for_a_broker() -> None:
    town = Town("A", {})
    machine = town.join("S1", "", "subscriber")
    town.told("S1", machine.subscribe(("G1",), ("X",), town.local("S1")))
    town.run(5)
    assert not machine.begun
    town.told("S1", machine.contact(["A"], town.local("S1")))
    town.run(2)
    assert town.inner("S1").calls == [("subscribe", ("A",))]


def test_two_newcomers_do_not_take_each_other_for_the_system() -> None:
    town = Town("A B")
    town.cut("A B", "C D")
    town.join("C", "D A")
    town.join("D", "C A")
    town.run(5)
    assert town.inner("C").begun is None and town.inner("D").begun is None
    town.cut()
    town.run_until_agreed(LONG)
    assert town.agree("A", "B", "C", "D")


def test_a_good_bye_is_no_answer_to_a_newcomer() -> None:
    """It tells of nobody else: who began with it would begin alone beside the others."""
    town = Town("A B C")
    town.run(3)
    machine = town.join("D", "B C")
    gone = News("B", "broker", ("G1",), state=LEFT)
    assert machine.receive(Sync((gone,)), "B", town.local("D")) == [] and not machine.begun
    town.run(3)
    assert town.inner("D").begun is True and "A" in town.view("D") and "C" in town.view("D")


def test_what_comes_before_a_newcomer_has_begun_does_not_reach_the_machine() -> None:
    town = Town("A")
    machine = town.join("D", "A")
    assert not machine.admits("A")
    machine.receive(Top(1, 1), "A", town.local("D"))
    assert not town.inner("D").got


def test_whoever_leaves_says_so_and_nobody_suspects() -> None:
    town = Town("A B C D")
    town.run(3)
    effects = town.all["D"].leave(town.local("D"))
    assert ("unsubscribe", ()) in town.inner("D").calls
    town.told("D", effects)
    assert town.all["D"].next_wake() is None and not town.all["D"].receive(Top(1, 1), "A", town.local("D"))
    town.crash("D")
    assert town.run_until_agreed(LONG) <= 3
    assert all(town.all[name].table.entries["D"].state == LEFT for name in "ABC")


def test_a_later_incarnation_replaces_the_earlier_at_once() -> None:
    town = Town("A B C")
    town.crash("C")
    town.join("C.1", "A")
    assert town.run_until_agreed(LONG, "A", "B", "C.1") <= 5


def test_epochs_only_rise_and_each_view_differs_from_the_one_before() -> None:
    town = Town("A B C D")
    town.crash("D")
    town.run(LONG)
    town.join("D.1", "A")
    town.run(10)
    for name in "ABC":
        views = town.inner(name).views
        assert town.all[name].epoch == len(views)
        assert all(one != two for one, two in pairwise(views))


# -- declared dead -------------------------------------------------------------------------------------------------


def test_frames_of_whoever_is_out_do_not_reach_the_machine_and_are_answered() -> None:
    town = Town("A B C")
    for name in "AC":
        town.all[name].detector.learn(replace(town.all[name].table.entries["B"], state=DEAD))
    town.talk("B", "A")
    town.talk("C", "A")
    town.run(0.2)
    assert town.inner("A").got == [("C", "top")]
    assert list(town.all["A"].refused) == ["B"] and not town.all["A"].admits("B")
    assert town.expelled == ["B"], "it learned that it is out"


def test_the_expelled_do_nothing_any_more() -> None:
    town = Town("A B")
    machine = town.all["B"]
    effects = machine.receive(Out("B", 2, "A"), "A", town.local("B"))
    assert [type(effect) for effect in effects] == [Expelled] and effects[0].by == "A"  # type: ignore[union-attr]
    assert machine.next_wake() is None and not machine.wake(town.local("B"))
    assert not machine.receive(Out("B", 2, "A"), "A", town.local("B")) and not machine.leave(town.local("B"))


def test_what_an_earlier_incarnation_is_told_does_not_end_the_next() -> None:
    """B was declared dead and begins again at once, at the same address: more such frames are on their way to it."""
    town = Town("A B.1")
    assert not town.all["B.1"].receive(Out("B", 9, "A"), "A", town.local("B.1"))
    assert not town.all["B.1"].over


def test_they_are_told_once_a_period_at_most() -> None:
    town = Town("A B C")
    town.all["A"].detector.learn(replace(town.all["A"].table.entries["B"], state=DEAD))
    sent = [town.all["A"].receive(Top(1, 1), "B", town.local("A")) for _ in range(5)]
    outs = [e for effects in sent for e in effects if isinstance(e, Send) and isinstance(e.frame, Out)]
    assert len(outs) == 1 and outs[0].to == ("B",)


def test_whoever_stands_alone_against_all_others_yields() -> None:
    """A wrong suspicion: everybody took D for dead, D believes in all of them."""
    town = Town("A B C D")
    for name in "ABC":
        town.all[name].detector.learn(replace(town.all[name].table.entries["D"], state=DEAD))
    town.run(5)
    assert town.expelled == ["D"]


@pytest.mark.parametrize(
    ("one", "two", "yields"),
    [("A B", "C D E", "A B"), ("A D E", "B C", "B C"), ("A D", "B C", "B C"), ("C D", "A B", "C D")],
)
def test_after_a_partition_exactly_one_side_yields(one: str, two: str, yields: str) -> None:
    town = Town(f"{one} {two}")
    town.run(3)
    town.cut(one, two)
    town.run(LONG)
    assert town.agree(*one.split()) and town.agree(*two.split()), "each side has declared the other dead"
    town.cut()
    town.run(20 * LONG)
    assert sorted(town.expelled) == yields.split()
    assert town.agree()
    for name in yields.split():
        town.join(f"{name}.1", " ".join(n for n in town.all if "." not in n))
    assert town.run_until_agreed(LONG) < LONG


def test_a_partition_shorter_than_suspicion_expels_nobody() -> None:
    town = Town("A B C D")
    town.cut("A B", "C D")
    town.run(5)
    town.cut()
    town.run(LONG)
    assert not town.expelled and town.agree()


def test_the_dead_are_told_every_so_often_those_who_left_are_not() -> None:
    town = Town("A B C D")
    town.all["A"].detector.learn(News("D", "member", state=LEFT))
    for name in "AB":
        town.all[name].detector.learn(News("C", "member", state=DEAD))
    town.crash("C")
    town.crash("D")
    town.run(3 * PROBING.sync)
    outs = {(sender, to) for sender, to, kind in town.frames if kind == "out"}
    assert outs == {("A", "C"), ("B", "C")}


def islands(two: str = "E.1 F.1") -> Town:
    """A and B, and others that know nothing of them: they began through C, which is gone and forgotten."""
    sides = ("A B", two)
    town = Town(" ".join(sides))
    for side, other in (sides, reversed(sides)):
        for name in side.split():
            for stranger in other.split():
                del town.all[name].table.entries[stranger]
            town.all[name].table.version += 1
    town.run(3)
    assert all(town.agree(*side.split()) for side in sides)
    return town


def test_sides_that_have_never_heard_of_each_other_find_each_other_through_contacts() -> None:
    """All who knew both are gone or have come back under new names: nobody is believed dead whom one could tell."""
    town = islands()
    for name in ("E.1", "F.1"):
        town.all[name].met(["A", "B"])
    town.run(20 * PROBING.sync)
    assert sorted(town.expelled) == ["E.1", "F.1"] and town.agree("A", "B"), "of two equally large the first name stays"


def test_the_larger_side_stays_whoever_knocks() -> None:
    town = islands("E.1 F.1 G.1")
    for name in ("E.1", "F.1", "G.1"):
        town.all[name].met(["A", "B"])
    town.run(20 * PROBING.sync)
    assert sorted(town.expelled) == ["A", "B"]


def test_a_contact_that_is_merely_new_is_not_taken_for_another_side() -> None:
    """It knows this one already, or is not asked before the news of it had time to come."""
    town = Town("A B C")
    town.all["A"].met(["B", "C", "D", "E"])
    town.run(PROBING.sync - 1)
    town.join("D", "B")
    town.join("E", "C")
    town.run(5 * PROBING.sync)
    assert not town.expelled and town.agree()


def test_only_who_was_unknown_at_the_last_knock_too_is_asked() -> None:
    """By then news of a mere newcomer has come."""
    town = Town("A B")
    one = town.all["A"]
    one.met(["B", "D", "A"])

    def knock() -> list[tuple[str, str]]:
        one._knock(0)
        return [(effect.to[0], effect.frame.kind) for effect in one._flush() if isinstance(effect, Send)]

    assert knock() == []
    assert knock() == [("D", "sync")]


def test_who_is_cut_off_is_knocked_at_whoever_else_has_crashed() -> None:
    """After a partition heals, sides must find each other well within grace, or each gives up what the other has."""
    names = [f"M{i}" for i in range(KNOCKS + 4)]
    town = Town(" ".join(("A", *names)))
    one = town.all["A"]
    for name in names[1:]:
        one.detector.learn(News(name, "member", ("G1",), state=DEAD))
    one._flush()

    def knocked() -> list[str]:
        one._knock(0)
        return [e.to[0] for e in one._flush() if isinstance(e, Send) and e.frame.kind == "out"]

    first = knocked()
    assert len(first) == len(set(first)) == KNOCKS and "M0" not in first
    assert set(names[1:]) == {name for _ in range(20) for name in knocked()}, "sooner or later at everybody"


def test_a_weaker_side_is_told_so_and_not_held_to_have_been_refused() -> None:
    """It may not hear of it, and be met in another way: nobody was kept out then."""
    town = Town("A B")
    effects = town.all["A"].receive(Sync((News("D", "member", ("G1",)),)), "D", town.local("A"))
    assert [(e.to, e.frame.kind) for e in effects if isinstance(e, Send)] == [(("D",), "out")]
    assert not town.all["A"].refused


def test_who_names_this_process_is_no_other_side_but_news() -> None:
    town = Town("A B")
    told = tuple(News(name, "member", ("G1",)) for name in ("A", "D", "E", "F"))
    assert town.all["A"].receive(Sync(told), "D", town.local("A")) == []
    assert town.view("A") == "A B D E F"


# -- clocks --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("leap_us", [3_600_000_000, -3_600_000_000, 50_000])
def test_a_clock_that_leaps_declares_nobody_dead_and_does_not_spin(leap_us: int) -> None:
    town = Town("A B C D")
    town.run(10)
    before = len(town.frames)
    town.leap("A", leap_us)
    town.run(50)
    assert not town.expelled and town.agree()
    pings = [frame for frame in town.frames[before:] if frame[0] == "A" and frame[2] == "ping"]
    assert 40 <= len(pings) <= 60, "it goes on as before"
    town.crash("B")
    assert town.run_until_agreed(LONG) < 25, "and still finds who crashes"


def test_who_was_suspended_blames_nobody() -> None:
    """Ten seconds without a look at the clock, then everything at once."""
    town = Town("A B")
    town.run(3)
    machine = town.all["A"]
    town.now_us += 10_000_000
    effects = machine.wake(town.local("A"))
    assert machine.table.entries["B"].state == ALIVE
    town.told("A", effects)
    town.run(LONG)
    assert not town.expelled and town.agree()


# -- the machine inside --------------------------------------------------------------------------------------------


def test_it_is_woken_when_it_wants_to_be() -> None:
    town = Town("A B")
    inner = town.inner("A")
    town.run(0.5)
    inner.wake_at = town.local("A") + 7
    assert town.all["A"].next_wake() == town.local("A") + 7
    town.all["A"].wake(town.local("A") + 6)
    assert not inner.wakes
    town.all["A"].wake(town.local("A") + 7)
    assert inner.wakes == 1
    message, effects = town.all["A"].publish(Publication(("G1",), b"x"), town.local("A"))
    assert message.id == "A:1" and not effects


def test_who_came_and_went_unnoticed_was_there_too() -> None:
    """Its frames reached the machine inside: that must see it go, or it would serve it for ever."""
    town = Town("A B")
    machine, inner = town.all["A"], town.inner("A")
    machine.receive(Top(1, 1), "X", town.local("A"))
    assert inner.got == [("X", "top")]
    views = len(inner.views)
    machine.receive(Sync((News("X", "member", state=LEFT),)), "B", town.local("A"))
    assert [sorted(view) for view in inner.views[views:]] == [["A", "B", "X"], ["A", "B"]]


def test_at_rest_only_the_machine_inside_counts() -> None:
    town = Town("A B")
    machine = town.all["A"]
    machine.rest()
    assert machine.next_wake() is None
    assert not machine.receive(Sync((), reply=True), "B", town.local("A"))
    machine.receive(Top(1, 1), "B", town.local("A"))
    assert town.inner("A").got == [("B", "top")]


# -- subscribers ---------------------------------------------------------------------------------------------------


def test_a_subscriber_moves_by_itself_when_its_broker_is_gone() -> None:
    town = Town("A B C", {"S1": "A", "S2": "B"}, groups={"B": "G2", "S1": "", "S2": ""})
    town.told("S2", town.all["S2"].subscribe(("G2",), ("B",), town.local("S2")))
    town.run(5)
    town.crash("A")
    town.run(LONG)
    assert town.inner("S1").calls == [("subscribe", ("A",)), ("move", ("C",))]
    assert town.all["S1"].at == ("C",) and town.all["C"].table.entries["S1"].at == ("C",)
    assert town.inner("S2").calls[-1] == ("subscribe", ("B",))
    assert town.view("S1") == "B C S1", "it knows brokers and itself"


def test_a_subscriber_that_cannot_reach_its_broker_leaves_it_and_says_nothing_of_it() -> None:
    town = Town("A B", {"S1": "A"})
    town.run(5)
    town.broken = {"A S1"}  # B hears both, so both are there
    town.run(LONG)
    assert town.all["S1"].at == ("B",) and not town.expelled
    assert town.all["B"].table.entries["A"].state == ALIVE and town.view("S1") == "A B S1"


def test_a_subscriber_goes_to_a_broker_that_can_be_reached_again() -> None:
    """It had left it before, and its own has left since."""
    town = Town("A B", {"S1": "A"})
    town.run(3)
    machine = town.all["S1"]
    machine.detector.lost["B"] = None
    news = (News("A", "broker", ("G1",), state=LEFT), News("B", "broker", ("G1",)))
    machine.receive(Sync(news), "A", town.local("S1"))
    assert machine.at == ("A",) and not machine.places(), "there is nobody to go to"
    machine.detector.heard("B")
    machine.wake(town.local("S1"))
    assert machine.at == ("B",)


def test_brokers_find_a_dead_subscriber_also_if_its_broker_died_with_it() -> None:
    town = Town("A B C", {"S1": "A", "S2": "B"})
    town.run(5)
    town.crash("S1")
    town.crash("A")
    town.run(LONG)
    assert town.view("B") == town.view("C") == "B C S2"


def test_a_subscriber_asks_its_contacts_when_it_is_left_alone() -> None:
    town = Town("A B", {"S1": "A"})
    town.run(3)
    town.crash("A")
    town.crash("B")
    town.join("A.1", "")
    town.run(LONG)
    machine = town.all["S1"]
    assert machine.alone() and machine.at[0] in ("A", "B")
    town.told("S1", machine.contact(["A.1"], town.local("S1")))
    town.run(5)
    assert machine.at == ("A.1",) and not machine.alone()


def test_brokers_that_nobody_remembers_are_forgotten() -> None:
    town = Town("A B", {"S1": "A"})
    town.run(3)
    town.crash("A")
    town.crash("B")
    town.join("C", "")
    town.run(LONG)
    town.told("S1", town.all["S1"].contact(["C"], town.local("S1")))
    town.run(LONG)
    assert town.view("S1") == "C S1" and town.all["S1"].at == ("C",)


def test_a_subscriber_of_the_side_that_yields_yields_too_if_it_was_declared_dead() -> None:
    town = Town("A B C", {"S1": "C"})
    town.run(5)
    town.cut("A B", "C S1")
    town.run(LONG)
    town.cut()
    town.run(20 * LONG)
    assert town.expelled == ["C"]
    town.join("C.1", "A")
    town.run(LONG)
    town.told("S1", town.all["S1"].contact(["A"], town.local("S1")))
    town.run(2)
    assert town.expelled == ["C", "S1"]


def test_a_subscriber_with_a_broker_it_believes_in_does_not_listen_to_the_dead() -> None:
    town = Town("A B", {"S1": "A"})
    machine = town.all["S1"]
    machine.detector.learn(News("B", "broker", ("G1",), state=DEAD))
    assert not machine.receive(Out("S1", 2, "A"), "B", town.local("S1"))
    machine.receive(Sync((News("B", "broker"),)), "B", town.local("S1"))
    assert machine.table.is_out("B")
    assert machine.admits("B"), "frames of the machine inside pass: it knows what to do with a stranger"


def test_moves_asked_for_are_known_to_brokers() -> None:
    town = Town("A B", {"S1": "A"})
    town.run(3)
    town.told("S1", town.all["S1"].move(("B",), town.local("S1")))
    town.run(6)
    assert all(town.all[name].table.entries["S1"].at == ("B",) for name in "AB")
    town.told("S1", town.all["S1"].unsubscribe(town.local("S1")))
    assert town.all["S1"].at == ()


def test_a_subscription_waits_until_a_newcomer_has_begun() -> None:
    town = Town("A B", {})
    machine = town.join("S1", "A", "subscriber")
    assert not machine.subscribe(("G1",), ("X",), town.local("S1"))
    assert not town.inner("S1").calls
    town.run(2)
    ((call, places),) = town.inner("S1").calls
    assert call == "subscribe" and places[0] in ("A", "B"), "X is not there"


def test_who_is_at_one_broker_only_does_not_stay_at_one_that_gets_only_some_of_what_it_wants() -> None:
    town = Town("A B", {"S1": "A"}, groups={"B": "G1 G2", "S1": ""})
    machine = town.all["S1"]
    machine.single = True
    town.run(3)
    town.told("S1", machine.subscribe(("G2",), ("A",), town.local("S1")))
    assert machine.at == ("B",) and town.inner("S1").calls[-1] == ("subscribe", ("B",))


# -- as plain values -----------------------------------------------------------------------------------------------


def test_it_can_be_saved_and_goes_on_exactly() -> None:
    from antecede.core.machine import Peer, Settings
    from antecede.core.membership.wrapper import Managed
    from antecede.core.recipes import build

    dice = Random(5)
    inner = build("solicit", "repaired", name="A", role="member", groups=("G1",), settings=Settings(), dice=dice)
    machine = Managed(inner, Peer("A", "member", ("G1",)), PROBING, dice)
    machine.view({"B": Peer("B", "member", ("G1",)), "C": Peer("C", "member", ("G1",))}, 1_000)
    machine.start(1_000)
    for step in range(1, 5):
        machine.wake(1_000 + step * PERIOD_US)
    again = thaw(freeze(machine), Random(0))
    state = dice.getstate()
    again.dice.setstate(state)
    assert freeze(again) == freeze(machine)
    one, two = machine.wake(900_000), again.wake(900_000)
    assert [effect.frame.news for effect in one] == [effect.frame.news for effect in two]  # type: ignore[union-attr]
