"""Matrices of round trips: the synthetic one has sites, and can be read where --latency reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.lab import matrices
from antecede.lab.matrices import find_planetlab, path_of, synthetic, write_synthetic
from antecede.sim.network import read_latency


def test_hosts_of_one_site_are_near_and_the_others_far() -> None:
    rows = synthetic(16, 4, seed=3)
    near = [rtt for a, b, rtt in rows if int(a[1:]) % 4 == int(b[1:]) % 4]
    far = [rtt for a, b, rtt in rows if int(a[1:]) % 4 != int(b[1:]) % 4]
    assert max(near) <= 10 < 100 < min(far) and max(far) < 200 and rows == synthetic(16, 4, seed=3)


def test_it_is_a_file_for_latency(tmp_path: Path) -> None:
    matrix = read_latency(write_synthetic(tmp_path / "rtt.parquet", hosts=8, sites=2))
    assert len(matrix) == 8 and matrix[0][1] > 100_000 > matrix[0][2]
    assert len(list(tmp_path.iterdir())) == 1


def test_what_is_not_here_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "PLANETLAB", Path("no") / "such.parquet")
    assert find_planetlab() is None
    with pytest.raises(FileNotFoundError, match=r"no/such\.parquet lies neither"):
        path_of("planetlab")
