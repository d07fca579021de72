"""Files of a trace: a damaged one is a reason in the place of its rows."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.spark.auditing.files import SETTINGS, Files, read_tables
from antecede.spark.auditing.local import Local
from antecede.spark.auditing.scan import shared, splits_of
from antecede.trace.parquet import write_run
from tests.trace.causal import causal_run


def test_columns_of_any_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"msg": ["a", "b"], "my.refs": [[], ["a"]], "x": [1, 2]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"msg": ["c"]}), tmp_path / "b.parquet")
    splits = shared([("", tmp_path / name) for name in ("a.parquet", "b.parquet")], 1)
    read = read_tables(splits, {"id": "msg", "parents": "my.refs"})
    [(_, first), (_, second)] = read(Local().numbers(2))
    assert first.to_pydict() == {"id": ["a", "b"], "parents": [[], ["a"]]}
    assert second.to_pydict() == {"id": ["c"], "parents": [None]}
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"b\.parquet is a damaged Parquet file"):
        list(read(Local().numbers(2)))


def test_rows_and_reasons(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_run(tmp_path / name, causal_run(5, messages=10))
    (tmp_path / "b" / "records.parquet").write_bytes(b"PAR1")
    files = Files(splits_of([tmp_path / "a", tmp_path / "b"], 1), SETTINGS)
    frame, read = files.shipping(Local())
    found = dict(read(frame))
    assert found[str(tmp_path / "a")].num_rows > 10 and "truncated" in found[str(tmp_path / "b")]
    frame, read = files.telling(Local(), ("publish",))
    assert {source for source, _ in read(frame)} == {str(tmp_path / "a"), str(tmp_path / "b")}
