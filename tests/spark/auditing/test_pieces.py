"""What passes between tasks: tables as bytes and back, rows by run, pieces by domain."""

from __future__ import annotations

import pyarrow as pa

from antecede.spark.auditing.pieces import RESULT, Results, by_run, grouped, opened, piece, pieces
from antecede.spark.auditing.tables import domain_of


def test_a_table_as_bytes() -> None:
    table = pa.table({"a": [1, 2, 3], "b": [["x"], None, []]})
    assert opened(piece(table)) == table


def test_rows_by_run() -> None:
    table = pa.table({"run": ["x", "y", "x", None], "n": [1, 2, 3, 4]})
    parts = {domain: part.column("n").to_pylist() for domain, part in by_run("here", table)}
    assert parts == {domain_of("here", "x"): [1, 3], domain_of("here", "y"): [2], domain_of("here", ""): [4]}
    [(domain, same)] = by_run("here", table.slice(0, 1))
    assert domain == domain_of("here", "x") and same.num_rows == 1


def test_pieces_by_domain() -> None:
    batches = [pieces([("a", "x", b"1"), ("a", "y", b"2")]), pieces([]), pieces([("a", "x", b"3"), ("b", "x", b"4")])]
    assert list(grouped(iter(batches))) == [("a", {"x": [b"1", b"3"], "y": [b"2"]}), ("b", {"x": [b"4"]})]
    assert list(grouped(iter([]))) == []


def test_results_are_rows_of_one_form() -> None:
    results = Results()
    assert list(results.batches()) == []
    results.add("finding", domain_of("s", "r"), verdict="overdue", process="p", step=3)
    assert list(results.batches(least=2)) == []
    [batch] = results.batches()
    assert batch.schema == RESULT and results.rows == []
    [row] = batch.to_pylist()
    assert (row["source"], row["run"], row["verdict"], row["step"], row["other"]) == ("s", "r", "overdue", 3, None)
