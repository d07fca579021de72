"""Bytes to text, line by line, without a damaged byte spoiling more than its own row.

Decided in this file: a file is UTF-8 unless it begins with the mark of UTF-16 or its encoding is named; a byte that is
none of its encoding is carried along as a lone surrogate, so that the row in which it stands can be set aside with what
was written there. A line ends as in any text file; a last one need not end.
"""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from antecede.errors import InputError

__all__ = ["Aside", "is_sound", "known_encoding", "lines_of", "readable"]

CARRY = "antecede-carry"
"""The name under which Python's decoders find `carry`."""


class Aside(NamedTuple):
    """What could not be read: where, why, and the text itself."""

    file: str
    reason: str
    row: str


def carry(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


codecs.register_error(CARRY, carry)


def lines_of(file: str | Path, encoding: str | None = None) -> Iterator[str]:
    """The lines with their ends. A mark at the beginning is not part of the first."""
    with opened(Path(file)) as raw:
        begin = raw.peek(4)[:4]
        marked = begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        name = encoding or ("utf-16" if marked else "utf-8-sig")
        name = "utf-8-sig" if codecs.lookup(name).name == "utf-8" else name
        with io.TextIOWrapper(raw, encoding=name, errors=CARRY, newline="") as text:
            yield from text


def opened(file: Path) -> Any:
    return gzip.open(file) if file.suffix == ".gz" else file.open("rb")


def known_encoding(encoding: str | None) -> None:
    """Refuse an encoding that Python does not have."""
    try:
        if encoding is not None:
            codecs.lookup(encoding)
    except LookupError:
        raise InputError(f"there is no encoding {encoding}: name one such as utf-8, latin-1 or utf-16") from None


def is_sound(text: str) -> bool:
    """Whether all of it was text in its encoding; an escaped half of a character in JSON is none either."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def readable(text: str) -> str:
    """The text with each damaged byte as \\\\xNN.

    >>> readable("caf\\udce9")
    'caf\\\\xe9'
    """
    text = text.rstrip("\r\n")
    if is_sound(text):
        return text
    return (
        "".join(f"\\x{ord(one) - 0xDC00:02x}" if 0xDC00 <= ord(one) < 0xDD00 else one for one in text)
        .encode("utf-8", "backslashreplace")
        .decode()
    )
