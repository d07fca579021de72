"""`antecede bench`: the measurements of the checkout that this package is installed from, by name."""

from __future__ import annotations

import ast
import difflib
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["FOLDER", "bench"]

FOLDER = Path(__file__).resolve().parents[3] / "bench"
"""Of a checkout; elsewhere there is none."""


def bench(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Which; left out: list them.")] = None,
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT", help="Passed on.")] = None,
) -> None:
    """Run bench/NAME.py of the checkout that this package is installed from, and end as it ends.

    What follows NAME is passed on: `antecede bench metadata --leavers 100`, `antecede bench metadata --help`. Alone it
    lists the names, each with what it measures.
    """
    from antecede.cli.output import fitted
    from antecede.errors import EnvironmentFault, InputError

    if not FOLDER.is_dir():
        raise EnvironmentFault(
            "The measurements come with the repository, and this package is not installed from a checkout of it: clone "
            "it, and install that with `pip install -e .`"
        )
    benches = {path.stem: line for path in sorted(FOLDER.glob("*.py")) if (line := about(path))}
    if name is None:
        width = max(map(len, benches))
        for one, line in benches.items():
            print(fitted(f"{one:<{width}}  {line}", indent=" " * (width + 2)))
        return
    if name not in benches:
        near = difflib.get_close_matches(name, benches, 1)
        meant = f"is {near[0]} meant? " if near else ""
        raise InputError(f"There is no bench {name!r}: {meant}`antecede bench` lists them.")
    sys.stdout.flush()
    with subprocess.Popen([sys.executable, str(FOLDER / f"{name}.py"), *(arguments or ())]) as running:
        try:
            code = running.wait()
        except KeyboardInterrupt:  # it was interrupted too
            running.wait()
            raise
    raise typer.Exit(128 - code if code < 0 else code)


def about(path: Path) -> str:
    """The first line of a script's docstring; empty for a module that others import."""
    text = path.read_text("utf-8")
    if "__main__" not in text:
        return ""
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
