"""A member among peers, of whom some leave, and some ask."""

from __future__ import annotations

from typing import Any

from antecede.core.effects import Effect
from antecede.core.frames import Request
from antecede.core.machine import Peer
from tests.core.kit import machine


def member(name: str = "B", peers: str = "A B C", **knobs: Any) -> Any:
    one = machine("solicit", name, "member", "G1", grace_us=1000, **knobs)
    one.view({peer: Peer(peer, "member", ("G1",)) for peer in peers.split()}, 0)
    one.start(0)
    return one


def gone(one: Any, *names: str, now: int = 0) -> None:
    one.view({name: peer for name, peer in one.members.items() if name not in names}, now)


def ask(one: Any, *ranges: tuple[str, int, int], by: str = "C", now: int = 0, lasting: bool = False) -> list[Effect]:
    return one.receive(Request(ranges, lasting), by, now)
