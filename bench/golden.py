"""Digests of drawn runs: whether a change of the code changed what any protocol does.

python bench/golden.py check    compare every recipe's runs with tests/sim/golden.json; exit 1 if one differs
python bench/golden.py write    write that file anew, after a change that is meant to change runs

A run has two digests: of all columns of its rows, and of all but `bytes` and `control_bytes`, which a new encoding may
change though nobody behaves differently. The tests compare the first two runs of every recipe.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from antecede.core.recipes import RECIPES
from antecede.sim.draw import draw
from antecede.sim.run import simulate
from antecede.trace.record import Row, digest

__all__ = ["GOLDEN", "SEED", "Golden", "golden"]

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "sim" / "golden.json"
SEED = 71_003
RUNS = 30
"""Of each recipe."""


class Golden(NamedTuple):
    rows: str
    """Digest of all columns."""
    acts: str
    """The same without the sizes of frames."""


def golden(recipe: str, index: int) -> Golden:
    rows = simulate(draw(SEED, recipe, index)).rows
    bare = [Row._make(row)._replace(bytes=None, control_bytes=None) for row in rows]
    return Golden(digest(rows)[:16], digest(bare)[:16])


def _one(cell: tuple[str, int]) -> Golden:
    return golden(*cell)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("job", choices=("check", "write"))
    parser.add_argument("--recipe", action="append", help="only this one; may be repeated (default: all)")
    given = parser.parse_args()
    recipes = given.recipe or list(RECIPES)
    cells = [(recipe, index) for recipe in recipes for index in range(RUNS)]
    with ProcessPoolExecutor() as pool:
        found = dict(zip(cells, pool.map(_one, cells, chunksize=5), strict=True))
    known: dict[str, list[list[str]]] = json.loads(GOLDEN.read_text("utf-8")) if GOLDEN.exists() else {}
    if given.job == "write":
        known |= {recipe: [list(found[recipe, index]) for index in range(RUNS)] for recipe in recipes}
        body = ",\n".join(
            f'"{recipe}": [\n' + ",\n".join(f"  {json.dumps(one)}" for one in known[recipe]) + "\n]"
            for recipe in RECIPES
            if recipe in known
        )
        GOLDEN.write_text("{\n" + body + "\n}\n", "utf-8")
        print(f"{len(found)} runs written to {GOLDEN.name}")
        return 0
    differ = 0
    for (recipe, index), now in found.items():
        before = Golden(*known[recipe][index])
        if now != before:
            differ += 1
            what = "only sizes differ" if now.acts == before.acts else "what is done differs"
            print(f"antecede simulate --recipe {recipe} --seed {SEED} --draw {index} --out runs/x   # {what}")
    print(f"{len(found)} runs, {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
