"""Our sentences, found again in what Spark makes of them; and sentences for what Spark says in a hundred lines.

Decided in this file: an error that antecede raised in a worker or a planner comes back to the caller as the same kind
of error with the same sentence, not as a page of Java; and what of Spark's own errors is no mistake of ours - a session
that lacks something, a full disk, a place that cannot be written, a master that has gone, two columns of one name - is
one sentence with a cure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from antecede import errors
from antecede.errors import AntecedeError, EnvironmentFault, InputError

__all__ = ["fault_of", "plain_faults"]

TRACE = re.compile(r"\bantecede\.errors\.([A-Z]\w+): (.+)")

# Spark sends files to its workers, but over Connect not to the process that plans a streaming source.
KNOWN: tuple[tuple[str, type[AntecedeError], str], ...] = (
    (r"ModuleNotFoundError: No module named '(antecede|msgspec|numpy|pandas|pyarrow)\b", EnvironmentFault,
     "an interpreter that Spark runs (PYSPARK_PYTHON of the server or the workers) lacks {0}: install antecede[spark] "
     "for it"),
    (r"(?:PyArrow|Pandas) >= \S+ must be installed", EnvironmentFault,
     "an interpreter that Spark runs (PYSPARK_PYTHON of the server or the workers) lacks pyarrow or pandas: install "
     "antecede[spark] for it"),
    (r"PYTHON_VERSION_MISMATCH\]?\s*Python in worker has different version:? (\S+?),? than that in driver:? ([\d.]+)",
     EnvironmentFault,
     "Spark's workers run Python {0}, and this is Python {1}: set PYSPARK_PYTHON to an interpreter of this version "
     "before the session starts"),
    (r"STORE_BACKEND_NOT_SUPPORTED_FOR_TWS", EnvironmentFault,
     "this Spark session keeps the state of streams in a store that stateful operators cannot use: call "
     "antecede.spark.register(spark) before the query starts"),
    (r"\[DATA_SOURCE_NOT_FOUND\] Failed to find the data source: antecede", InputError,
     "this Spark session does not know the format antecede: call antecede.spark.register(spark) first"),
    (r"(?:No space left on device|Disk quota exceeded)(?:: '([^'\n]+)')?", EnvironmentFault,
     "there is no room left on the disk{0:, at }: free some, or write elsewhere"),
    (r"(?:Mkdirs failed to create|Unable to create|ParentNotDirectoryException: Parent path is not a directory:) "
     r"(?:directory )?(?:file:)?(/[^\s(]+)", InputError,
     "{0} cannot be written: choose a place that can"),
    (r"(?:FileNotFoundException|AccessDeniedException|IOException): (?:file:)?(/[^\n]*?) "
     r"\(?(Permission denied|Read-only file system|Not a directory)\)?", InputError,
     "{0} cannot be written ({1}): choose a place that can"),
    (r"All masters are unresponsive|Could not connect to (spark://\S+)|Master removed our application",
     EnvironmentFault,
     "the Spark master{0: } does not answer any more: see whether it runs, or leave it out to run on this machine"),
    (r"\[PARQUET_TYPE_ILLEGAL\] Illegal Parquet type: INT64 \(TIMESTAMP\(NANOS", InputError,
     "a Parquet file holds times in nanoseconds, which Spark does not read: write them in microseconds, or use "
     "--engine local"),
    (r"\[COLUMN_ALREADY_EXISTS\] The column (\S+) already exists", InputError,
     'two columns differ only in the case of letters ({0}): set spark.sql.caseSensitive to true in this session'),
)  # fmt: skip
"""What is looked for, whose fault it is, and the sentence; {0:, at } is what was found, after these words, if any."""


def fault_of(error: BaseException) -> AntecedeError | None:
    """The error of ours inside an exception of Spark's, or our sentence for it; None where there is none."""
    if isinstance(error, AntecedeError):
        return error
    text = str(error)
    for kind, sentence in TRACE.findall(text):
        known = getattr(errors, kind, None)
        if isinstance(known, type) and issubclass(known, AntecedeError):
            return known(sentence.strip())
    for pattern, whose, sentence in KNOWN:
        found = re.search(pattern, text)
        if found is not None:
            return whose(sentence.format(*map(_Found, found.groups())))
    return None


class _Found(str):
    """A part of what was found: with words in its format it stands after them, and where nothing was found there is
    nothing."""

    def __new__(cls, text: str | None) -> _Found:
        return super().__new__(cls, text or "")

    def __format__(self, words: str) -> str:
        return f"{words}{self!s}" if self else ""


@contextmanager
def plain_faults() -> Iterator[None]:
    """What fails inside because of us, or of what is known, fails with one sentence; other errors pass as they are."""
    try:
        yield
    except Exception as error:
        fault = fault_of(error)
        if fault is None or fault is error:
            raise
        raise fault from error
