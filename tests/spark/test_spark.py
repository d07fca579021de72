"""The door of the room: every name leads somewhere, and an unknown one says what there is."""

from __future__ import annotations

import pytest

import antecede.spark


@pytest.mark.parametrize("name", antecede.spark.__all__)
def test_every_name_leads_somewhere(name: str) -> None:
    assert getattr(antecede.spark, name).__name__ == name and name in dir(antecede.spark)


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="trace_schema"):
        antecede.spark.schema  # type: ignore[attr-defined]  # noqa: B018
