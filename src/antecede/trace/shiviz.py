"""A trace as a ShiViz log, to look at in a browser (https://bestchai.bitbucket.io/shiviz/).

Decided in this file: vector clocks are computed from rows - every shown row ticks its own process, a delivery learns
the clock of its publication - and the text is what ShiViz reads with its default expression,
`(?<event>.*)\\n(?<host>\\S*) (?<clock>{.*})`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from antecede.trace.history import History
from antecede.trace.record import KINDS, Row

__all__ = ["SHOWN", "shiviz"]

SHOWN = tuple(kind for kind in KINDS if kind not in ("arrive", "ask", "answer", "collect"))
"""Kinds that are shown unless others are asked for: arrivals and requests make the picture unreadable."""


def shiviz(rows: Iterable[Sequence[Any]], kinds: Collection[str] = SHOWN) -> Iterator[str]:
    """The log, line by line: two lines a row, after the two empty ones that select ShiViz's defaults."""
    history = History(rows)
    shown = {
        process: [row for row in mine if row.kind in kinds or row.kind in ("publish", "deliver")]
        for process, mine in history.processes.items()
    }
    place = dict.fromkeys(shown, 0)
    clocks: dict[str, dict[str, int]] = {process: {} for process in shown}
    published: dict[str, dict[str, int]] = {}
    yield from ("", "")
    progress = True
    while progress:
        progress = False
        for process, mine in sorted(shown.items()):
            while place[process] < len(mine):
                row = mine[place[process]]
                if row.kind == "deliver" and row.message in history.index and row.message not in published:
                    break  # its publication comes first
                progress = True
                place[process] += 1
                clock = clocks[process]
                if row.kind == "deliver":
                    for name, count in published.get(row.message or "", {}).items():
                        clock[name] = max(clock.get(name, 0), count)
                clock[process] = clock.get(process, 0) + 1
                if row.kind == "publish" and row.message is not None:
                    published.setdefault(row.message, dict(clock))
                yield describe(row)
                yield f"{process} {json.dumps(clock, sort_keys=True)}"


def describe(row: Row) -> str:
    """One line: what, which message, why, at what time."""
    words = [row.kind, row.message or "", ", ".join(row.groups or ())]
    if row.reason is not None:
        words.append(f"({row.reason})")
    if row.peer is not None:
        words.append(f"at {row.peer}")
    return " ".join(word for word in words if word) + f" @ {row.at_us} us"
