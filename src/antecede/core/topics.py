"""Which topic a filter matches, decided in one function, as in MQTT.

`+` stands for one level, `#` (last level only) for that level's parent and everything below it; a plain name matches
itself. Neither wildcard at the front matches a topic that begins with `$`.
"""

from __future__ import annotations

__all__ = ["covers", "matches"]


def matches(filter: str, topic: str) -> bool:
    """
    >>> matches("room/+/door", "room/7/door"), matches("room/#", "room"), matches("room/+", "room")
    (True, True, False)
    """
    if filter == topic:
        return True
    if "+" not in filter and "#" not in filter:
        return False
    if topic.startswith("$") and filter[0] in "+#":
        return False
    wanted, have = filter.split("/"), topic.split("/")
    for place, level in enumerate(wanted):
        if level == "#":
            return place == len(wanted) - 1
        if place >= len(have) or (level != "+" and level != have[place]):
            return False
    return len(wanted) == len(have)


def covers(wide: str, narrow: str) -> bool:
    """Whether one filter matches all that another one matches.

    >>> covers("room/#", "room/+"), covers("room/#", "room"), covers("room/+", "room/#"), covers("+", "$SYS")
    (True, True, False, False)
    """
    if wide == narrow:
        return True
    if narrow.startswith("$") and wide[0] in "+#":
        return False
    levels, within = wide.split("/"), narrow.split("/")
    for place, level in enumerate(levels):
        if level == "#":
            return place == len(levels) - 1
        if place >= len(within) or within[place] == "#" or (level != "+" and level != within[place]):
            return False
    return len(levels) == len(within)
