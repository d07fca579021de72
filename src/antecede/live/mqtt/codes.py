"""Numbers of the standard to the codec's names for them, and back.

Decided here: the codec's enumerations are declared as IntEnum, but are neither integers nor made from them; whoever
compares or makes one does so by number, through this file.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import TypeVar

import mqtt5

__all__ = ["QOS", "named"]

E = TypeVar("E", bound=IntEnum)

QOS = (mqtt5.QoS.AT_MOST_ONCE, mqtt5.QoS.AT_LEAST_ONCE, mqtt5.QoS.EXACTLY_ONCE)
"""The codec's names of 0, 1 and 2."""


@cache
def _names(kind: type[E]) -> dict[int, E]:
    return {int(getattr(kind, name)): getattr(kind, name) for name in dir(kind) if name.isupper()}


def named(kind: type[E], number: int, otherwise: int | None = None) -> E:
    """
    >>> int(named(mqtt5.DisconnectReasonCode, 0x8E)), int(named(mqtt5.ConnAckReasonCode, 0x8E, 0x80))
    (142, 128)
    """
    names: dict[int, E] = _names(kind)
    return names[number if otherwise is None or number in names else otherwise]
