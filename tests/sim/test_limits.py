"""Numbers that no machine can simulate are refused in one sentence, and every limit is of a knob that exists."""

from __future__ import annotations

import dataclasses

import pytest

from antecede.errors import InputError
from antecede.sim.limits import LEAST, MOST
from antecede.sim.scenario import Scenario


def test_every_knob_that_counts_has_a_limit() -> None:
    knobs = {field.name: field for field in dataclasses.fields(Scenario)}
    assert set(MOST) <= set(knobs)
    counts = {name for name, field in knobs.items() if str(field.type).startswith(("int", "float", "tuple"))}
    shares = {"loss", "duplicate", "spike", "crash", "restart", "reply", "declare", "near", "undated", "renewed"}
    assert counts - shares - {"seed"} <= set(MOST)


@pytest.mark.parametrize("name", sorted(MOST))
def test_the_limit_is_allowed_and_more_is_not(name: str) -> None:
    pair = name in ("delay_ms", "deadline_ms")
    most = int(MOST[name])
    assert getattr(Scenario(**{name: (0, most) if pair else most}), name)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{name} is .*: at most {most:,} can be simulated."):
        Scenario(**{name: (0, most + 1) if pair else most + 1})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(LEAST))
def test_less_than_ever_ends_is_refused(name: str) -> None:
    assert getattr(Scenario(**{name: LEAST[name]}), name)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{name} is 1e-300: it must be at least"):
        Scenario(**{name: 1e-300})  # type: ignore[arg-type]
