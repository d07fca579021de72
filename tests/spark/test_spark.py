"""The door of the room: every name leads to what it says, whatever was imported before; an unknown one says what there
is."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import pytest

import antecede.spark


def test_no_name_is_hidden_by_a_module_of_that_name() -> None:
    rooms = {room.name for room in pkgutil.iter_modules(antecede.spark.__path__)}
    assert rooms & set(antecede.spark.__all__) == set()


def test_every_name_leads_to_what_it_says_when_all_modules_are_there() -> None:
    for room in pkgutil.iter_modules(antecede.spark.__path__):
        importlib.import_module(f"antecede.spark.{room.name}")
    for name in antecede.spark.__all__:
        found = getattr(antecede.spark, name)
        assert not isinstance(found, ModuleType) and found.__name__ == name and name in dir(antecede.spark)


def test_people_get_what_they_need() -> None:
    from antecede.spark import audit, audit_table, causal_order, fuse, register, run_pipeline, session

    assert all(callable(one) for one in (audit, audit_table, causal_order, fuse, register, run_pipeline, session))


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="trace_schema"):
        antecede.spark.schema  # type: ignore[attr-defined]  # noqa: B018
