"""Our sentences are found again in what Spark makes of them."""

from __future__ import annotations

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.spark.faults import fault_of, plain_faults

SAID = """[PYTHON_DATA_SOURCE_ERROR] Failed to plan: Traceback (most recent call last):
  File "x.py", line 1, in schema
    raise InputError("...")
antecede.errors.InputError: /x does not exist: give another
 SQLSTATE: 38000
"""


def test_the_sentence_and_its_kind() -> None:
    fault = fault_of(RuntimeError(SAID))
    assert type(fault) is InputError and str(fault) == "/x does not exist: give another"
    assert type(fault_of(RuntimeError(SAID.replace("InputError", "EnvironmentFault")))) is EnvironmentFault
    assert fault_of(RuntimeError("antecede.errors.Unheard: of")) is None and fault_of(RuntimeError("else")) is None


def test_what_fails_because_of_us_fails_with_our_sentence() -> None:
    with pytest.raises(InputError, match=r"^/x does not exist: give another$"), plain_faults():
        raise RuntimeError(SAID)
    with pytest.raises(RuntimeError, match="else"), plain_faults():
        raise RuntimeError("else")
    with pytest.raises(InputError, match="mine"), plain_faults():
        raise InputError("mine")


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        ("[STATE_STORE_BACKEND] .. [STORE_BACKEND_NOT_SUPPORTED_FOR_TWS] Store backend x is", EnvironmentFault,
         "this Spark session keeps the state of streams in a store that stateful operators cannot use: call "
         "antecede.spark.register(spark) before the query starts"),
        ("[DATA_SOURCE_NOT_FOUND] Failed to find the data source: antecede. Make sure", InputError,
         "this Spark session does not know the format antecede: call antecede.spark.register(spark) first"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9 than that in driver: 3.11, PySpark",
         EnvironmentFault, "Spark's workers run Python 3.9, and this is Python 3.11: set PYSPARK_PYTHON to an "
         "interpreter of this version before the session starts"),
        ("java.io.IOException: No space left on device\n\tat java.base", EnvironmentFault,
         "there is no room left on the disk: free some, or write elsewhere"),
        ("OSError: [Errno 28] No space left on device: '/data/x'", EnvironmentFault,
         "there is no room left on the disk, at /data/x: free some, or write elsewhere"),
        ("java.io.IOException: Mkdirs failed to create file:/proc/out/x (exists=false, cwd=file:/)", InputError,
         "/proc/out/x cannot be written: choose a place that can"),
        ("java.io.FileNotFoundException: /a/b c/.part (Permission denied)", InputError,
         "/a/b c/.part cannot be written (Permission denied): choose a place that can"),
        ("Application has been killed. Reason: All masters are unresponsive! Giving up.", EnvironmentFault,
         "the Spark master does not answer any more: see whether it runs, or leave it out to run on this machine"),
        ("[PARQUET_TYPE_ILLEGAL] Illegal Parquet type: INT64 (TIMESTAMP(NANOS,true)). SQLSTATE: 42846", InputError,
         "a Parquet file holds times in nanoseconds, which Spark does not read: write them in microseconds, or use "
         "--engine local"),
        ("[COLUMN_ALREADY_EXISTS] The column `id` already exists. Choose", InputError,
         "two columns differ only in the case of letters (`id`): set spark.sql.caseSensitive to true in this session"),
    ],
)  # fmt: skip
def test_what_spark_says_in_a_hundred_lines_is_one_sentence(said: str, kind: type, sentence: str) -> None:
    fault = fault_of(RuntimeError(f"An error occurred\n: {said}\n\tat org.apache"))
    assert type(fault) is kind and str(fault) == sentence


def test_an_interpreter_without_antecede_is_said() -> None:
    fault = fault_of(RuntimeError("Traceback\nModuleNotFoundError: No module named 'antecede'\n SQLSTATE: 38000"))
    assert type(fault) is EnvironmentFault and "lacks antecede: install" in str(fault)
    assert fault_of(RuntimeError("ModuleNotFoundError: No module named 'theirs'")) is None
