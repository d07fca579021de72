"""The list of mutants does not rot: each names a function of the core, and what it changes stands there once."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from bench.mutants import MUTANTS
from bench.mutate import Mutant, Place, changed, functions, generated, places

PLACES = places()

PLANTED = '''
class Door:
    @property
    def open(self) -> bool:
        """Whether somebody may come in."""
        if self.keys > 2:
            self.tried += 1  # a comment
        return self.keys > 2
'''


def planted() -> Place:
    tree = ast.parse(PLANTED)
    ((_, node),) = functions(tree)
    return Place(Path("door.py"), PLANTED, node, tree)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.function}: {mutant.breaks}")
def test_each_still_changes_one_place(mutant: Mutant) -> None:
    (place,) = PLACES.get(mutant.function, []) or pytest.fail(f"the core has no function {mutant.function}")
    source = changed(place, mutant)
    assert ast.dump(ast.parse(source)) != ast.dump(place.tree)


def test_there_are_enough_and_no_two_alike() -> None:
    assert len(MUTANTS) >= 100 and len({(m.function, m.old, m.new) for m in MUTANTS}) == len(MUTANTS)


def test_what_does_not_stand_there_once_is_refused() -> None:
    with pytest.raises(ValueError, match="2 times"):
        changed(planted(), Mutant("Door.open", "self.keys > 2", "True", "three keys"))
    with pytest.raises(ValueError, match="0 times"):
        changed(planted(), Mutant("Door.open", "self.locks", "True", "three keys"))


def test_the_head_of_a_statement_is_changed_alone_and_its_neighbours_stay() -> None:
    source = changed(planted(), Mutant("Door.open", "if self.keys > 2:", "if True:", "three keys"))
    assert "if True:\n            self.tried += 1\n        return self.keys > 2" in source
    assert source.count("@property") == 1


def test_mutants_by_rule_change_one_thing_each() -> None:
    found = list(generated("Door.open", planted()))
    said = {one.breaks for one in found}
    assert said == {
        "line 6: `self.keys > 2` is always True",
        "line 6: `self.keys > 2` is always False",
        "line 6: the boundary of `self.keys > 2`",
        "line 7: without `self.tried += 1`",
        "line 8: the boundary of `self.keys > 2`",
    }
    assert len({one.source for one in found}) == len(found) == 5
