"""The list of mutants does not rot: what each one changes is still there, once, and changing it still compiles."""

from __future__ import annotations

import pytest
from bench.mutants import CORE, MUTANTS, Mutant

from tests.house import rules


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.breaks}")
def test_each_still_changes_one_place(mutant: Mutant) -> None:
    text = (rules.ROOT / CORE / mutant.file).read_text("utf-8")
    assert text.count(mutant.old) == 1 and mutant.new != mutant.old
    compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")


def test_there_are_enough_and_no_two_alike() -> None:
    assert len(MUTANTS) >= 40 and len({(m.file, m.old, m.new) for m in MUTANTS}) == len(MUTANTS)
