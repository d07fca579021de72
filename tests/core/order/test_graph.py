"""The context graph: leaves, projection (T5), what travels, and what may be forgotten."""

from __future__ import annotations

from hypothesis import given, settings

from antecede.core.interest import Interest
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.graph import GraphWriter
from antecede.core.order.reader import Reader
from tests.core.kit import CARRIED, PLANS, World, message

BOTH = Interest(("G1", "G2"))
G1, G2 = Interest(("G1",)), Interest(("G2",))


def writer(
    name: str, interest: Interest = BOTH, *, deadlines: bool = True, slack_us: int = 0, grace_us: int = 10
) -> GraphWriter:
    return GraphWriter(name, interest, deadlines=deadlines, slack_us=slack_us, grace_us=grace_us)


def publish(
    by: GraphWriter, name: str, *topics: str, deadline_us: int | None = None, after: list[Stamp] | None = None
) -> Envelope:
    told = message(name, *topics, deadline_us=deadline_us)
    return Envelope(told, by.stamp(told, after))


def give(envelope: Envelope, frm: GraphWriter, to: GraphWriter) -> Envelope:
    """What `to` makes of a message that `frm` relays, delivered there."""
    local = to.arrived(frm.relay(envelope))
    to.learn(local)
    return local


def travelling(envelope: Envelope) -> list[str]:
    assert isinstance(envelope.stamp.extra, tuple)
    return [f"{node[0]}:{node[1]}" for node in envelope.stamp.extra]


def test_a_message_follows_the_leaves_and_becomes_the_leaf() -> None:
    a, b, c = writer("A"), writer("B"), writer("C")
    one, two = publish(a, "A:1"), publish(b, "B:1")
    give(one, a, c)
    give(two, b, c)
    assert list(c.leaves) == ["A:1", "B:1"]
    three = publish(c, "C:1")
    assert set(three.stamp.needs) == {("A@G1", 1), ("B@G1", 1)} and list(c.leaves) == ["C:1"]
    give(three, c, a)
    assert list(a.leaves) == ["C:1"]


def test_a_delivered_predecessor_of_a_leaf_is_no_leaf() -> None:
    a, c = writer("A"), writer("C")
    publish(a, "A:1")
    give(publish(a, "A:2"), a, c)
    assert list(c.leaves) == ["A:2"] and publish(c, "C:1").stamp.needs == (("A@G1", 2),)


def test_a_predecessor_is_found_through_messages_of_other_groups() -> None:
    """T5: A1(G1,G2) -> D1(G2) -> B1(G1,G2): for G1 alone A1 comes right before B1."""
    a, d, b = writer("A"), writer("D", G2), writer("B")
    a1 = publish(a, "A:1", "G1", "G2")
    give(a1, a, d)
    give(a1, a, b)
    give(publish(d, "D:1", "G2"), d, b)
    b1 = publish(b, "B:1", "G1", "G2")
    assert b1.stamp.needs == (("D@G2", 1),)
    assert b.project(b1, G1).stamp.needs == (("A@G1", 1),)
    assert b.project(b1, G2).stamp.needs == (("D@G2", 1),)
    assert writer("C", G1).arrived(b.relay(b1)).stamp.needs == (("A@G1", 1),)


def test_a_predecessor_is_named_in_every_group_it_is_addressed_in() -> None:
    a = writer("A")
    publish(a, "A:1", "G1", "G2")
    assert publish(a, "A:2", "G1").stamp.needs == (("A@G1", 1), ("A@G2", 1)), "a cut may hide one of them"


def test_a_predecessor_behind_the_cut_of_one_group_still_stands_for_what_is_owed_in_another() -> None:
    a, b = writer("A", deadlines=False), writer("B", deadlines=False)
    nodes = [publish(a, name, *topics) for name, topics in (("A:1", ("G1", "G2")), ("A:2", ("G1",)), ("A:3", ("G2",)))]
    b.start_at({"A@G1": 2})
    last = [b.arrived(a.relay(one)) for one in nodes][-1]
    assert set(last.stamp.needs) == {("A@G1", 2), ("A@G1", 1), ("A@G2", 1)}


def test_with_deadlines_the_newest_of_each_sender_is_named() -> None:
    """Trap 1: immediate predecessors are not enough once something may be skipped."""
    a, b = writer("A"), writer("B")
    y = publish(a, "A:1")
    give(y, a, b)
    publish(b, "B:1")
    last = b.project(publish(b, "B:2"), G1).stamp
    assert last.needs == (("B@G1", 1),) and last.covers == {"A@G1": 1, "B@G1": 1}
    plain = writer("B", deadlines=False)
    give(y, a, plain)
    assert plain.project(publish(plain, "B:1"), G1).stamp.covers == {}


def test_what_stands_behind_newer_ones_of_its_sender_is_named() -> None:
    """Of two concurrent predecessors one covers more; the other's chain of G1 leads back to a message of G2."""
    a, c, d = writer("A"), writer("C"), writer("D")
    for name in ("A:1", "A:2"):
        give(publish(a, name, "G1", "G2"), a, c)
    give(publish(d, "D:1", "G2"), d, c)
    for name in ("D:2", "D:3", "D:4"):
        give(publish(d, name, "G1"), d, c)
    assert publish(c, "C:1").stamp.covers == {"A@G1": 2, "A@G2": 2, "D@G1": 4, "D@G2": 1}


def test_only_what_is_unknown_is_taken_in() -> None:
    """Nodes that came before are found where they are, whatever else of their past travels along."""
    a, b, c = writer("A"), writer("B"), writer("C")
    one = publish(a, "A:1")
    two = publish(a, "A:2")
    give(one, a, b)
    mine = publish(b, "B:1")
    c.arrived(a.relay(two))
    before = dict(c.graph)
    assert list(before) == ["A:1", "A:2"]
    c.arrived(b.relay(mine))
    assert list(c.graph) == ["A:1", "A:2", "B:1"] and all(c.graph[name] is entry for name, entry in before.items())
    assert c.graph["B:1"].preds == [c.graph["A:1"]]


def test_the_projection_names_only_what_concerns_the_subscriber() -> None:
    a = writer("A")
    publish(a, "A:1", "G1", "G2")
    publish(a, "A:2", "G2")
    assert a.project(publish(a, "A:3", "G1"), G1).stamp.covers == {"A@G1": 1}


def test_declared_causes_and_ones_own_previous_message() -> None:
    a, b, c = writer("A"), writer("B"), writer("C")
    one, two = publish(a, "A:1"), publish(b, "B:1")
    mine = [give(one, a, c), give(two, b, c)]
    first = publish(c, "C:1", after=[mine[0].stamp])
    assert first.stamp.needs == (("A@G1", 1),) and list(c.leaves) == ["B:1", "C:1"]
    second = publish(c, "C:2", after=[mine[1].stamp])
    assert set(second.stamp.needs) == {("B@G1", 1), ("C@G1", 1)} and list(c.leaves) == ["C:2"]


def test_rank_grows_along_causality() -> None:
    a, b = writer("A"), writer("B")
    publish(a, "A:1")
    later = publish(a, "A:2")
    local = give(later, a, b)
    assert local.stamp.rank == later.stamp.rank and publish(b, "B:1").stamp.rank > later.stamp.rank


def test_ancestors_travel_causes_first_until_they_are_stable() -> None:
    a = writer("A")
    publish(a, "A:1", "G1", "G2")
    publish(a, "A:2", "G2")
    assert travelling(a.relay(publish(a, "A:3"))) == ["A:1", "A:2", "A:3"]
    a.heard({"A@G1": 1})
    a.forget(0)
    a.forget(10)
    assert travelling(a.relay(publish(a, "A:4"))) == ["A:1", "A:2", "A:3", "A:4"], "A:1 is not stable in G2"
    a.heard({"A@G2": 1})
    a.heard({"A@G2": 0})
    a.forget(20)
    a.forget(29)
    assert travelling(a.relay(a_five := publish(a, "A:5")))[0] == "A:1", "whoever is joining may not know it"
    a.forget(30)
    assert travelling(a.relay(a_five)) == ["A:2", "A:3", "A:4", "A:5"]
    assert a.project(publish(a, "A:6"), G1).stamp.covers == {"A@G1": 5}, "a subscriber is still told of all"


def test_a_stable_message_travels_while_an_ancestor_does() -> None:
    a = writer("A")
    publish(a, "A:1", "G2")
    publish(a, "A:2", "G1")
    a.heard({"A@G1": 2})
    a.forget(0)
    a.forget(10)
    assert travelling(a.relay(publish(a, "A:3", "G1"))) == ["A:1", "A:2", "A:3"]


def test_a_node_is_forgotten_when_it_and_its_ancestors_have_expired() -> None:
    a = writer("A", slack_us=5)
    publish(a, "A:1", deadline_us=100)
    publish(a, "A:2", deadline_us=50)
    a.forget(60)
    assert list(a.graph) == ["A:1", "A:2"], "A:2 still carries order: A:1 precedes what follows it"
    a.forget(105)
    assert list(a.graph) == ["A:1", "A:2"]
    a.forget(106)
    assert not a.graph and not a.leaves
    assert travelling(a.relay(publish(a, "A:3"))) == ["A:3"]


def test_what_has_expired_with_all_before_it_is_named_to_nobody() -> None:
    """Who begins now cannot know that it has expired, and would wait for it."""
    a = writer("A", slack_us=5)
    publish(a, "A:1", deadline_us=100)
    second = publish(a, "A:2", deadline_us=200)
    assert a.project(second, G1).stamp.needs == (("A@G1", 1),)
    a.forget(106)
    assert a.project(second, G1).stamp.needs == ()


def test_what_follows_a_message_without_deadline_is_never_forgotten() -> None:
    a = writer("A")
    publish(a, "A:1")
    publish(a, "A:2", deadline_us=50)
    a.forget(10_000)
    assert list(a.graph) == ["A:1", "A:2"]


def test_senders_of_whom_all_has_expired_are_no_longer_named() -> None:
    """Senders come and go: what is covered names those of whom something may still be held, and few others."""
    a, old = writer("A"), writer("Z")
    give(publish(old, "Z:1", deadline_us=500), old, a)  # concurrent with none, but alive for long
    for n in range(1, 300):
        one = publish(a, f"P{n}:1", deadline_us=n + 10)
        assert one.stamp.covers["Z@G1"] == 1
        assert all(one.stamp.covers[f"P{k}@G1"] == 1 for k in range(max(1, n - 10), n))
        a.forget(n)
    assert len(one.stamp.covers) == 299  # Z:1 precedes them all, and lives
    for n in range(300, 800):
        one = publish(a, f"P{n}:1", deadline_us=n + 10)
        assert all(one.stamp.covers[f"P{k}@G1"] == 1 for k in range(n - 9, n))
        a.forget(n)
    assert len(one.stamp.covers) <= 2 * 12 + 16


def test_stamps_without_nodes_pass_unchanged() -> None:
    a = writer("A")
    bare = Envelope(message("B:1"), Stamp((("B@G1", 1),)))
    assert a.arrived(bare) is bare and a.relay(bare) is bare and a.project(bare, G1) is bare


@settings(max_examples=150)
@given(PLANS)
def test_stamps_agree_with_the_transitive_closure(plan) -> None:
    world = World(plan, lambda name, interest: writer(name, interest), one=False)
    for name in ("A", "B"):
        local = {e.message.id: e for e in world.catch_up(name)}
        for groups in {CARRIED[name], ("G1",), ("G2",)}:
            interest = Interest(groups)
            reader = Reader(interest.concerns, dense=False)
            mine = {i: e for i, e in local.items() if interest.wants(e.message.topics)}
            stamps = {i: world.writers[name].project(e, interest).stamp for i, e in mine.items()}
            for b, later in stamps.items():
                before = {a for a in mine if a in world.told[b].past}
                assert {a for a in mine if reader.precedes(stamps[a], later)} == before
                needed = {f"{stream.partition('@')[0]}:{n}" for stream, n in later.needs}
                nearest = {a for a in before if not any(a in world.told[c].past for c in before)}
                assert nearest <= needed <= before
                assert all(stamps[a].rank < later.rank for a in before)


def test_where_subscribers_read_the_graph_it_is_not_projected() -> None:
    """psync."""
    whole = GraphWriter("A", Interest(("G1",)), deadlines=False, slack_us=0, grace_us=0, whole=True)
    first = Message("A", 1, ("G1",))
    whole.stamp(first, None)
    second = Message("A", 2, ("G1",))
    travels = whole.project(Envelope(second, whole.stamp(second, None)), Interest(("G1",)))
    assert isinstance(travels.stamp.extra, tuple) and [node[:2] for node in travels.stamp.extra] == [("A", 1), ("A", 2)]
    below = GraphWriter("S", Interest(()), deadlines=False, slack_us=0, grace_us=0, whole=True)
    below.look_at(Interest(("G1",)))
    assert below.arrived(travels).stamp.needs == (("A@G1", 1),)


def test_what_is_stable_no_longer_travels_to_them() -> None:
    whole = GraphWriter("A", Interest(("G1",)), deadlines=False, slack_us=0, grace_us=0, whole=True)
    envelopes = [Envelope(told, whole.stamp(told, None)) for told in (Message("A", n, ("G1",)) for n in (1, 2))]

    def nodes() -> int:
        extra = whole.project(envelopes[1], Interest(("G1",))).stamp.extra
        assert isinstance(extra, tuple)
        return len(extra)

    assert nodes() == 2
    whole.heard({"A@G1": 1})
    whole.forget(1)
    whole.forget(2)
    assert nodes() == 1


def test_what_everybody_has_had_for_grace_is_forgotten_and_does_not_come_back() -> None:
    """Trap 4: once it is stable, and so is all before it."""
    a, b = writer("A", G1, deadlines=False), writer("B", G1, deadlines=False)
    one, two = publish(a, "A:1"), publish(a, "A:2")
    relayed = a.relay(two)
    a.heard({"A@G1": 2})
    a.forget(0)
    a.forget(9)
    assert list(a.graph) == ["A:1", "A:2"]
    a.forget(10)
    assert not a.graph and not a.leaves and travelling(a.relay(two)) == ["A:2"]
    give(one, a, b)
    b.arrived(relayed)
    b.learn(b.arrived(relayed))
    a.arrived(b.relay(publish(b, "B:1")))
    assert "A:2" not in a.graph and "B:1" in a.graph, "a broker that has not forgotten it speaks of it in vain"
    assert publish(a, "A:3").stamp.needs == ()


def test_what_is_lost_for_good_is_kept_by_nobody_for_ever() -> None:
    """Nobody will ever say that they have it; all that follows it would travel for ever."""
    z, b, a = (writer(name, G1, deadlines=False) for name in "ZBA")
    give(publish(z, "Z:1"), z, b)
    a.arrived(b.relay(publish(b, "B:1")))
    a.heard({"B@G1": 1})
    a.gave_up(("Z@G1", 1))
    for now_us in (1, 11, 11):
        assert list(a.graph) == ["Z:1", "B:1"] or now_us == 11
        a.forget(now_us)
    assert not a.graph and a.dropped == {"Z@G1": 1, "B@G1": 1}


def test_a_circle_of_nodes_ends() -> None:
    """Nobody honest makes one."""
    a = writer("A")
    a.adopt([("X", 1, ("G1",), (("Y", 1),), None), ("Y", 1, ("G1",), (("X", 1),), None)], {})
    assert set(a.graph) == {"X:1", "Y:1"}


def test_what_follows_something_unstable_is_not_forgotten() -> None:
    a = writer("A", BOTH, deadlines=False)
    publish(a, "A:1", "G1")
    publish(a, "A:2", "G2")
    a.heard({"A@G2": 2})
    for now_us in (0, 10, 20):
        a.forget(now_us)
    assert list(a.graph) == ["A:1", "A:2"]


def test_what_has_expired_is_forgotten_without_a_look_at_what_is_stable() -> None:
    """Every header that comes asks for the first; a look at all that is kept would make each as dear as a round."""
    one = writer("A", deadlines=False)
    publish(one, "A:1", "G1", deadline_us=4)
    publish(one, "A:2", "G1")
    one.heard({"A@G1": 2})
    one.expire(5)
    assert list(one.graph) == ["A:2"] and one.graph["A:2"].stable_us is None
    one.forget(6)
    assert one.graph["A:2"].stable_us == 6
