"""Messages in cause-and-effect order, before their deadlines, over networks that lose them.

The door of the package: what most people need, under one name. Everything is loaded when it is first used; the room
`antecede.spark` has a door of its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.core.fold.spec import fuse
    from antecede.errors import AntecedeError, EnvironmentFault, InputError, RemoteProtocolError
    from antecede.live.blocking import BlockingFusedInbox, BlockingInbox, BlockingNode, connect_blocking
    from antecede.live.broker import Broker
    from antecede.live.client import Client, connect
    from antecede.live.fusing import FusedInbox, Result
    from antecede.live.inbox import Fate, Inbox
    from antecede.live.message import Message
    from antecede.live.serve import serve
    from antecede.sim.run import Run, simulate
    from antecede.sim.scenario import Scenario
    from antecede.trace.check import check
    from antecede.trace.report import Report

__version__ = "0.1.0"

__all__ = [
    "AntecedeError",
    "BlockingFusedInbox",
    "BlockingInbox",
    "BlockingNode",
    "Broker",
    "Client",
    "EnvironmentFault",
    "Fate",
    "FusedInbox",
    "Inbox",
    "InputError",
    "Message",
    "RemoteProtocolError",
    "Report",
    "Result",
    "Run",
    "Scenario",
    "check",
    "connect",
    "connect_blocking",
    "fuse",
    "serve",
    "simulate",
]

_ROOMS = {
    "AntecedeError": "antecede.errors",
    "BlockingFusedInbox": "antecede.live.blocking",
    "BlockingInbox": "antecede.live.blocking",
    "BlockingNode": "antecede.live.blocking",
    "Broker": "antecede.live.broker",
    "Client": "antecede.live.client",
    "EnvironmentFault": "antecede.errors",
    "Fate": "antecede.live.inbox",
    "FusedInbox": "antecede.live.fusing",
    "Inbox": "antecede.live.inbox",
    "InputError": "antecede.errors",
    "Message": "antecede.live.message",
    "RemoteProtocolError": "antecede.errors",
    "Report": "antecede.trace.report",
    "Result": "antecede.live.fusing",
    "Run": "antecede.sim.run",
    "Scenario": "antecede.sim.scenario",
    "check": "antecede.trace.check",
    "connect": "antecede.live.client",
    "connect_blocking": "antecede.live.blocking",
    "fuse": "antecede.core.fold.spec",
    "serve": "antecede.live.serve",
    "simulate": "antecede.sim.run",
}


def __getattr__(name: str) -> object:
    if name == "spark":
        return import_module("antecede.spark")
    room = _ROOMS.get(name)
    if room is None:
        raise AttributeError(f"antecede has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(room), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__", "spark"]
