"""The house rules as functions: each takes a file and says, one sentence a finding, what breaks which rule.

They read the syntax tree and never import what they judge, so that a planted bad example is judged the same way.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src"

PICKLES = {"pickle", "_pickle", "cPickle", "cloudpickle", "dill", "marshal", "shelve"}
CLOCKS = {
    "time.time",
    "time.time_ns",
    "time.monotonic",
    "time.monotonic_ns",
    "time.perf_counter",
    "time.perf_counter_ns",
    "time.process_time",
    "time.process_time_ns",
    "time.sleep",
    "datetime.datetime.now",
    "datetime.datetime.utcnow",
    "datetime.datetime.today",
    "datetime.date.today",
}
UNSEEDED = {"os.urandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom"}
NUMPY_SEEDED = {"BitGenerator", "Generator", "PCG64", "Philox", "SeedSequence", "default_rng"}
# `Random` promises the same numbers on every Python for these two only, so the core uses nothing else of it.
OTHER_DICE = {"choice", "choices", "randint", "randrange", "shuffle", "sample", "uniform", "expovariate", "gauss"}

# Reading through these is no reach: they are values, which nobody changes once they are made.
VALUES = {"envelope", "message", "stamp", "settings", "interest", "covers", "needs", "own"}
VALUE_NAMES = {"donation", "e", "envelope", "frame", "h", "header", "held", "i", "item", "message", "note", "one",
               "ready", "recipe", "reply", "stamp"}  # fmt: skip

PRONOUN = re.compile(
    r"(It|Its|They|Their|Those|These|Who|Whom|Whose|Whoever|Whatever|Others|Somebody|Nobody|Everybody|One's"
    r"|Of (it|them|those|these|what|whom|who))\b"
)


def modules(source: Path = SOURCE) -> list[Path]:
    """Every module that has something in it; an empty `__init__.py` is only a marker."""
    return [path for path in sorted(source.rglob("*.py")) if path.read_text("utf-8").strip()]


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


def imports(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every module that is imported, anywhere in the file, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno


def full_names(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Every dotted name that is used, with the imports undone: `np.random.rand` is `numpy.random.rand`."""
    known: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                known[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            known.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute | ast.Name):
            parts: list[str] = []
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute):
                parts.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in known:
                yield ".".join([known[inner.id], *reversed(parts)]), node


def exported(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets):
            assert isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
            return list(ast.literal_eval(node.value))
    return None


def public_definitions(tree: ast.Module) -> list[str]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]


def documented(path: Path) -> Iterator[str]:
    if not ast.get_docstring(parse(path)):
        yield f"{path}: does not begin with a docstring that says what is decided in it"


def declares_exports(path: Path) -> Iterator[str]:
    tree = parse(path)
    if exported(tree) is None and public_definitions(tree):
        yield f"{path}: defines {', '.join(public_definitions(tree))} but has no __all__"


def no_pickle(path: Path) -> Iterator[str]:
    for name, line in imports(parse(path)):
        if name.split(".")[0] in PICKLES:
            yield f"{path}:{line}: imports {name}: bytes from others must not run code; use the wire or msgspec"


def only_standard_library(path: Path) -> Iterator[str]:
    """For the core: the standard library, itself and the errors."""
    for name, line in imports(parse(path)):
        ours = name in ("antecede.core", "antecede.errors") or name.startswith("antecede.core.")
        if not ours and name.split(".")[0] not in sys.stdlib_module_names:
            yield f"{path}:{line}: the core imports {name}; it may use the standard library and itself only"


def told_the_time(path: Path) -> Iterator[str]:
    for name, node in full_names(parse(path)):
        if name in CLOCKS:
            yield f"{path}:{node.lineno}: uses {name}; take the time as an argument"


def given_its_dice(path: Path) -> Iterator[str]:
    tree = parse(path)
    names = list(full_names(tree))
    for name, node in names:
        if name in UNSEEDED or name.startswith("secrets."):
            yield f"{path}:{node.lineno}: uses {name}, which no seed decides"
        elif name.startswith("random.") and name.split(".")[1] != "Random":
            yield f"{path}:{node.lineno}: uses {name}; use a random.Random that was given"
        elif name.startswith("numpy.random.") and name.split(".")[2] not in NUMPY_SEEDED:
            yield f"{path}:{node.lineno}: uses {name}; use a seeded numpy Generator"
    makers = {node: name for name, node in names if name in ("random.Random", "numpy.random.default_rng")}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and node.func in makers and not node.args and not node.keywords:
            yield f"{path}:{node.lineno}: {makers[node.func]}() without a seed"


def portable_dice(path: Path) -> Iterator[str]:
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in OTHER_DICE:
            yield f"{path}:{node.lineno}: uses .{node.func.attr}(); the core's dice are random() and getrandbits()"


def reaches(path: Path) -> Iterator[str]:
    """Where somebody takes hold of a part of another's part: `broker.store.by_id`, `self.broker.inbox.seen`."""
    tree = parse(path)
    known = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute)):
            continue
        whose = node.value.value
        if isinstance(whose, ast.Attribute) and isinstance(whose.value, ast.Name) and whose.value.id == "self":
            name = whose.attr
        elif isinstance(whose, ast.Name) and whose.id not in {"self", "cls", *known}:
            name = whose.id
        else:
            continue
        if name not in VALUE_NAMES and node.value.attr not in VALUES:
            yield f"{path}:{node.lineno}: reaches through {ast.unparse(whose)} for {ast.unparse(node)}"


def asks_for_a_writer(path: Path) -> Iterator[str]:
    """`writer is None`: a test that tells of a half that some processes have and others have not."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
            inner, other = node.left, node.comparators[0]
            name = inner.attr if isinstance(inner, ast.Attribute) else inner.id if isinstance(inner, ast.Name) else ""
            if name == "writer" and isinstance(other, ast.Constant) and other.value is None:
                yield f"{path}:{node.lineno}: asks whether there is a writer"


def asks_for_unordered(path: Path) -> Iterator[str]:
    """`order == "none"`, `is_loose(stream)`: unordered messages as exceptions to a rule for others."""
    for node in ast.walk(parse(path)):
        compared = isinstance(node, ast.Compare) and any(
            isinstance(one, ast.Constant) and one.value == "none" for one in (node.left, *node.comparators)
        )
        called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "is_loose"
        if compared or called:
            assert isinstance(node, ast.expr)
            yield f"{path}:{node.lineno}: asks whether a message is unordered"


def begins_with_a_pronoun(path: Path) -> Iterator[str]:
    """A docstring that opens with `It`, `They`, `Whoever`, ...: nothing before it says what the word stands for.

    Only the opening word is looked at. Sentences further on may be as bad.
    """
    for node in ast.walk(parse(path)):
        body = getattr(node, "body", None)
        for one in body if isinstance(body, list) else ():
            said = one.value.value if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) else None
            if isinstance(said, str) and PRONOUN.match(said.lstrip()):
                yield f"{path}:{one.lineno}: a sentence without a noun: {said.strip()[:60]}"


def has_logic(path: Path) -> bool:
    """Whether there is anything to test: a function that does more than be declared."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for statement in node.body:
                silent = isinstance(statement, ast.Pass) or (
                    isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                )
                if not silent:
                    return True
    return False


def mirrored(path: Path, source: Path, tests: Path) -> Path:
    """core/deadline/inbox.py -> tests/core/deadline/test_inbox.py; a package's own file by its name: cli/__init__.py ->
    test_cli.py."""
    inside = path.relative_to(source / "antecede")
    name = path.parent.name if inside.name == "__init__.py" else inside.stem
    return tests / inside.parent / f"test_{name}.py"
