"""What both halves of a process know of others, and of what was delivered."""

from __future__ import annotations

from antecede.core.entries import INTERESTS
from antecede.core.frames import Data
from tests.core.kit import flat
from tests.core.roles.test_receiver import member


def test_whoever_leaves_is_remembered_until_it_is_back() -> None:
    one = member("A B")
    everybody = dict(one.members)
    one.view({"A": everybody["A"]}, 70)
    assert one.departed == {"B": 70}
    one.view(everybody, 80)
    assert one.departed == {}


def test_the_cut_names_the_newest_delivered_per_sender() -> None:
    one = member()
    one.receive(Data((flat("C:1"), flat("B:1"), flat("B:2", {"B": 1}), flat("D:2", {"D": 1}))), "B", 0)
    assert one.cut() == ("B:2", "C:1")


def test_filters_of_those_who_left_are_forgotten() -> None:
    one = member("A B")
    for n in range(3 * INTERESTS):
        one.known_interest((f"room/{n}",))
    assert (
        one.known_interest(("room/1",)) is one.known_interest(("room/1",)) and len(one._interests._known) <= INTERESTS
    )
