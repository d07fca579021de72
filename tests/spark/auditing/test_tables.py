"""The shelf: tables by domain, reasons in the place of tables, what a process left, and a sentence where it is gone."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from antecede.errors import EnvironmentFault
from antecede.spark.auditing import tables
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import build_messages
from antecede.spark.auditing.tables import Shelf, domain_of, run_of


def one_message(name: str) -> tables.Messages:
    none = np.zeros(0, np.int64)
    return build_messages(
        key=keys_of([name]), names=pa.chunked_array([[name]]), time_us=np.zeros(1), parent=none, child=none
    )


def test_domains_keep_source_and_run_apart() -> None:
    assert run_of(domain_of("a/b", "run 1")) == ("a/b", "run 1")
    assert domain_of("a", "b") != domain_of("ab", "")


def test_more_tables_than_are_kept_open(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path))
    for number in range(2 * tables.KEPT):
        shelf.put(domain_of("", str(number)), one_message(f"m{number}"))
    for number in range(2 * tables.KEPT):
        assert shelf.get(domain_of("", str(number))).name(0) == f"m{number}"
    assert len(tables._open) <= tables.KEPT


def test_a_table_that_is_not_there_is_a_sentence_with_a_cure(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentFault, match="scratch directory that every Spark worker can reach"):
        Shelf(str(tmp_path)).get(domain_of("", "gone"))


def test_reasons_and_requests(tmp_path: Path) -> None:
    shelf, domain = Shelf(str(tmp_path)), domain_of("", "x")
    assert shelf.refused(domain) is None and not shelf.asked_again(domain)
    shelf.refuse(domain, "it is cyclic")
    shelf.ask_again(domain)
    assert shelf.refused(domain) == "it is cyclic" and shelf.asked_again(domain)


def test_what_a_process_had_out(tmp_path: Path) -> None:
    shelf, domain = Shelf(str(tmp_path)), domain_of("", "x")
    assert shelf.out(domain, "p") is None
    for _ in range(2):
        shelf.leave_out(domain, "p", np.array([7, 3]), np.array([1, 2]), np.array([10, 20]))
    out = shelf.out(domain, "p")
    assert out is not None and out.tolist() == [(3, 2, 20), (7, 1, 10)]


def test_names_of_what_is_absent(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path))
    for run in ("x", "y"):
        shelf.leave_names(domain_of("", run), [f"{run}0", f"{run}1"])
    assert [shelf.absent_name(domain_of("", run), 1) for run in ("x", "y", "x")] == ["x1", "y1", "x1"]


def test_what_a_broker_had_no_room_for(tmp_path: Path) -> None:
    shelf = Shelf(str(tmp_path))
    assert shelf.shed("d", "A") == frozenset()
    shelf.leave_shed("d", "A", np.array([4, 7]), np.array([1, 0]), ["c", "d"])
    assert shelf.shed("d", "A") == {("d", 4), ("c", 7)} and shelf.shed("d", "B") == frozenset()
