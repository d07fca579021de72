"""One simulated process: a machine, its clock, where it is attached, and how far its records have come."""

from __future__ import annotations

from antecede.core.machine import Machine

__all__ = ["NEVER", "Process"]

NEVER = 1 << 62
"""Later than any time of a run."""


class Process:
    """One machine, its clock, and how far its records have come."""

    __slots__ = ("alive", "at", "base", "filters", "groups", "machine", "name", "next_wake", "offset_us", "ready",
                 "receive", "role", "seen", "sent", "spins", "step", "wake_us")  # fmt: skip

    def __init__(self, name: str, role: str, machine: Machine, groups: tuple[str, ...], offset_us: int) -> None:
        self.name, self.role, self.machine, self.groups = name, role, machine, groups
        self.base = name.partition(".")[0]
        self.offset_us = offset_us
        self.alive = True
        self.ready = True
        """False after a restart, until it has joined: it does not publish before."""
        self.at: tuple[str, ...] = ()
        self.filters: tuple[str, ...] = ()
        self.step = 0
        self.wake_us = NEVER
        self.spins = 0
        self.receive = machine.receive
        self.next_wake = machine.next_wake
        self.sent: dict[str, list[int]] = {}
        self.seen: list[str] = []
        """What it has delivered and published, in order; kept only for payloads that are witnesses."""
