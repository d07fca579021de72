"""Real clusters on loopback: the same results as here, on workers that antecede was sent to, and when one dies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.spark import cluster_job
from tests.spark.clusters import connect_server, kill_worker_during, other_interpreter, run_job, standalone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # each starts several Javas


@pytest.fixture(scope="module")
def here(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the jobs say in the session of the tests."""
    return cluster_job.both(spark, tmp_path_factory.mktemp("here"))


def test_a_standalone_cluster_loses_a_worker(here: dict[str, Any], tmp_path: Path) -> None:
    python = str(other_interpreter(tmp_path / "other"))
    with standalone(tmp_path) as (address, workers):
        there = kill_worker_during(address, workers[0], "tests.spark.cluster_job:stream", tmp_path / "there", python)
    worker = there.pop("worker")
    assert there == here["stream"] and there["batches"] == 3
    assert worker["python"] == python and "antecede-" in worker["antecede"] and ".zip" in worker["antecede"]


def test_connect_reads_and_writes(here: dict[str, Any], tmp_path: Path) -> None:
    with connect_server(tmp_path, str(other_interpreter(tmp_path / "other"))) as address:
        there = run_job(address, "tests.spark.cluster_job:both", tmp_path / "there")
    worker = there.pop("worker")
    assert there == here and there["batch"]["digest"] == there["batch"]["again"] and ".zip" in worker["antecede"]
