"""Settings that every test shares, and the one Spark session."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from antecede.spark.settings import QUICK_JAVA

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# No limit per example: on a busy machine time says nothing about the code, and pytest-timeout ends what hangs.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")

# Every Java that a test starts for Spark, in this process or another, lives for minutes at most.
os.environ.setdefault("SPARK_SUBMIT_OPTS", QUICK_JAVA)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two cores for all tests: starting one costs more than most of them. Nothing in it may be changed for
    good."""
    from antecede.spark.sessions import session

    place = tmp_path_factory.mktemp("spark")
    made = session(
        "local[2]",
        app="antecede tests",
        settings={
            "spark.driver.memory": "1g",
            "spark.local.dir": str(place),
            "spark.sql.warehouse.dir": str(place / "warehouse"),
        },
    )
    yield made
    made.stop()
