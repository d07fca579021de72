"""How long live processes wait for each other: one place, for brokers and clients of a local network.

Decided here: a clock bound that holds on one machine (processes there adopt one clock), rounds and retries that suit
round trips of a millisecond, and a grace that covers finding a crash and attaching elsewhere.
"""

from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

from antecede.core.machine import Settings
from antecede.core.membership.detector import Probing
from antecede.live.node import Clock

__all__ = ["CLIENT_SETTINGS", "PROBING", "REMEMBER_US", "SETTINGS", "adopt", "machine_id", "run_name"]

PROBING = Probing(period_us=400_000, timeout_us=180_000, suspicion=4, forget=150)
"""A crash is known to all of eight brokers after `PROBING.found_us(8)` at the latest: 10.4 seconds, usually half of
that. A client whose connection breaks does not wait for it. Lowering it expels processes on a busy machine."""

REMEMBER_US = 600_000_000
"""Senders that fell silent are named no more after about two minutes, and those that left are forgotten ten minutes
after that (`core/home/retiring.py`). Raising it costs brokers memory for each that left; lowering it, the time that a
client may be away and still publish without a wait (docs/live.md, Limits)."""

SETTINGS = Settings(
    deadlines=True, guard_us=2_000, hop_us=5_000, round_us=50_000, retry_us=40_000, patience_us=2_000, trip_us=500,
    clock_bound_us=1_000, grace_us=15_000_000, memory_us=60_000_000, remember_us=REMEMBER_US,
)  # fmt: skip

CLIENT_SETTINGS = replace(SETTINGS, guard_us=5_000)
"""A client stops waiting a little earlier than its clock demands: the application must come and take the message."""


def machine_id() -> str:
    """The same for all processes that share one monotonic clock; empty where that cannot be told."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def adopt(clock: Clock, told_us: int, asked_us: int, answered_us: int, same_base_us: int | None) -> int:
    """Set a clock that nothing has been decided by yet to that of another process, which said `told_us` between two
    moments of this clock. Returns by how much the two may differ. On one machine they then agree exactly."""
    if same_base_us is not None:
        clock.base_us = same_base_us
        return 0
    clock.base_us += told_us - (asked_us + answered_us) // 2
    return (answered_us - asked_us + 1) // 2


def run_name() -> str:
    """A new name for a new execution: when it began, and something that tells two of them apart."""
    return f"live-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.urandom(3).hex()}"
