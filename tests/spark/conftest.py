"""One Spark session for all the tests of this folder: starting one costs more than most of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.spark import traces

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on two cores. Nothing in it may be changed for good: others use it too."""
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


@pytest.fixture(autouse=True)
def streams_are_closed() -> Iterator[None]:
    yield
    while traces.OPEN:
        with suppress(ValueError):  # the test closed it
            traces.OPEN.pop().close()
