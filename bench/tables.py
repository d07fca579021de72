"""What all questions of `bench/` share: tables to print, lists of numbers to read, and time by room."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Sequence
from typing import Any

__all__ = ["Rooms", "Table", "by_room", "numbers", "show"]

Table = list[dict[str, Any]]
"""Rows to print: name of a column -> value."""

Rooms = Sequence[tuple[str, Sequence[str]]]
"""Name of a room, and what the places in it have in their path or name; the first that fits counts."""


def show(title: str, table: Table) -> None:
    """Words to the left, numbers to the right; what a row does not say stays empty."""
    print(f"\n{title}" if title else "")
    names = list(dict.fromkeys(name for row in table for name in row))
    cells = [[name, *(_form(row.get(name)) for row in table)] for name in names]
    widths = [max(map(len, column)) for column in cells]
    words = [isinstance(table[0].get(name), str) for name in names]
    for line in zip(*cells, strict=True):
        parts = [
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(line, widths, words, strict=True)
        ]
        print("  ".join(parts).rstrip(), flush=True)


def _form(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 1000 else f"{value:.2f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def numbers(text: str) -> list[int]:
    return [int(one) for one in text.split(",")]


def by_room(profile: cProfile.Profile, rooms: Rooms) -> dict[str, float]:
    """Own seconds by room. Waiting does not count; what a built-in function took belongs to those who called it, except
    where it has a room of its own."""
    spent: dict[str, float] = {}

    def room_of(where: str) -> str | None:
        return next((name for name, signs in rooms if any(sign in where for sign in signs)), None)

    def add(room: str | None, own_s: float) -> None:
        spent[room or "other"] = spent.get(room or "other", 0.0) + own_s

    for (file, _, function), (_, _, own_s, _, callers) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        room = room_of(f"{file} {function}")
        if "epoll" in function:
            continue
        if file != "~" or room is not None:
            add(room, own_s)
        else:
            for (caller, _, name), (_, _, share_s, _) in callers.items():
                add(room_of(f"{caller} {name}"), share_s)
    return spent
