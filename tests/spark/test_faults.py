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


def test_an_interpreter_without_antecede_is_said() -> None:
    fault = fault_of(RuntimeError("Traceback\nModuleNotFoundError: No module named 'antecede'\n SQLSTATE: 38000"))
    assert type(fault) is EnvironmentFault and "lacks antecede: install" in str(fault)
    assert fault_of(RuntimeError("ModuleNotFoundError: No module named 'theirs'")) is None
