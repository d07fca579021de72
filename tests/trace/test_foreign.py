"""Tables of other systems: parents or vector clocks, any of three file formats, and mistakes in naming them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.trace.foreign import Place, check_table, judge_places


def short(places: list[Place]) -> list[tuple[str, str, str | None, str | None]]:
    return [(f.verdict, f.process, f.message, f.other) for f in judge_places(places).findings]


def test_in_order() -> None:
    report = judge_places([Place("r", 0, "a"), Place("r", 1, "b", ("a",)), Place("s", 0, "a")])
    assert report.clean and report.missing == [] and (report.rows, report.receivers, report.messages) == (3, 2, 2)


def test_inversion_and_duplicate() -> None:
    assert short([Place("r", 1, "a"), Place("r", 0, "b", ("a",)), Place("r", 2, "b", ("a",))]) == [
        ("inversion", "r", "a", "b"),
        ("duplicate", "r", "b", None),
    ]


def test_inversion_through_a_message_the_receiver_never_got() -> None:
    middle = Place("elsewhere", 5, "b", ("a",))
    assert short([middle, Place("r", 0, "c", ("b",)), Place("r", 1, "a")]) == [("inversion", "r", "a", "c")]


def test_a_parent_that_never_came_is_missing_once_and_no_violation() -> None:
    report = judge_places([Place("r", 0, "b", ("a",)), Place("r", 1, "c", ("a", "b"))])
    assert report.clean and [(f.message, f.other) for f in report.missing] == [("b", "a")]
    assert report.to_json()["counts"] == {"inversion": 0, "duplicate": 0, "missing": 1}


def test_vector_clocks() -> None:
    a, b, c = (("p", 1),), (("p", 1), ("q", 1)), (("r", 1),)
    places = [Place("x", 0, "b", clock=b), Place("x", 1, "c", clock=c), Place("x", 2, "a", clock=a)]
    assert short(places) == [("inversion", "x", "a", "b")]


def test_a_cyclic_history_is_refused() -> None:
    with pytest.raises(InputError, match="the history is cyclic: a is"):
        judge_places([Place("r", 0, "a", ("b",)), Place("r", 1, "b", ("a",))])


def test_files(tmp_path: Path) -> None:
    columns = {"n": [0, 1, 0], "msg": ["b", "a", "a"], "refs": [["a"], [], None], "node": ["r", "r", "s"]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("n,msg,refs,node\n0,b,a,r\n1,a,,r\n0,a,,s\n")
    lines = ('{"n":0,"msg":"b","refs":["a"],"node":"r"}', '{"n":1,"msg":"a","refs":[],"node":"r"}')
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    for name in ("t.parquet", "t.csv", "t.jsonl"):
        report = check_table(tmp_path / name, id="msg", parents="refs", receiver="node", position="n")
        assert report.counts == {"inversion": 1, "duplicate": 0}, name
    table = pa.table({"msg": ["b", "a"], "vc": ['{"p":1,"q":1}', '{"p":1}']})
    pq.write_table(table, tmp_path / "c.parquet")
    assert check_table(tmp_path / "c.parquet", id="msg", clock="vc").counts["inversion"] == 1


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("msg,refs,n\na,,x\n")
    cases = [
        ({"id": "msg"}, "one of the two"),
        ({"id": "nope", "parents": "refs"}, "has no column nope; it has msg, refs, n"),
        ({"id": "msg", "parents": "refs", "position": "n"}, "n is 'x', not a whole number"),
        ({"id": "msg", "clock": "n"}, "not a vector clock"),
        ({"id": "refs", "parents": "msg"}, "row 0 has no refs"),
    ]
    for options, sentence in cases:
        with pytest.raises(InputError, match=sentence) as caught:
            check_table(file, **options)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="is not a file"):
        check_table(tmp_path, id="a", parents="b")
    file.write_bytes(b"")
    with pytest.raises(InputError, match="cannot read"):
        check_table(file, id="a", parents="b")


OPTIONS = {"id": "id", "parents": "par", "position": "n"}


def inversions(file: Path, **options: str) -> int:
    return check_table(file, **{**OPTIONS, **options}).counts["inversion"]  # type: ignore[arg-type]


def test_ids_in_csv_are_texts(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,par,n\n001,,0\n003,001;002,1\n002,001,2\n1,,3\nNA,1,4\n")
    report = check_table(tmp_path / "t.csv", **OPTIONS)  # type: ignore[arg-type]
    assert report.counts["inversion"] == 1 and report.messages == 5 and report.missing == []


def test_whole_floats_are_the_numbers_they_were(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    pq.write_table(pa.table({"id": [1, 3, 2], "par": [None, 2.0, 1.0], "n": [0, 1, 2]}), file)
    assert inversions(file) == 1
    pq.write_table(pa.table({"id": [1, 3], "par": [None, 2.5], "n": [0, 1]}), file)
    with pytest.raises(InputError, match=r"row 1: par is 2\.5, neither text nor a whole number"):
        inversions(file)


def test_parents_as_json(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text('id,par,n\na,[],0\nc,"[""a"", ""b""]",1\nb,"[""a""]",2\n[x],[x,3\n')
    report = check_table(file, **OPTIONS)  # type: ignore[arg-type]
    assert report.counts["inversion"] == 1 and [f.other for f in report.missing] == ["[x"]  # what is no JSON is text


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id,par,n\nb,a,0\na,,0\n", "receiver all has b and a at position 0"),
        ("id,par,n\n", "holds no row"),
        ("id,par,n\na,,true\n", "n is True, not a whole number"),
        ("id,id,par,n\na,b,,0\n", "more than one column id"),
    ],
)
def test_tables_that_may_be_read_in_two_ways(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError, match=sentence):
        inversions(tmp_path / "t.csv")


def test_a_row_of_nobody(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"id":"a","par":"","n":0,"r":null}\n{"id":"a","par":"","n":0,"r":"None"}\n')
    with pytest.raises(InputError, match="row 0 has no r"):
        inversions(tmp_path / "t.jsonl", receiver="r")


@pytest.mark.parametrize(
    "clock", ['{"p": Infinity}', '{"p": 1e400}', '{"p": 1.2}', '{"p": -1}', '{"p": true}', "[" * 9**5]
)
def test_clocks_that_count_nothing(tmp_path: Path, clock: str) -> None:
    pq.write_table(pa.table({"id": ["a"], "clock": [clock]}), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="not a vector clock"):
        check_table(tmp_path / "t.parquet", id="id", clock="clock")


def test_one_message_has_one_clock() -> None:
    places = [Place("x", 0, "a", clock=(("p", 1),)), Place("y", 0, "a", clock=(("p", 9),))]
    with pytest.raises(InputError, match="a comes with different vector clocks"):
        judge_places(places)
