"""Which topics a filter matches: as in MQTT (`+` one level, `#` the rest); a plain name matches itself."""

from __future__ import annotations

__all__ = ["matches"]


def matches(filter_: str, topic: str) -> bool:
    if filter_ == topic:
        return True
    if "+" not in filter_ and "#" not in filter_:
        return False
    wanted, given = filter_.split("/"), topic.split("/")
    for place, level in enumerate(wanted):
        if level == "#":
            return True
        if place >= len(given) or (level != "+" and level != given[place]):
            return False
    return len(wanted) == len(given)
