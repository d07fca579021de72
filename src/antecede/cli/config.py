"""`antecede config`: every setting of a broker, its value, and where that came from."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Annotated

import typer

__all__ = ["config"]

COLUMNS = 80
"""Of a usual terminal; what a setting means is wrapped to it."""


def config(
    file: Annotated[Path | None, typer.Option("--config", metavar="FILE", help="Settings in TOML.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Show what `antecede broker` would go by here: the file, then ANTECEDE_* in the environment; flags come on top."""
    import os

    from antecede.live.config import SETTINGS, load

    settings = load(file, os.environ)
    if as_json:
        values = {key: {"value": value, "source": source} for key, (value, source) in settings.values.items()}
        print(json.dumps(values, indent=2))
        return
    width = max(len(one.key) for one in SETTINGS)
    for one in SETTINGS:
        value, source = settings.values[one.key]
        shown = ",".join(value) if isinstance(value, list) else value
        print(f"{one.key:<{width}}  {'-' if shown in (None, '', {}) else shown!s:<24}  {source}")
        print(textwrap.indent(textwrap.fill(one.meaning, COLUMNS - 4), "    "))
