"""A column that is not there: what the table has instead, and what may be meant.

Decided in this file: a name is shown in quotes where it could not be told from what stands around it; a hint is given
where one is likely right, and none otherwise.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

__all__ = ["as_named", "hint"]

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
"""What other programs write between the cells of a CSV file."""


def as_named(names: Sequence[str]) -> str:
    """
    >>> as_named(["id", " Parents ", "Subject, first line"])
    "id, ' Parents ', 'Subject, first line'"
    """
    return ", ".join(repr(name) if name != name.strip() or not name or "," in name else name for name in names)


def hint(name: str, names: Sequence[str]) -> str:
    """What may be meant by a column that is not there, as the end of a sentence.

    >>> hint("Parents", ["id", " parents "])
    " (did you mean ' parents '?)"
    >>> hint("id", ["id;parents"])
    ' (its cells have semicolons between them: write the file with commas)'
    >>> hint("value.id", ["key", "value"])
    ' (value is one column: make columns of what is in it first)'
    >>> hint("id", ["key"])
    ''
    """
    alike = {other.strip().lower(): other for other in names}
    near = difflib.get_close_matches(name.strip().lower(), alike, 1, 0.8)
    if near:
        return f" (did you mean {as_named([alike[near[0]]])}?)"
    for separator, word in SEPARATORS.items():
        if len(names) == 1 and separator in names[0]:
            return f" (its cells have {word} between them: write the file with commas)"
    whole = name.partition(".")[0]
    if "." in name and whole in names:
        return f" ({whole} is one column: make columns of what is in it first)"
    return ""
