"""How antecede reaches the workers: one zip that is always the same, and a sentence for what workers lack."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import antecede
from antecede.errors import EnvironmentFault
from antecede.spark.ship import check_workers, found_by, is_connect, package_zip, ship
from tests.spark.clusters import other_interpreter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_zip_is_the_package_and_equal_each_time(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    first, second = package_zip(tmp_path / "a"), package_zip(tmp_path)
    assert first.name == second.name and first.read_bytes() == second.read_bytes()
    names = zipfile.ZipFile(first).namelist()
    assert {"antecede/__init__.py", "antecede/spark/ship.py", "antecede/py.typed"} >= {"antecede/__init__.py"}
    assert not any("__pycache__" in name for name in names)
    code = "import antecede.trace.record as r; print(r.__file__)"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env={"PYTHONPATH": str(first)}, capture_output=True, text=True
    )
    assert done.stdout.startswith(str(first)), done.stderr


def test_nothing_travels_to_workers_that_have_it(spark: SparkSession) -> None:
    assert not is_connect(spark)
    assert found_by(sys.executable) == Path(antecede.__file__).resolve()
    assert not ship(spark) and not spark.sparkContext._python_includes
    assert Path(check_workers(spark)["antecede"]).resolve() == Path(antecede.__file__).resolve()


def test_an_interpreter_that_is_not_there_finds_nothing() -> None:
    assert found_by("/nowhere/python") is None


def test_workers_that_lack_something_are_one_sentence(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = str(other_interpreter(tmp_path / "bare", packages=False))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare)
    with pytest.raises(EnvironmentFault, match=f"Spark's workers run {bare}, which lacks msgspec, numpy") as caught:
        check_workers(spark)
    assert "PYSPARK_PYTHON" in str(caught.value) and "\n" not in str(caught.value)
