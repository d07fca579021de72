"""Rows of CSV and JSON, and the lines that are none, each with its reason and its text."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from antecede.errors import InputError
from antecede.spark.tables import rows
from antecede.spark.tables.rows import blocks_of


def read(tmp_path: Path, data: bytes, kind: str = "csv") -> tuple[dict[str, list[Any]], list[tuple[str, str]]]:
    (tmp_path / "in").write_bytes(data)
    blocks = list(blocks_of(tmp_path / "in", kind))
    names = dict.fromkeys(name for block in blocks for name in block.columns)
    columns = {n: [cell for b in blocks for cell in b.columns.get(n, [None] * b.size)] for n in names}
    return columns, [(bad.reason, bad.row) for block in blocks for bad in block.aside]


def test_cells_with_quotes_commas_and_line_ends(tmp_path: Path) -> None:
    found = read(tmp_path, b'id,"a,b"\r\n1,"x, ""y"""\r\n2,"m\nn"\n\n3,\n4,5" pipe\n')
    assert found == ({"id": ["1", "2", "3", "4"], "a,b": ['x, "y"', "m\nn", None, '5" pipe']}, [])
    assert [list(block.lines) for block in blocks_of(tmp_path / "in", "csv")] == [[2, 3, 6, 7]]


def test_ragged_lines_are_set_aside(tmp_path: Path) -> None:
    found, aside = read(tmp_path, b"id,x\n1,2,3\n2\n3,4\n")
    assert found == {"id": ["3"], "x": ["4"]}
    assert aside == [
        ("3 cells where the header has 2 (line 2)", "1,2,3"),
        ("1 cell where the header has 2 (line 3)", "2"),
    ]


def test_a_quote_that_is_not_closed_costs_its_own_line(tmp_path: Path) -> None:
    found, aside = read(tmp_path, b'id,x\n1,"open\n2,b\n3,"c"\n4,"d" e\n5,f\n6,"open\n7,g\n')
    assert found["id"] == ["2", "3", "5", "7"]
    assert [row for _, row in aside] == ['1,"open', '4,"d" e', '6,"open']
    assert [reason for reason, _ in aside] == [
        "a quote that is not closed (line 2)",
        "something between a closing quote and the next comma (line 5)",
        "a quote that is not closed (line 7)",
    ]


def test_a_quote_is_not_looked_for_without_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MOST_LINES", 2)
    found, aside = read(tmp_path, b'id,x\n1,"a\nb\nc\nd"\n2,e\n')
    assert found["id"] == ["2"] and len(aside) == 4


def test_bytes_that_are_no_text_cost_their_own_row(tmp_path: Path) -> None:
    found, aside = read(tmp_path, b'id,x\n1,caf\xe9\n2,"l1\n\xff"\n3,ok\n')
    assert found["id"] == ["3"] and [row for _, row in aside] == ["1,caf\\xe9", '2,"l1\n\\xff"']


def test_headers_that_cannot_be_are_one_sentence(tmp_path: Path) -> None:
    for data, said in ((b"id,id\n", "two columns id"), (b"\xe9,x\n", "--encoding"), (b'"id,x\n1,2\n', "quote")):
        with pytest.raises(InputError, match=said):
            read(tmp_path, data)
    assert read(tmp_path, b"") == ({}, []) and read(tmp_path, b"id,x\n") == ({"id": [], "x": []}, [])


def test_json_lines_and_what_is_none(tmp_path: Path) -> None:
    data = b'{"id": 1.10, "p": ["a", 2]}\n\n{"id": "b"}\n{"id":\n[1]\n{"id": 1, "id": 2}\n'
    data += b'{"id": "\xff"}\n{"id": "\\ud800"}\n'
    found, aside = read(tmp_path, data, "json")
    assert found == {"id": ["1.10", "b"], "p": [["a", "2"], None]}
    assert [reason for reason, _ in aside] == [
        "not JSON (line 4)",
        "JSON, but not an object (line 5)",
        "it names a key twice (line 6)",
        "bytes that are no text in the file's encoding (line 7)",
        "bytes that are no text in the file's encoding (line 8)",
    ]
    assert [list(block.lines) for block in blocks_of(tmp_path / "in", "json")] == [[1, 3]]
    assert aside[3][1] == '{"id": "\\xff"}'


def test_one_list_that_fills_a_json_file(tmp_path: Path) -> None:
    assert read(tmp_path, b' [{"id": 1},\n {"id": 2} ]\n', "json") == ({"id": ["1", "2"]}, [])
    assert not next(blocks_of(tmp_path / "in", "json")).lines
    assert read(tmp_path, b"[]", "json") == ({}, [])
    found, aside = read(tmp_path, b'[{"id": 1},\n{"id": 2}\n', "json")
    assert found == {"id": ["2"]} and len(aside) == 1


def test_blocks_are_small_and_a_packed_file_may_be_torn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK", 3)
    (tmp_path / "a.csv").write_text("id\n" + "".join(f"{n}\n" for n in range(8)))
    assert [block.size for block in blocks_of(tmp_path / "a.csv", "csv")] == [3, 3, 2]
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(b"id\n" + b"1\n" * 1000)[:-12])
    with pytest.raises(InputError, match=r"b.csv.gz cannot be read"):
        list(blocks_of(tmp_path / "b.csv.gz", "csv"))
