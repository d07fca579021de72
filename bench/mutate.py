"""How a function of `core/` is found by its name and changed on its syntax tree.

A mutant names the function and the piece of it that becomes another, so neither a move to another module nor a new
layout of its lines touches the list of `bench/mutants.py`. `generated` makes mutants of given functions by rule: each
simple statement left out, each condition held to be true and false, each boundary moved by one. `changed_since` says
which functions an earlier commit had otherwise.
"""

from __future__ import annotations

import ast
import copy
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["CORE", "ROOT", "Mutant", "Place", "changed", "changed_since", "functions", "generated", "places"]

ROOT = Path(__file__).resolve().parents[1]
CORE = Path("src/antecede/core")

BOUNDARIES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
DELETABLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.Delete)


class Mutant(NamedTuple):
    function: str
    """Its qualified name, which no other function of the core has: `Inbox.accept`."""
    old: str
    """An expression, a statement, or the head of a compound statement (`if forced:`); it stands there once."""
    new: str
    """What stands there instead; `pass` where a statement is left out."""
    breaks: str
    """The rule that no longer holds."""


class Place(NamedTuple):
    path: Path
    """Below the core."""
    source: str
    node: ast.FunctionDef
    tree: ast.Module


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Every function and method with its qualified name; what is defined inside a function is part of it."""

    def look(body: Iterable[ast.stmt], within: str) -> Iterator[tuple[str, ast.FunctionDef]]:
        for node in body:
            if isinstance(node, ast.FunctionDef):
                yield within + node.name, node
            elif isinstance(node, ast.ClassDef):
                yield from look(node.body, f"{within}{node.name}.")

    yield from look(tree.body, "")


def places(core: Path = ROOT / CORE) -> dict[str, list[Place]]:
    """Where each qualified name is defined. The papers' text as it stands (`printed/`) is not ours to change."""
    found: dict[str, list[Place]] = {}
    for path in sorted(core.rglob("*.py")):
        inside = path.relative_to(core)
        if inside.parts[0] != "printed":
            source = path.read_text("utf-8")
            tree = ast.parse(source, str(path))
            for name, node in functions(tree):
                found.setdefault(name, []).append(Place(inside, source, node, tree))
    return found


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self.heads = old.endswith(":")
        self.old = _read(old + " pass" if self.heads else old)
        self.new = _read(new + " pass" if self.heads else new)
        self.key = _key(self.old, heads=self.heads)
        self.times = 0

    def visit(self, node: ast.AST) -> ast.AST:
        if type(node) is type(self.old) and _key(node, heads=self.heads) == self.key:
            self.times += 1
            if self.heads:  # the rest of it stays
                assert isinstance(node, ast.If | ast.While | ast.For)
                changed = copy.deepcopy(self.new)
                assert type(changed) is type(node)
                changed.body, changed.orelse = node.body, node.orelse
                return changed
            return copy.deepcopy(self.new)
        return self.generic_visit(node)


def _read(text: str) -> ast.AST:
    (statement,) = ast.parse(text).body
    return statement.value if isinstance(statement, ast.Expr) else statement


def _key(node: ast.AST, *, heads: bool) -> str:
    if heads and isinstance(node, ast.If | ast.While):
        return ast.dump(node.test)
    if heads and isinstance(node, ast.For):
        return ast.dump(node.target) + ast.dump(node.iter)
    return ast.dump(node)


def changed(place: Place, mutant: Mutant) -> str:
    """The module's source with the mutant in it. ValueError unless what it changes stands there exactly once."""
    exchange = _Exchange(mutant.old, mutant.new)
    function = exchange.visit(copy.deepcopy(place.node))
    if exchange.times != 1:
        raise ValueError(f"{mutant.function}: {mutant.old!r} stands there {exchange.times} times, not once")
    return _with(place, ast.fix_missing_locations(function))


def _with(place: Place, function: ast.AST) -> str:
    """The source with that function instead; all other lines stay as they are, so that tracebacks point at them."""
    lines = place.source.splitlines(keepends=True)
    decorators = [one.lineno for one in place.node.decorator_list]
    first, last = min([place.node.lineno, *decorators]), place.node.end_lineno
    pad = " " * place.node.col_offset
    text = "".join(f"{pad}{line}\n" for line in ast.unparse(function).splitlines())
    return "".join([*lines[: first - 1], text, *lines[last:]])


class Generated(NamedTuple):
    function: str
    breaks: str
    source: str


def generated(name: str, place: Place) -> Iterator[Generated]:
    """One change at a time, in the order of the function's text."""
    count = sum(1 for _ in ast.walk(place.node))
    for index in range(count):
        for variant in range(2):
            function = copy.deepcopy(place.node)
            said = _change(function, index, variant)
            if said:
                yield Generated(name, said, _with(place, ast.fix_missing_locations(function)))


def _change(function: ast.FunctionDef, index: int, variant: int) -> str:
    """Change node `index` of a walk in its `variant`-th way; says what was done, or nothing if there is no such way."""
    node = list(ast.walk(function))[index]
    line = getattr(node, "lineno", 0)
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        if isinstance(node, ast.While) and variant == 0:
            return ""  # it would not end
        said = f"line {line}: `{ast.unparse(node.test)}` is always {variant == 0}"
        node.test = ast.Constant(variant == 0)
        return said
    if isinstance(node, ast.Compare) and variant == 0 and type(node.ops[0]) in BOUNDARIES:
        said = f"line {line}: the boundary of `{ast.unparse(node)}`"
        node.ops[0] = BOUNDARIES[type(node.ops[0])]()
        return said
    if isinstance(node, DELETABLE) and variant == 0 and not _is_docstring(node):
        said = f"line {line}: without `{ast.unparse(node)}`"
        _leave_out(function, node)
        return said
    return ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _leave_out(function: ast.FunctionDef, statement: ast.stmt) -> None:
    for node in ast.walk(function):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and statement in body:
                body[body.index(statement)] = ast.Pass()


def changed_since(revision: str, now: dict[str, list[Place]]) -> list[str]:
    """The functions that the commit did not have in this form, wherever they stood."""
    listed = _git("ls-tree", "-r", "--name-only", revision, "--", str(CORE)).split()
    before = {
        (name, ast.dump(node))
        for path in listed
        if path.endswith(".py")
        for name, node in functions(ast.parse(_git("show", f"{revision}:{path}")))
    }
    return [name for name, found in now.items() if any((name, ast.dump(one.node)) not in before for one in found)]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout
