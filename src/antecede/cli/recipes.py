"""`antecede recipes`: which protocols there are, what each promises, its paper and how that can be read."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from antecede.core.recipes import Recipe

__all__ = ["recipes"]

WIDTH = 80
ORDERS = {
    "causal": "causal order",
    "fifo": "the order of each sender",
    "none": "no order",
}
ENDS = {
    "yes": "every message has a deadline",
    "same": "every message has the same deadline",
    "optional": "with deadlines or without",
    "none": "no deadlines",
    "lifetime": "every message lives a number of rounds",
}


def recipes(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME...]", help="Only these; left out, all.")] = None,
    plugin: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Python that registers recipes; it is run.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """List the recipes: what each promises, which paper it is from, and how that paper can be read.

    A recipe is a protocol: the papers' own, baselines to compare with, or yours with --plugin. Every one runs in the
    simulator (`antecede simulate --recipe NAME --reading READING`) and is judged by the same oracle; what a recipe
    does not promise the oracle does not look for, and says so. Under a paper's protocol stand its repairs: what each
    says, and the option that undoes it alone.
    """
    from antecede.core.recipes import RECIPES, recipe_named
    from antecede.sim.plugin import load
    from antecede.sim.scenario import find_recipe

    load(plugin or ())
    for name in names or ():
        find_recipe(name)  # its sentence says what comes near
    wanted = [recipe_named(name) for name in names or RECIPES]
    if as_json:
        print(json.dumps([told(recipe) for recipe in wanted], indent=2))
        return
    for recipe in wanted:
        facts = told(recipe)
        print(f"{recipe.name:<18} {'paper ' * recipe.paper[0].isdigit()}{recipe.paper}")
        print(textwrap.fill("; ".join(promises(recipe)), WIDTH, initial_indent="    ", subsequent_indent="    "))
        if facts["not_promised"]:
            print(f"    not promised, so not judged: {', '.join(facts['not_promised'])}")
        if len(recipe.readings) > 1:
            print(f"    readings: {', '.join(recipe.readings)}")
        for repair, says in facts["repairs"].items():
            print(textwrap.fill(f"--without {repair}: {says}", WIDTH, initial_indent="    ", subsequent_indent=" " * 8))
    print("\nPapers 000 to 004, sentence by sentence: docs/papers.md.")


def promises(recipe: Recipe) -> list[str]:
    who = "all are members" if recipe.flat else "clients publish" if recipe.clients_publish else "brokers publish"
    lost = "; whom chance leaves out misses it" if recipe.chance else ""
    if not recipe.recovers and not recipe.chance:
        lost = "; what is lost is not asked for"
    return [ORDERS[recipe.orders[0]], ENDS[recipe.deadlines], who + lost]


def told(recipe: Recipe) -> dict[str, Any]:
    from antecede.core.printed.undone import repairs_of
    from antecede.trace.check import EXEMPT

    return {
        "recipe": recipe.name,
        "paper": recipe.paper,
        "orders": list(recipe.orders),
        "deadlines": recipe.deadlines,
        "spread": recipe.spread,
        "recovers": recipe.recovers,
        "not_promised": list(EXEMPT.get(recipe.name, ())),
        "readings": list(recipe.readings),
        "repairs": {name: repair.says for name, repair in repairs_of(recipe.name).items()},
    }
