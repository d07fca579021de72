"""What a filter matches: a topic, all of another filter, some of it; decided here, as in MQTT.

`+` stands for one level, `#` (last level only) for that level's parent and everything below it; a plain name matches
itself. Neither wildcard at the front matches a topic that begins with `$`. No filter of MQTT matches every topic:
`$#`, which is none of them, does.

A filter may also select by content: then a predicate (`where.py`) follows it after `#?`, which no filter holds, since
`#` is a level by itself and the last one. Wherever only topics are known, such a filter is what it is without that.
"""

from __future__ import annotations

__all__ = ["EVERYTHING", "covers", "is_filter", "matches", "overlaps", "selected", "split_filter"]

EVERYTHING = "$#"
"""Every topic, also those that begin with `$`."""
SELECTS = "#?"
"""Between a filter and its predicate."""


def selected(filter: str, where: str | None) -> str:
    """
    >>> selected("room/#", "temp > 20"), selected("room/#", None)
    ('room/##?temp > 20', 'room/#')
    """
    return filter + SELECTS + where if where else filter


def split_filter(filter: str) -> tuple[str, str | None]:
    """
    >>> split_filter("room/##?temp > 20"), split_filter("room/#")
    (('room/#', 'temp > 20'), ('room/#', None))
    """
    topics, sign, where = filter.partition(SELECTS)
    return topics, where if sign else None


def is_filter(text: str) -> bool:
    """Whether wildcards stand where they may: each a level by itself, `#` the last one.

    >>> is_filter("room/+/door"), is_filter("#"), is_filter("$#"), is_filter("a/#/b"), is_filter("a/b+"), is_filter("")
    (True, True, True, False, False, False)
    """
    text = split_filter(text)[0]
    if text == EVERYTHING:
        return True
    *before, last = text.split("/")
    plain = all(level == "+" or ("+" not in level and "#" not in level) for level in before)
    return bool(text) and plain and (last in ("+", "#") or ("+" not in last and "#" not in last))


def matches(filter: str, topic: str) -> bool:
    """
    >>> matches("room/+/door", "room/7/door"), matches("room/#", "room"), matches("room/+", "room")
    (True, True, False)
    >>> matches("#", "$SYS"), matches("$#", "$SYS"), matches("$#", "room/7")
    (False, True, True)
    """
    if SELECTS in filter:
        filter = split_filter(filter)[0]
    if filter in (topic, EVERYTHING):
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
    """Whether one filter matches all that another one matches. (Of two predicates it is only known if they are one.)

    >>> covers("room/#", "room/+"), covers("room/#", "room"), covers("room/+", "room/#"), covers("+", "$SYS")
    (True, True, False, False)
    >>> covers("$#", "#"), covers("#", "$#"), covers("+/#", "#")
    (True, False, True)
    >>> covers("a/#", "a/##?x > 1"), covers("a/##?x > 1", "a/#"), covers("a/##?x > 1", "a/b#?x > 1")
    (True, False, True)
    """
    (wide, every), (narrow, some) = split_filter(wide), split_filter(narrow)
    if every is not None and every != some:
        return False
    narrow = "+/#" if narrow == "#" else narrow  # the same: no topic is without a level
    if wide in (narrow, EVERYTHING):
        return True
    if narrow.startswith("$") and wide[:1] in ("+", "#"):
        return False
    levels, within = wide.split("/"), narrow.split("/")
    for place, level in enumerate(levels):
        if level == "#":
            return place == len(levels) - 1
        if place >= len(within) or within[place] == "#" or (level != "+" and level != within[place]):
            return False
    return len(levels) == len(within)


def overlaps(one: str, other: str) -> bool:
    """Whether some topic is matched by both filters.

    >>> overlaps("a/+", "+/b"), overlaps("a/#", "a"), overlaps("a/+", "a/b/#"), overlaps("a/+", "b/#")
    (True, True, True, False)
    >>> overlaps("#", "$SYS/+"), overlaps("$#", "$SYS/+")
    (False, True)
    """
    one, other = split_filter(one)[0], split_filter(other)[0]
    if EVERYTHING in (one, other):
        return True
    mine, theirs = one.split("/"), other.split("/")
    first = (mine[0], theirs[0])
    if any(level.startswith("$") for level in first) and any(level in ("+", "#") for level in first):
        return False
    for a, b in zip(mine, theirs, strict=False):
        if a == "#" or b == "#":
            return True
        if a != b and a != "+" and b != "+":
            return False
    rest = max(mine, theirs, key=len)[min(len(mine), len(theirs)) :]
    return not rest or rest == ["#"]
