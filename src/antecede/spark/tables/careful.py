"""While tables of others are worked on: what is set in the session for it, and what becomes of Spark's errors.

Decided in this file: names which differ only in case are different columns meanwhile; an error that is ours, or known,
is one sentence; and a file that turns out to be damaged inside is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import unquote

from antecede.errors import InputError
from antecede.spark.faults import plain_faults

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["careful"]

UNREADABLE = re.compile(r"FAILED_READ_FILE\S*\W+.*?(file:\S+?)\.?(?:\s|$)")


@contextmanager
def careful(spark: SparkSession) -> Iterator[None]:
    """Errors as sentences; `id` and `ID` are two columns. What was set holds again afterwards."""
    name = "spark.sql.caseSensitive"
    usual = spark.conf.get(name)
    spark.conf.set(name, "true")
    try:
        with plain_faults():
            yield
    except Exception as error:
        broken = UNREADABLE.search(str(error))
        if broken is None:
            raise
        path = unquote(broken[1].removeprefix("file:").replace("///", "/", 1))
        raise InputError(f"{path} cannot be read: it is damaged inside") from error
    finally:
        if usual is None:
            spark.conf.unset(name)
        else:
            spark.conf.set(name, usual)
