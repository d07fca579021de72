"""Marks by stream: for each stream one number, which stands for that message and all before it in its stream.

Clocks, frontiers, cuts, digests and whatever everybody has are such maps. Decided here: how two of them are put
together and compared, and how they are said as message ids. They are plain dicts, since every message passes several;
a stream that is left out stands at 0. Where only the sender matters, its series stands in the place of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from antecede.core.interest import group_of
from antecede.core.message import Mark, Stamp, is_loose, series_of, split_id

__all__ = [
    "Marks",
    "beyond",
    "by_group",
    "cut_of",
    "includes",
    "join",
    "loose_of",
    "meet",
    "newest_of",
    "ordered_of",
    "put",
    "tops_of",
    "waited_for",
]

Marks: TypeAlias = Mapping[str, int]


def join(marks: dict[str, int], others: Marks) -> None:
    """Raise `marks` to the newer of the two, stream by stream.

    >>> marks = {"p": 3, "q": 1}
    >>> join(marks, {"p": 2, "q": 4, "r": 1})
    >>> marks
    {'p': 3, 'q': 4, 'r': 1}
    """
    for stream, n in others.items():
        if n > marks.get(stream, 0):
            marks[stream] = n


def put(marks: dict[str, int], own: Iterable[Mark]) -> None:
    """The same for the marks of one message.

    >>> marks = {"p@G1": 3}
    >>> put(marks, [("p@G1", 2), ("p@G2", 4)])
    >>> marks
    {'p@G1': 3, 'p@G2': 4}
    """
    for stream, n in own:
        if n > marks.get(stream, 0):
            marks[stream] = n


def meet(marks: Marks, others: Marks) -> dict[str, int]:
    """The older of the two, for the streams of `marks`.

    >>> meet({"p": 3, "q": 1, "r": 2}, {"p": 2, "q": 4})
    {'p': 2, 'q': 1, 'r': 0}
    """
    return {stream: min(n, others.get(stream, 0)) for stream, n in marks.items()}


def beyond(marks: Marks, passed: Marks) -> Marks:
    """`marks` without the streams in which they are no newer than `passed`; `marks` itself where none is left out.

    >>> beyond({"p@G": 3, "q@G": 2}, {"p@G": 3, "q@G": 1})
    {'q@G': 2}
    """
    if passed.keys().isdisjoint(marks):
        return marks
    return {stream: n for stream, n in marks.items() if n > passed.get(stream, 0)}


def includes(marks: Marks, others: Marks) -> bool:
    """Whether `marks` are as new as `others` in each stream of theirs.

    >>> includes({"p": 3, "q": 1}, {"p": 3}), includes({"p": 3}, {"p": 2, "q": 1})
    (True, False)
    """
    if marks == others:  # the usual case, and the quickest to see
        return True
    for stream, n in others.items():
        if marks.get(stream, 0) < n:
            return False
    return True


def ordered_of(marks: Marks) -> dict[str, int]:
    """The streams, or series, of ordered messages.

    >>> ordered_of({"p@G1": 3, "p~@G1": 9, "q~": 1})
    {'p@G1': 3}
    """
    return {stream: n for stream, n in marks.items() if not is_loose(stream)}


def loose_of(marks: Marks) -> dict[str, int]:
    """The streams, or series, of unordered messages.

    >>> loose_of({"p@G1": 3, "p~@G1": 9})
    {'p~@G1': 9}
    """
    return {stream: n for stream, n in marks.items() if is_loose(stream)}


def waited_for(stamps: Iterable[Stamp]) -> list[Stamp]:
    """The stamps of ordered messages among these: no message follows the others.

    >>> [stamp.own for stamp in waited_for([Stamp((("p@G", 3),)), Stamp((("p~@G", 1),))])]
    [(('p@G', 3),)]
    """
    return [stamp for stamp in stamps if not is_loose(stamp.own[0][0])]


def newest_of(marks: Marks) -> dict[str, int]:
    """The newest message of each sender, whatever its group: its series -> its number.

    >>> newest_of({"p@G1": 3, "p@G2": 5, "p~@G1": 9, "q@G1": 1})
    {'p': 5, 'p~': 9, 'q': 1}
    """
    newest: dict[str, int] = {}
    for stream, n in marks.items():
        sender = series_of(stream)
        if n > newest.get(sender, 0):
            newest[sender] = n
    return newest


def by_group(marks: Marks) -> dict[str, dict[str, int]]:
    """
    >>> by_group({"p@G1": 3, "q@G1": 1, "p@G2": 2})
    {'G1': {'p@G1': 3, 'q@G1': 1}, 'G2': {'p@G2': 2}}
    """
    found: dict[str, dict[str, int]] = {}
    for stream, n in marks.items():
        found.setdefault(group_of(stream), {})[stream] = n
    return found


def cut_of(tops: Marks) -> tuple[str, ...]:
    """The newest message of each sender, as ids.

    >>> cut_of({"q": 2, "p": 14, "r": 0})
    ('p:14', 'q:2')
    """
    return tuple(f"{sender}:{tops[sender]}" for sender in sorted(tops) if tops[sender])


def tops_of(cut: Iterable[str]) -> dict[str, int]:
    """And back.

    >>> tops_of(("p:14", "q:2"))
    {'p': 14, 'q': 2}
    """
    return dict(map(split_id, cut))
