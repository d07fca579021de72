"""What is read: rows that can be ordered, and rows and files that cannot, each with its reason; none lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.config import Pipeline, config_from

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def config(path: Path, **more: Any) -> Pipeline:
    source = {"kind": "table", "path": str(path), **more.pop("source", {})}
    return config_from({"source": source, "output": {"path": str(path.parent / "out")}, **more})


def parted(spark: SparkSession, told: Pipeline) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    from antecede.spark.intake import faulty, read_rows, sound

    rows = read_rows(spark, told)
    good, bad = sound(rows).collect(), faulty(rows).collect()
    assert len(good) + len(bad) == rows.count()
    return [row.asDict(recursive=True) for row in good], [row.asDict() for row in bad]


def test_csv_texts_become_lists_and_numbers_or_faults(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(
        "id,parents,who,n,due\na:1,,a,1,100\na:2,a:1,a,2,\nb:1,a:1;a:2,b,1,soon\n,a:1,b,2,5\nb:3,a:1 a:2,b,x,9\n",
        "utf-8",
    )
    columns = {"id": "id", "parents": "parents", "sender": "who", "seq": "n", "deadline": "due"}
    told = config(tmp_path / "in.csv", source={"format": "csv", "options": {"header": "true"}}, columns=columns)
    good, bad = parted(spark, told)
    assert [(row["id"], row["parents"], row["n"], row["due"]) for row in good] == [
        ("a:1", [], 1, 100),
        ("a:2", ["a:1"], 2, None),
    ]
    assert sorted(row["reason"] for row in bad) == [
        "deadline is not a time: soon", "id is null", "seq is not a whole number: x",
    ]  # fmt: skip
    kept = [json.loads(row["row"]) for row in bad]
    assert {row.get("due") for row in kept} == {"soon", "5", "9"}, "as it was read"


def test_lines_that_do_not_parse_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"id": "a", "parents": []}\n{"id": "b", "par\n{"id": "c", "parents": ["a"]}\n')
    good, bad = parted(spark, config(tmp_path / "in.json", source={"format": "json"}, columns={"parents": "parents"}))
    assert [row["id"] for row in good] == ["a", "c"]
    assert [(row["reason"], row["row"]) for row in bad] == [("not JSON (line 2)", '{"id": "b", "par')]
    assert bad[0]["file"].endswith("in.json")


def test_damaged_csv_rows_and_odd_names(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b'the id,my.parents,n\n007,"[""1""]",1.5\nragged\n7,\xff,2\n"open,,3\n8,{x},4\n')
    told = config(tmp_path / "in.csv", source={"format": "csv"}, columns={"id": "the id", "parents": "my.parents"})
    good, bad = parted(spark, told)
    assert good == [{"the id": "007", "my.parents": ["1"], "n": 1.5}]
    assert {row["row"]: row["reason"].split(":")[0] for row in bad} == {
        "ragged": "1 cell where the header has 3 (line 3)",
        "7,\\xff,2": "bytes that are no text in the file's encoding (line 4)",
        '"open,,3': "a quote that is not closed (line 5)",
        '{"the id":"8","my.parents":"{x}","n":4.0}': "parents cannot be read",
    }


def test_settings_of_sparks_own_readers_are_left_to_spark(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("a:1;a:0\n")
    columns = {"id": "_c0", "parents": "_c1"}
    good, bad = parted(
        spark, config(tmp_path / "in.csv", source={"format": "csv", "options": {"sep": ";"}}, columns=columns)
    )
    assert good == [{"_c0": "a:1", "_c1": ["a:0"]}] and not bad


def test_damaged_files_are_named_and_left_out(spark: SparkSession, tmp_path: Path) -> None:
    from antecede.spark.intake import damaged, read_rows

    folder = tmp_path / "in"
    folder.mkdir()
    table = pa.table({"id": [f"a:{n}" for n in range(2000)], "parents": pa.nulls(2000, pa.list_(pa.string()))})
    for name in ("good", "torn", "flipped"):
        pq.write_table(table, folder / f"{name}.parquet", write_page_checksum=True, use_dictionary=False)
    whole = (folder / "torn.parquet").read_bytes()
    (folder / "torn.parquet").write_bytes(whole[: len(whole) // 2])
    flipped = bytearray((folder / "flipped.parquet").read_bytes())
    flipped[len(flipped) // 3] ^= 0xFF
    (folder / "flipped.parquet").write_bytes(bytes(flipped))

    told = config(folder, columns={"parents": "parents"})
    by_footer = damaged(spark, told)
    assert [Path(file).name for file, _ in by_footer] == ["torn.parquet"] and "damaged" in by_footer[0][1]
    by_reading = damaged(spark, told, thorough=True)
    assert sorted(Path(file).name for file, _ in by_reading) == ["flipped.parquet", "torn.parquet"]
    assert read_rows(spark, told, [file for file, _ in by_reading]).count() == 2000
    with pytest.raises(InputError, match=r"No Parquet file that can be read .*: correct source.path"):
        read_rows(spark, told, [str(path) for path in folder.iterdir()])
    (folder / "events.csv").write_text("id,parents\n")
    with pytest.raises(InputError, match=r'say format = "csv" in \[source\]'):
        read_rows(spark, config(folder / "events.csv", columns={"parents": "parents"}))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"id": "name"}, r"no column name \(columns.id\); it has id, parents, at, flag"),
        ({"clock": "at"}, "at is bigint: for columns.clock it must be a map"),
        ({"time": "parents"}, "parents is array<string>: for columns.time it must be a timestamp"),
        ({"topic": "flag"}, "flag is boolean: for columns.topic it must be text or a list"),
    ],
)
def test_columns_that_cannot_be_are_one_sentence(
    spark: SparkSession, tmp_path: Path, columns: dict[str, str], said: str
) -> None:
    from antecede.spark.intake import read_rows

    pq.write_table(
        pa.table({"id": ["a"], "parents": pa.array([[]], pa.list_(pa.string())), "at": [1], "flag": [True]}),
        tmp_path / "in.parquet",
    )
    with pytest.raises(InputError, match=said):
        read_rows(spark, config(tmp_path / "in.parquet", columns=columns))
