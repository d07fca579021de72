"""A publication is safe when another broker that carries it says so: at once, or by a digest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antecede.core.frames import Attach, Data, Digest, Kept, Publish, Published
from antecede.core.interest import Interest
from antecede.core.message import Envelope, Stamp
from tests.core.kit import carry, frame_to, grouped, machine, sent, told, view_of

VIEW = {"H": "G1", "B": "G1", "C": "G2"}


def broker(name: str, **knobs: Any) -> Any:
    one = machine("home", name, "broker", VIEW[name], round_us=100, grace_us=1000, **knobs)
    one.view(view_of(VIEW, "S1 S2"), 0)
    one.start(0)
    return one


def test_who_takes_a_relayed_publication_says_so_at_once_and_the_home_acknowledges() -> None:
    machines = {"H": broker("H"), "B": broker("B")}
    relayed = frame_to(machines["H"].receive(Publish((grouped("S1:1"),)), "S1", 0), "B", Data)
    effects = machines["B"].receive(relayed, "H", 1)
    assert frame_to(effects, "H", Kept).ids == ("S1:1",)
    assert frame_to(machines["H"].receive(Kept(("S1:1",)), "B", 2), "S1", Published).ids == ("S1:1",)
    assert machines["H"].confirming.unsafe() == []


def test_one_frame_for_each_sender_and_turn() -> None:
    home, other = broker("H"), broker("B")
    many = Publish((grouped("S1:1"), grouped("S1:2", needs=[("S1@G1", 1)]), grouped("S2:1")))
    relayed = Data(tuple(e for _, data in sent(home.receive(many, "S1", 0), Data) for e in data.envelopes))
    kept = frame_to(other.receive(relayed, "H", 1), "H", Kept)
    assert kept.ids == ("S1:1", "S1:2", "S2:1")
    assert frame_to(home.receive(kept, "B", 2), "S1", Published).ids == kept.ids


def test_what_is_held_is_kept_and_what_is_late_or_superseded_is_not() -> None:
    other = broker("B")
    held = grouped("S1:2", needs=[("S1@G1", 1)], deadline_us=500)
    assert frame_to(other.receive(Data((held,)), "H", 1), "H", Kept).ids == ("S1:2",)
    late = grouped("S2:1", deadline_us=5)
    assert sent(other.receive(Data((late,)), "H", 10), Kept) == []
    other.wake(500)
    assert told(other.receive(Data((grouped("S1:1"),)), "H", 501)) == ["discard S1:1 superseded"]


def test_a_repeat_is_confirmed_again() -> None:
    """The first answer may have been lost."""
    other = broker("B")
    for _ in range(2):
        assert frame_to(other.receive(Data((grouped("S1:1"),)), "H", 1), "H", Kept).ids == ("S1:1",)


def test_answers_to_requests_and_strangers_are_not_confirmed_to() -> None:
    other = broker("B")
    assert sent(other.receive(Data((grouped("S1:1"),), answer=True), "H", 1), Kept) == []
    assert sent(other.receive(Data((grouped("S1:2"),)), "S2", 1), Kept) == []
    assert sent(other.receive(Data((grouped("S1:3"),)), "X", 1), Kept) == []


def test_only_a_broker_that_carries_it_makes_a_publication_safe() -> None:
    home = broker("H")
    home.receive(Publish((grouped("S1:1"),)), "S1", 0)
    for liar in ("S1", "S2", "C", "X"):
        assert home.receive(Kept(("S1:1", "Q:9")), liar, 1) == []
    assert frame_to(home.receive(Kept(("S1:1", "Q:9")), "B", 1), "S1", Published).ids == ("S1:1",)
    assert home.receive(Kept(("S1:1",)), "B", 2) == [], "once is enough"


def test_a_digest_says_the_same_where_the_answer_was_lost() -> None:
    home = broker("H")
    home.receive(Publish((grouped("S1:1"), grouped("S1:2"))), "S1", 0)
    assert frame_to(home.receive(Digest({}, {"S1@G1": 2}), "B", 1), "S1", Published).ids == ("S1:1", "S1:2")


def test_what_came_before_it_had_joined_is_confirmed_when_it_has() -> None:
    machines = {"H": broker("H")}
    machines["B"] = one = machine("home", "B", "broker", "G1", round_us=100, grace_us=1000)
    one.view(view_of(VIEW), 0)
    asks = one.start(0, joining=True)
    assert one.receive(Data((grouped("S1:1"),)), "H", 1) == []
    said = [*asks]
    home_says = machines["H"].receive(said[0].frame, "B", 2)
    effects = one.receive(home_says[0].frame, "H", 3)
    assert frame_to(effects, "H", Kept).ids == ("S1:1",)
    assert carry([], "B", machines, 4) == []


def test_what_was_acknowledged_before_its_attachment_came_is_not_waited_for_from_its_client() -> None:
    """PUB may overtake ATTACH, and so may the answer of another broker: then nobody publishes it again."""
    home = broker("H")
    home.receive(Publish((grouped("S1:1"), grouped("S1:3"))), "S1", 0)
    home.receive(Kept(("S1:1", "S1:3")), "B", 1)
    home.receive(Attach(1, ("G1",), {}, ("S1:1", "S1:2"), published=2), "S1", 2)
    log = home.logs["S1"]
    assert [log.keeps(("S1@G1", n)) for n in (1, 2, 3, 4)] == [False, True, False, True]
    assert home.absent_since(("S1@G1", 1), 7) == 7 and home.absent_since(("S1@G1", 2), 7) is None


def test_what_a_digest_makes_safe_is_told_in_the_order_in_which_it_came() -> None:
    home = broker("H")
    home.receive(Publish((grouped("S1:1"), grouped("S2:1"), grouped("S1:2"), grouped("S1:3"))), "S1", 0)
    assert home.confirming.newest() == {"S1@G1": 3, "S2@G1": 1}
    effects = home.receive(Digest({}, {"S1@G1": 2, "S2@G1": 1}), "B", 1)
    assert frame_to(effects, "S1", Published).ids == ("S1:1", "S2:1", "S1:2")
    assert home.confirming.newest() == {"S1@G1": 3} and home.confirming.streams() == {"S1@G1"}


def test_a_client_that_stamps_repeats_anew_or_two_messages_alike_breaks_nothing() -> None:
    home = broker("H")
    seventh = Stamp((("S1@G1", 7),), (), {}, 0)
    home.confirming.publish(grouped("S1:1"), "S1", alone=False)
    for name in ("S1:1", "S1:2"):
        home.confirming.publish(Envelope(grouped(name).message, seventh), "S1", alone=False)
    assert home.confirming.newest() == {"S1@G1": 7}
    home.confirming.compared({"S1@G1": 7})
    home.receive(Kept(("S1:1", "S1:2")), "B", 1)
    assert home.confirming.unsafe() == [] and home.confirming.newest() == {}


def test_a_digest_costs_no_more_where_thousands_are_not_safe_yet() -> None:
    """Counted in looks at a topic's interest, which an offer once took for each of them."""
    home = broker("H")
    home.receive(Publish(tuple(grouped(f"S1:{n}") for n in range(1, 2_001))), "S1", 0)
    asked: list[int] = []

    class Counted(Interest):
        def among(self, numbers: Mapping[str, int]) -> dict[str, int]:
            asked.append(len(numbers))
            return super().among(numbers)

    assert home.offers(Counted(("G1",)))["S1@G1"] == 2_000
    assert asked == [1]


def test_what_nobody_carries_is_safe_only_when_somebody_has_come_that_does() -> None:
    home = broker("H")
    effects = home.receive(Publish((grouped("S1:1", "G3"),)), "S1", 0)
    assert sent(effects, Published) == [] and len(home.confirming.unsafe()) == 1
    assert sent(home.view(view_of({"H": "G1", "B": "G1"}, "S1"), 1), Published) == [], "another one that does not"
    home.view(view_of({"H": "G1", "D": "G3"}, "S1"), 2)
    assert frame_to(home.wake(home.rounds.at_us), "D", Digest).offer == {"S1@G3": 1}
    assert frame_to(home.receive(Kept(("S1:1",)), "D", 4), "S1", Published).ids == ("S1:1",)


def test_what_nobody_carries_any_more_is_not_safe_and_what_the_home_carries_is() -> None:
    home = broker("H")
    home.receive(Publish((grouped("S1:1", "G1"), grouped("S2:1", "G2"))), "S1", 0)
    effects = home.view(view_of({"H": "G1"}, "S1"), 1)
    assert frame_to(effects, "S1", Published).ids == ("S1:1",)
    assert [one.message.id for one in home.confirming.unsafe()] == ["S2:1"]
