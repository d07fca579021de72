"""A recipe from a file of somebody else's: how it is found, loaded once, and loaded again in other processes.

The file is a Python module that calls `antecede.core.recipes.register`. Loading it runs it: it is named by whoever
gives the command, and nothing is ever loaded because a scenario, a trace or a saved machine asks for it.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path

from antecede.errors import InputError

__all__ = ["load", "loaded", "plugin_options", "to_blame", "told"]

PREFIX = "antecede_plugin_"
"""Begins the name its module has here; saved machines name it, so it follows from the file's name alone."""

_loaded: dict[str, Path] = {}


def loaded() -> tuple[Path, ...]:
    """Every file that was loaded, in order: what another process must load to know the same recipes."""
    return tuple(_loaded.values())


def plugin_options() -> str:
    """What a command must be given to know the same recipes; begins with a blank where it is something."""
    return "".join(f" --plugin {shlex.quote(str(path))}" for path in loaded())


def to_blame(error: BaseException) -> str:
    """The last line of a loaded file that was at work when an error was raised: `tree.py, line 42`; empty: none was."""
    names = {str(path): path.name for path in loaded()}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename in names:
            return f"{names[frame.filename]}, line {frame.lineno}"
    return ""


def told(error: BaseException) -> str:
    """An error of any kind in one line, with the line of a loaded file that is to blame."""
    text, where = f"{type(error).__name__}: {error}".partition("\n")[0], to_blame(error)
    return f"{text} ({where})" if where else text


def load(paths: Iterable[Path]) -> None:
    for path in paths:
        _load(path.resolve())


def _load(path: Path) -> None:
    name = PREFIX + re.sub(r"\W", "_", path.stem)
    if name in _loaded:
        if _loaded[name] != path:
            raise InputError(f"{path} and {_loaded[name]} would have the same name here: rename one.")
        return
    if not path.is_file() or path.suffix != ".py":
        raise InputError(f"{path} is no Python file: --plugin wants one that registers a recipe.")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except InputError:
        del sys.modules[name]
        raise
    except Exception as error:
        del sys.modules[name]
        raise InputError(f"{path} cannot be loaded: {type(error).__name__}: {error}.") from error
    _loaded[name] = path
