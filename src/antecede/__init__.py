"""Messages in cause-and-effect order, before their deadlines, over networks that lose them.

The door of the package: what most people need, under one name. Everything is loaded when it is first used; the room
`antecede.spark` has a door of its own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.core.message import Message
    from antecede.errors import AntecedeError, EnvironmentFault, InputError, RemoteProtocolError
    from antecede.sim.run import Run, simulate
    from antecede.sim.scenario import Scenario
    from antecede.trace.check import check
    from antecede.trace.report import Report

__version__ = "0.1.0"

__all__ = [
    "AntecedeError",
    "EnvironmentFault",
    "InputError",
    "Message",
    "RemoteProtocolError",
    "Report",
    "Run",
    "Scenario",
    "check",
    "simulate",
]

_ROOMS = {
    "AntecedeError": "antecede.errors",
    "EnvironmentFault": "antecede.errors",
    "InputError": "antecede.errors",
    "Message": "antecede.core.message",
    "RemoteProtocolError": "antecede.errors",
    "Report": "antecede.trace.report",
    "Run": "antecede.sim.run",
    "Scenario": "antecede.sim.scenario",
    "check": "antecede.trace.check",
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
