"""One simulated process: a machine, its clock, where it is attached, and how far its records have come."""

from __future__ import annotations

from collections.abc import Callable

from antecede.core.machine import Machine
from antecede.core.membership.wrapper import Managed, admission

__all__ = ["NEVER", "Process"]

NEVER = 1 << 62
"""Later than any time of a run."""


class Process:
    """One machine, its clock, and how far its records have come."""

    __slots__ = ("_at", "admits", "alive", "base", "filters", "groups", "machine", "name", "next_wake", "off_until_us",
                 "offset_us", "ready", "receive", "role", "seen", "sent", "spins", "step", "wake_us")  # fmt: skip

    def __init__(self, name: str, role: str, machine: Machine, groups: tuple[str, ...], offset_us: int) -> None:
        self.name, self.role, self.machine, self.groups = name, role, machine, groups
        self.base = name.partition(".")[0]
        self.offset_us = offset_us
        self.alive = True
        self.ready = True
        """False after a restart, until it has joined: it does not publish before."""
        self.off_until_us = 0
        """Until then it is asleep: what comes is dealt with when it wakes up. The dead never do."""
        self.admits: Callable[[str], bool] | None = admission(machine)
        """Whether it listens to another process; None: to all."""
        self._at: tuple[str, ...] = ()
        self.filters: tuple[str, ...] = ()
        self.step = 0
        self.wake_us = NEVER
        self.spins = 0
        self.receive = machine.receive
        self.next_wake = machine.next_wake
        self.sent: dict[str, list[int]] = {}
        self.seen: list[str] = []
        """What it has delivered and published, in order; kept only for payloads that are witnesses."""

    @property
    def at(self) -> tuple[str, ...]:
        """The brokers a subscriber is attached to; one that finds its view by itself moves by itself."""
        return self.machine.at if isinstance(self.machine, Managed) else self._at

    @at.setter
    def at(self, places: tuple[str, ...]) -> None:
        self._at = places
