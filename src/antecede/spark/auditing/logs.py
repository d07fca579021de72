"""Logs with vector clocks, as ShiViz reads them: events of a text and a line `host {clock}`.

Decided in this file: which of the two lines comes first is seen from the first line that is not blank; an event is the
`n`-th of its host as its own clock says; and a line that fits nowhere is an event without an id, with the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Event", "read_log"]

CLOCK = re.compile(r"^\s*(\S+)\s+(\{.*\})\s*$")


class Event(NamedTuple):
    host: str | None
    n: int | None
    clock: dict[str, int] | None
    text: str
    position: int
    """Its place in the log."""
    problem: str | None = None


def read_log(lines: Iterable[str]) -> Iterator[Event]:
    """Every event, in the order of the log.

    >>> [e.n for e in read_log(["started", 'a {"a": 1}', "sent", 'a {"a": 2}'])]
    [1, 2]
    """
    texts: list[str] = []
    clock: re.Match[str] | None = None
    clock_first: bool | None = None
    position = 0
    for line in lines:
        line = line.rstrip("\r\n")
        if not line.strip() and (clock_first is None or not texts):
            continue
        found = CLOCK.match(line)
        if clock_first is None:
            clock_first = found is not None
        if found is None:
            texts.append(line)
        elif clock_first:
            if clock is not None:
                yield event(clock, texts, position)
                position += 1
            clock, texts = found, []
        else:
            yield event(found, texts, position)
            position += 1
            texts = []
    if clock is not None:
        yield event(clock, texts, position)
    elif any(text.strip() for text in texts):
        yield Event(None, None, None, "\n".join(texts), position, "text without a clock")


def event(line: re.Match[str], texts: list[str], position: int) -> Event:
    host, text = line[1], "\n".join(texts).strip()
    try:
        clock = {str(name): int(count) for name, count in json.loads(line[2]).items()}
    except (ValueError, TypeError):
        return Event(None, None, None, line[0], position, "the clock is not a JSON object of whole numbers")
    if clock.get(host, 0) < 1:
        return Event(None, None, None, line[0], position, f"the clock has no step of its own host {host}")
    return Event(host, clock[host], clock, text, position)
