"""What processes and topics may be called: what a name means elsewhere, it must not hold, and it must fit the wire.

Decided here, before anything has changed: a publication that no peer could be told of would keep its sender's later
ones, which name it, from everybody too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from antecede.errors import InputError

__all__ = ["MAX_PROCESS", "MAX_TOPIC", "MAX_TOPICS", "check_process", "distinct_topics", "short"]

MAX_PROCESS = 128
"""Characters of a process's name, its incarnation included."""

MAX_TOPIC = 256
"""Characters of a topic or filter. With a process's name and what stands between them it is a stream, which every
process remembers and the wire bounds."""

MAX_TOPICS = 256
"""Topics of one message: it has a mark for each, wherever it is kept."""

_PROCESS = re.compile(r"[^.@:~\0]+(\.[1-9][0-9]{0,8})?")


def check_process(name: str) -> None:
    """
    >>> check_process("A"), check_process("S12.3")
    (None, None)
    >>> check_process("10.0.0.1")
    Traceback (most recent call last):
    antecede.errors.InputError: A process cannot be called '10.0.0.1': use letters, digits or -, and a dot only before \
the number of its incarnation.
    """
    if not isinstance(name, str) or not _PROCESS.fullmatch(name) or len(name) > MAX_PROCESS or not _is_text(name):
        raise InputError(
            f"A process cannot be called {short(name)}: use letters, digits or -, and a dot only before the number of "
            "its incarnation."
        )


def distinct_topics(topics: Sequence[str]) -> tuple[str, ...]:
    """Each once.

    >>> distinct_topics(["room/1", "alerts", "room/1"])
    ('room/1', 'alerts')
    """
    if isinstance(topics, str):
        raise InputError(f"Topics are a list: publish to [{topics!r}].")
    if not topics:
        raise InputError("A message without a topic reaches nobody: name at least one.")
    for topic in topics:
        if not isinstance(topic, str):
            raise InputError(f"A topic is a str such as 'room/1', not {short(topic)}.")
    different = tuple(dict.fromkeys(topics))
    if len(different) > MAX_TOPICS:
        raise InputError(f"A message has at most {MAX_TOPICS} topics, not {len(different)}.")
    for topic in different:
        if not topic or len(topic) > MAX_TOPIC or "\0" in topic or not _is_text(topic):
            raise InputError(f"{short(topic)} is no topic: 1 to {MAX_TOPIC} characters of text, none of them NUL.")
    return different


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # half a surrogate pair
        return False
    return True


def short(name: object) -> str:
    """A name as it stands in a sentence.

    >>> short("room/1"), short("x" * 99)
    ("'room/1'", "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'...")
    """
    if not isinstance(name, str):
        return f"a {type(name).__name__}"
    return repr(name) if len(name) <= 40 else f"{name[:40]!r}..."
