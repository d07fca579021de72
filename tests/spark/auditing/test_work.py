"""The steps in their order: what is asked again, what is answered, and scratch that goes away."""

from __future__ import annotations

from pathlib import Path

from antecede.spark.auditing.work import made, scratch_of, sums_of


def test_sums_by_what_they_are_of() -> None:
    rows = [
        ("counts", None, 2, 5, 4, None, 1),
        ("counts", "refused", 1, 3, None, None, None),
        ("finding", "gap", 2, None, None, None, None),
        ("tail", None, 1, None, None, None, None),
    ]
    totals = sums_of(rows)
    assert totals["counts", "rows"] == 5 and totals["counts", "deliveries"] == 4 and totals["refused", "rows"] == 3
    assert totals["finding", "gap"] == 2 and totals["tail", ""] == 1


def test_scratch(tmp_path: Path) -> None:
    place = Path(made(tmp_path / "deep"))
    assert place.is_dir() and place.parent == tmp_path / "deep"
    with scratch_of(tmp_path) as directory:
        (Path(directory) / "x").touch()
    assert not Path(directory).exists()
