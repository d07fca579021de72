"""When a message ends: `within` seconds or a `deadline`, as a moment of the cluster's clock; and durations as text.

Decided here: a deadline given by the wall is turned into a distance from now before it is used, so that the cluster's
clock, which never jumps, need not agree with the wall. A deadline that has passed is refused at the call.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from antecede.errors import InputError

__all__ = ["deadline_of", "parse_duration"]

_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
LONGEST_S = 366 * 24 * 3600.0


def deadline_of(within: float | None, deadline: datetime | None, now_us: int) -> int | None:
    if within is not None and deadline is not None:
        raise InputError("Give within= or deadline=, not both.")
    if deadline is not None:
        if not isinstance(deadline, datetime):
            raise InputError(f"deadline= is a datetime, not {deadline!r}; within= takes seconds.")
        if deadline.tzinfo is None:
            raise InputError("deadline= needs a time zone: datetime.now(UTC) + timedelta(seconds=1), for example.")
        within = (deadline - datetime.now(UTC)).total_seconds()
        if within <= 0:
            raise InputError(f"The deadline {deadline.isoformat()} has passed: nobody could be shown the message.")
    if within is None:
        return None
    if not isinstance(within, int | float) or isinstance(within, bool) or not 0 < within <= LONGEST_S:
        raise InputError(f"within= is a number of seconds above 0 and up to a year, not {within!r}.")
    return now_us + round(within * 1e6)


def parse_duration(text: str) -> float:
    """Seconds.

    >>> parse_duration("500ms"), parse_duration("2s"), parse_duration("1.5"), parse_duration("30d")
    (0.5, 2.0, 1.5, 2592000.0)
    """
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(us|ms|s|min|m|h|d)?", text.strip())
    if match is None:
        raise InputError(f"{text!r} is no duration: write 500ms, 2s or 1m.")
    return float(match[1]) * _UNITS[match[2] or "s"]
