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
from antecede.spark import ship as module
from antecede.spark.ship import Look, check_workers, choose_python, is_connect, look_at, package_zip, ship
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
    here = look_at(sys.executable)
    assert here is not None and here.lack is None and check_workers(spark) == here
    assert Path(str(here.antecede)).resolve() == Path(antecede.__file__).resolve()
    assert not ship(spark) and not spark.sparkContext._python_includes


def test_an_interpreter_that_is_not_there_says_nothing() -> None:
    assert look_at("/nowhere/python") is None


def test_an_interpreter_of_another_version_cannot_serve() -> None:
    here = sys.version_info
    assert Look("p", (2, 7), ["numpy"], None).lack == f"is Python 2.7, not {here[0]}.{here[1]} as here"
    assert Look("p", (here[0], here[1]), ["numpy", "pandas"], None).lack == "lacks numpy, pandas"


def test_workers_here_run_this_interpreter_unless_another_was_chosen(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = str(other_interpreter(tmp_path / "bare", packages=False))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare)
    monkeypatch.setenv("PYSPARK_PYTHON", bare)
    cure = f"set PYSPARK_PYTHON={sys.executable} before the session starts"
    with pytest.raises(EnvironmentFault, match=f"{bare} .PYSPARK_PYTHON., which lacks msgspec") as caught:
        choose_python(spark)
    assert cure in str(caught.value) and spark.sparkContext.pythonExec == bare
    monkeypatch.delenv("PYSPARK_PYTHON")  # as in a session of which nobody said what its workers run
    module._SHIPPED.pop(spark.sparkContext)
    assert not ship(spark) and spark.sparkContext.pythonExec == sys.executable


def test_workers_that_lack_something_are_one_sentence(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = str(other_interpreter(tmp_path / "bare", packages=False))
    monkeypatch.setattr(spark.sparkContext, "pythonExec", bare)
    with pytest.raises(EnvironmentFault, match=f"Spark's workers run {bare}, which lacks msgspec, numpy") as caught:
        check_workers(spark)
    assert "PYSPARK_PYTHON" in str(caught.value) and "\n" not in str(caught.value)
