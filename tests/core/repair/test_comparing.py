"""Rounds: who is asked to compare, what a digest says, when somebody is in step, and when it is quiet."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Data, Digest, Snapshot
from antecede.core.machine import Peer
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.order.reader import AHEAD
from tests.core.kit import carry, flat, frame_to, grouped, machine, sent, told, view_of


def member(name: str, peers: str = "A B C", **knobs: Any) -> Any:
    one = machine("solicit", name, "member", "G1", round_us=100, **knobs)
    one.view({peer: Peer(peer, "member", ("G1",)) for peer in peers.split()}, 0)
    one.start(0)
    return one


def test_nothing_to_tell_means_no_rounds() -> None:
    assert member("A").next_wake() is None


def test_the_first_round_comes_half_to_one_and_a_half_rounds_after_news() -> None:
    one = member("A")
    one.publish(Publication(("G1",)), 1000)
    at_us = one.rounds.at_us
    assert 1050 <= at_us < 1150 and one.next_wake() == at_us
    assert told(one.wake(at_us - 1)) == []
    assert sorted(told(one.wake(at_us))) == ["digest to B", "digest to C"]
    assert one.rounds.at_us == at_us + 100


def test_a_digest_offers_what_is_kept_and_says_what_lies_behind() -> None:
    one = member("A")
    one.publish(Publication(("G1",)), 0)
    one.receive(Data((flat("B:1"), flat("B:3", {"B": 2}))), "B", 0)
    digest = frame_to(one.wake(one.rounds.at_us), "B", Digest)
    assert digest.offer == {"A": 1, "B": 1} and digest.have == {"A": 1, "B": 1} and digest.reply
    back = frame_to(one.receive(Digest({"D": 4}, {}, reply=True), "C", 500), "C", Digest)
    assert back.have == {"A": 1, "B": 1, "D": 0} and not back.reply
    assert sent(one.receive(Digest({}, {}), "C", 500), Digest) == []


def test_only_what_concerns_a_peer_is_offered_to_it() -> None:
    one = machine("cbcast", "A", "broker", "G1 G2", round_us=100)
    one.view(view_of({"A": "G1 G2", "B": "G1", "C": "G3"}), 0)
    one.start(0)
    one.publish(Publication(("G1", "G2")), 0)
    effects = one.wake(one.rounds.at_us)
    assert frame_to(effects, "B", Digest).offer == {"A@G1": 1} and len(sent(effects, Digest)) == 1


def test_a_peer_is_in_step_when_its_answer_covers_all_and_then_it_is_quiet() -> None:
    one = member("A", "A B")
    one.publish(Publication(("G1",)), 0)
    one.publish(Publication(("G1",)), 0)
    one.receive(Digest({}, {"A": 1}), "B", 10)
    assert told(one.wake(one.rounds.at_us)) == ["digest to B"], "B lacks A:2"
    one.receive(Digest({}, {"A": 2}), "B", 10)
    assert told(one.wake(one.rounds.at_us)) == [] and one.rounds.at_us is None
    one.publish(Publication(("G1",)), 500)
    assert told(one.wake(one.rounds.at_us)) == ["digest to B"], "there is news"


def test_whoever_leaves_and_comes_back_is_compared_again() -> None:
    one = member("A", "A B")
    one.publish(Publication(("G1",)), 0)
    one.receive(Digest({}, {"A": 1}), "B", 10)
    one.wake(one.rounds.at_us)
    everybody = dict(one.members)
    one.view({"A": everybody["A"]}, 300)
    one.view(everybody, 400)
    assert told(one.wake(one.rounds.at_us)) == ["digest to B"]


def test_a_digest_goes_to_so_many_each_round_all_different() -> None:
    one = member("A", "A B C D E F", fanout=2)
    one.publish(Publication(("G1",)), 0)
    asked = set()
    for _ in range(20):
        to = [to[0] for to, _ in sent(one.wake(one.rounds.at_us), Digest)]
        assert len(set(to)) == 2 and "A" not in to
        asked.update(to)
    assert asked == {*"BCDEF"}


def test_what_is_offered_and_missing_is_asked_for() -> None:
    one = member("C", patience_us=0)
    one.receive(Data((flat("A:1"), flat("A:3", {"A": 2}))), "B", 0)
    effects = one.receive(Digest({"A": 4}, {}), "B", 5_000_000)
    assert [line for line in told(effects) if line.startswith("ask")] == ["ask A for A:2", "ask B for A:4"], (
        "A:3 is held"
    )


def test_recipes_that_do_not_ask_ignore_offers() -> None:
    one = machine("dcco", "A", "member", "G1")
    one.view({name: Peer(name, "member", ("G1",)) for name in "AB"}, 0)
    one.start(0)
    assert told(one.receive(Digest({"B": 4}, {}), "B", 0)) == []
    one.publish(Publication(("G1",), b"", deadline_us=9_000_000), 0)
    assert one.rounds.at_us is None


def test_lost_tails_are_found_and_then_it_is_quiet() -> None:
    a, b = member("A", "A B"), member("B", "A B")
    machines = {"A": a, "B": b}
    a.publish(Publication(("G1",)), 0)
    a.publish(Publication(("G1",)), 0)
    lines = carry(a.wake(a.rounds.at_us), "A", machines, 200)
    assert [line for line in lines if "deliver" in line] == ["B: deliver A:1 causes", "B: deliver A:2 causes"]
    carry(a.wake(a.rounds.at_us), "A", machines, 300)
    assert a.wake(a.rounds.at_us) == [] and a.rounds.at_us is None


def test_sparse_streams_are_offered_and_asked_for_by_their_newest() -> None:
    one = machine("cbcast", "A", "broker", "G1")
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    one.receive(Data((grouped("C:2"),)), "B", 0)
    assert "ask B for C:9" in told(one.receive(Digest({"C@G1": 9, "C@G2": 8}, {}), "B", 0))


def test_digests_of_strangers_are_ignored() -> None:
    one = machine("cbcast", "A", "broker", "G1")
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    assert one.receive(Digest({"B@G1": 9}, {}, reply=True), "S7", 0) == []


def test_only_a_graph_without_deadlines_says_what_is_done_though_it_is_all_there() -> None:
    """With deadlines nodes retire by themselves; others leave out what is said already."""
    for recipe, deadlines, done in (("cbcast", False, {}), ("graph", True, {}), ("graph", False, {"A@G1": 1})):
        one = machine(recipe, "A", "broker", "G1", round_us=100, deadlines=deadlines)
        one.view(view_of({"A": "G1", "B": "G1"}), 0)
        one.start(0)
        one.publish(Publication(("G1",), b"", deadline_us=9_000_000 if deadlines else None), 0)
        assert frame_to(one.wake(one.rounds.at_us), "B", Digest).done == done


def test_a_graph_with_deadlines_says_what_is_done_once_there_is_a_message_without() -> None:
    """Its node does not retire by itself, nor do those that follow it."""
    one = machine("graph", "A", "broker", "G1", round_us=100)
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    one.publish(Publication(("G1",)), 0)
    one.publish(Publication(("G1",), b"", deadline_us=9_000_000), 0)
    assert frame_to(one.wake(one.rounds.at_us), "B", Digest).done == {"A@G1": 2}


def test_what_is_lacking_here_is_not_stable_whoever_had_it_once() -> None:
    """Those who had it are gone: whoever says so still goes by them. Of other groups their word holds."""
    one = machine("graph", "A", "broker", "G1", deadlines=False)
    one.view(view_of({"A": "G1", "B": "G2"}), 0)
    one.start(0)
    one.receive(Digest({}, {}, stable={"X@G1": 3, "X@G2": 5}), "B", 0)
    assert one.writer.stable == {"X@G2": 5}
    one.reader.front["X@G1"] = 2
    one.receive(Digest({}, {}, stable={"X@G1": 3, "X@G2": 4}), "B", 0)
    assert one.writer.stable == {"X@G1": 2, "X@G2": 5}


def test_with_local_views_who_came_later_is_compared_until_it_is_in_step_once() -> None:
    """Its neighbour may have begun behind what it lacks, and everybody else look elsewhere."""
    one = member("A", "A B C D", fanout=9, view=1)
    one.publish(Publication(("G1",)), 0)
    one.view({name: Peer(name, "member", ("G1",)) for name in "ABCDE"}, 0)

    def compared() -> set[str]:
        return {to[0] for to, _ in sent(one.wake(one.rounds.at_us), Digest)}

    assert all("E" in compared() for _ in range(8))
    one.receive(Digest({}, {"A": 1}), "E", one.rounds.at_us)
    one.publish(Publication(("G1",)), one.rounds.at_us)
    assert not all("E" in compared() for _ in range(40)), "from now on only when it is its turn"


def test_with_local_views_who_came_later_is_compared_until_all_it_offers_is_here() -> None:
    """It may be the only one that keeps it, and have no reason to compare with this process itself."""
    one = member("A", "A B C D", fanout=9, view=1)
    one.publish(Publication(("G1",)), 0)
    one.view({name: Peer(name, "member", ("G1",)) for name in "ABCDE"}, 0)
    for name in "BCD":
        one.receive(Digest({}, {"A": 1}), name, 1)
    one.receive(Digest({"E": 1}, {"A": 1}), "E", 1)
    assert "digest to E" in told(one.wake(one.rounds.at_us))
    one.receive(Data((flat("E:1"),)), "E", one.rounds.at_us)
    one.receive(Digest({"E": 1}, {"A": 1, "E": 1}), "E", one.rounds.at_us)
    for name in "BCD":
        one.receive(Digest({}, {"A": 1, "E": 1}), name, one.rounds.at_us)
    assert one.wake(one.rounds.at_us) == [] and one.rounds.at_us is None


def test_among_many_the_last_one_that_is_not_in_step_is_found() -> None:
    names = [f"M{n}" for n in range(20)]
    one = member("M0", " ".join(names), fanout=1)
    one.publish(Publication(("G1",)), 0)
    for name in names[1:-1]:
        one.receive(Digest({}, {"M0": 1}), name, 1)
    for _ in range(5):
        assert told(one.wake(one.rounds.at_us)) == ["digest to M19"]
    one.receive(Digest({}, {"M0": 1}), "M19", 2)
    assert one.wake(one.rounds.at_us) == [] and one.rounds.at_us is None


def test_many_far_numbers_in_one_digest_are_looked_at_in_pieces() -> None:
    one = machine("solicit", "A", "member", "G1")
    one.view({name: Peer(name, "member", ("G1",)) for name in "AB"}, 0)
    one.start(0)
    one.receive(Digest({f"S{n}": 2**62 for n in range(100)}, {}), "B", 0)
    assert len(one.wants.wants) == AHEAD + 99


def test_below_an_unordered_one_without_deadline_is_only_what_was_sent_before_it() -> None:
    """A~:8 has a deadline, and names A~:7. That A~:3 has none makes A~:2 lasting, and nothing after it."""
    one = member("B")

    def loose(n: int, deadline_us: int | None = None) -> Envelope:
        message = Message("A", n, ("G1",), b"", deadline_us, order="none")
        return Envelope(message, Stamp((("A~", n),), (), {"A~": n - 1}))

    one.receive(Data((loose(8, 9_000_000), loose(3))), "A", 1)
    assert {mark: want.endless for mark, want in one.wants.wants.items()} == {("A~", 7): False, ("A~", 2): True}


def joined_behind(cut: str, **knobs: Any) -> Any:
    """A member that came late, and began behind this message."""
    one = machine("solicit", "A", "member", "G1", round_us=100, **knobs)
    one.view({peer: Peer(peer, "member", ("G1",)) for peer in "AB"}, 0)
    one.start(0, joining=True)
    sender, n = cut.split(":")
    one.receive(Snapshot({sender: int(n)}, (cut,)), "B", 0)
    return one


def test_with_local_views_who_came_later_says_what_it_began_behind() -> None:
    """It cannot give it to those who lack it, and may be all they compare with."""
    one = joined_behind("C:3", view=1)
    digest = frame_to(one.wake(one.rounds.at_us), "B", Digest)
    assert digest.offer == {} and digest.have == {"C": 3} and digest.reply
    one.receive(Digest({}, {}), "B", 200)
    assert told(one.wake(one.rounds.at_us)) == [] and one.rounds.at_us is None, "once B has heard of it"
    assert joined_behind("C:3").rounds.at_us is None, "with one view for all others tell them"


def test_what_who_came_later_began_behind_is_asked_of_all_until_it_comes() -> None:
    one = member("A", "A B C", view=1, retry_us=10, patience_us=0)
    one.view({peer: Peer(peer, "member", ("G1",)) for peer in "ABCD"}, 0)
    one.receive(Digest({}, {"C": 1, "D": 4}), "B", 0)
    assert not one.wants.wants, "it offers what it has"
    effects = one.receive(Digest({"D": 4}, {"C": 1, "D": 4}), "D", 0)
    assert one.wants.wants[("C", 1)].endless and not one.wants.wants[("D", 4)].endless
    assert "ask C for C:1" in told(effects), "first whoever published it"


def test_without_deadlines_a_digest_says_what_is_stable_from_the_beginning() -> None:
    """Also where all messages are unordered, and the graph is empty."""
    one = machine("graph", "A", "broker", "G1", round_us=100, deadlines=False)
    one.view(view_of({"A": "G1", "B": "G1"}), 0)
    one.start(0)
    one.publish(Publication(("G1",), b"", order="none"), 0)
    digest = frame_to(one.wake(one.rounds.at_us), "B", Digest)
    assert digest.offer == {"A~@G1": 1} and digest.done == {"A~@G1": 1}
