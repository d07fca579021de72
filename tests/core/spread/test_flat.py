"""The plain multicast of a flat group, and what other ways to spread may hear of."""

from __future__ import annotations

from typing import Any

from antecede.core.frames import Received
from antecede.core.machine import Peer
from antecede.core.message import Publication
from tests.core.kit import machine, told


def member(name: str = "A", peers: str = "A B C") -> Any:
    one = machine("fifo", name, "member", "G1")
    one.view({peer: Peer(peer, "member", ("G1",)) for peer in peers.split()}, 0)
    one.start(0)
    return one


def test_one_copy_to_everybody_at_once_and_nothing_later() -> None:
    one = member()
    assert told(one.publish(Publication(("G1",)), 0)[1]) == ["data to B,C: A:1"]
    assert one.spread.at_us is None


def test_alone_nothing_is_sent_and_foreign_frames_are_nothing_to_it() -> None:
    assert told(member(peers="A").publish(Publication(("G1",)), 0)[1]) == []
    assert told(member().receive(Received(("A:1",)), "B", 0)) == []
