"""Bytes to lines: marks, encodings, damaged bytes that cost their own row only."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.spark.tables.decoded import is_sound, known_encoding, lines_of, readable


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marks_are_seen_and_are_no_text(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a").write_bytes("é,ß\r\nb\u2028c".encode(encoding))
    assert list(lines_of(tmp_path / "a")) == ["é,ß\r\n", "b\u2028c"]


def test_an_encoding_that_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes("é\n".encode("latin-1"))
    assert list(lines_of(tmp_path / "a", "latin-1")) == ["é\n"]
    known_encoding("latin-1")
    with pytest.raises(InputError, match="no encoding klingon"):
        known_encoding("klingon")


def test_a_damaged_byte_is_carried_along_and_shown(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9,1\nok\n\xff\xfe\xfd")
    lines = list(lines_of(tmp_path / "a"))
    assert [is_sound(line) for line in lines] == [False, True, False]
    assert [readable(line) for line in lines] == ["caf\\xe9,1", "ok", "\\xff\\xfe\\xfd"]
    (tmp_path / "b").write_bytes("ab\n".encode("utf-16") + b"\x00\xd8\x0a\x00")
    assert [is_sound(line) for line in lines_of(tmp_path / "b")] == [True, False]


def test_packed_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a\nb\n"))
    assert list(lines_of(tmp_path / "a.csv.gz")) == ["a\n", "b\n"]
