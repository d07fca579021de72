"""Our sentences, found again in what Spark makes of them.

Decided in this file: an error that antecede raised in a worker or a planner comes back to the caller as the same kind
of error with the same sentence, not as a page of Java.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from antecede import errors
from antecede.errors import AntecedeError, EnvironmentFault

__all__ = ["fault_of", "plain_faults"]

MISSING = re.compile(r"ModuleNotFoundError: No module named '(antecede|msgspec|numpy|pandas|pyarrow)\b")
TRACE = re.compile(r"\bantecede\.errors\.([A-Z]\w+): (.+)")


def fault_of(error: BaseException) -> AntecedeError | None:
    """The error of ours inside an exception of Spark's; None where there is none."""
    if isinstance(error, AntecedeError):
        return error
    for kind, sentence in TRACE.findall(str(error)):
        known = getattr(errors, kind, None)
        if isinstance(known, type) and issubclass(known, AntecedeError):
            return known(sentence.strip())
    missing = MISSING.search(str(error))
    if missing is not None:
        # Spark sends files to its workers, but over Connect not to the process that plans a streaming source.
        return EnvironmentFault(
            f"an interpreter that Spark runs (PYSPARK_PYTHON of the server or the workers) lacks {missing[1]}: "
            "install antecede[spark] for it"
        )
    return None


@contextmanager
def plain_faults() -> Iterator[None]:
    """What fails inside because of us fails with our sentence; other errors pass as they are."""
    try:
        yield
    except Exception as error:
        fault = fault_of(error)
        if fault is None or fault is error:
            raise
        raise fault from error
