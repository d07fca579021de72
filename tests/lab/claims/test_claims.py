"""The claims as a whole: names, order, quotations, and that each can be found."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from antecede.errors import InputError
from antecede.lab.claim import WORDS, Claim, Effort, Table, Verdict
from antecede.lab.claims import MODULES, all_claims, claim_named
from antecede.lab.figures import figure
from antecede.spark.sweep import measure_cell
from tests.house import rules

PAPERS = Path(__file__).resolve().parents[4] / "shared" / "papers"


def test_names_are_different_and_can_be_found() -> None:
    claims = all_claims()
    assert len({claim.name for claim in claims}) == len(claims) == len(MODULES)
    assert all(claim_named(claim.name) is claim for claim in claims)
    with pytest.raises(InputError, match="There is no claim 'nonsense'"):
        claim_named("nonsense")


def test_claims_stand_in_the_order_of_the_papers() -> None:
    first = [claim.papers.split(",")[0] for claim in all_claims()]
    rank = {"000": 0, "002": 0, "001": 1, "003": 2, "004": 3, "ours": 4}
    assert [rank[paper] for paper in first] == sorted(rank[paper] for paper in first)


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.name)
def test_every_cell_can_be_measured_and_quick_measures_less(claim: Claim) -> None:
    quick, full = claim.cells(Effort(quick=True)), claim.cells(Effort())
    assert 0 < len(quick) <= len(full)
    module, _, name = claim.measure.partition(":")
    assert callable(getattr(importlib.import_module(module), name))
    assert all(text.endswith((".", "…")) for text in (claim.asks, claim.design, claim.caption))


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.name)
def test_from_what_a_cell_measures_come_a_table_a_verdict_and_a_figure(claim: Claim) -> None:
    """One cell is measured; its row stands for those of all cells of the quick design."""
    cells = claim.cells(Effort(quick=True, seeds=2))
    row = measure_cell(claim.measure, cells[0].knobs, 1)
    table = claim.table([{**cell.knobs, "seed": cell.seed, **row} for cell in cells])
    assert claim.rule(table).word in WORDS
    figure(claim.size, lambda drawing: claim.draw(drawing, table))


def words_of(rule: Callable[[Table], Verdict]) -> set[str]:
    """The verdicts that a rule can give, by the text of all that makes a verdict in its file or is brought into it."""
    makers = [value for value in rule.__globals__.values()
              if inspect.isfunction(value) and value.__annotations__.get("return") == "Verdict"]  # fmt: skip
    calls = [node for maker in makers for node in ast.walk(ast.parse(inspect.getsource(maker)))
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]  # fmt: skip
    named = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Verdict"]
    assert all(isinstance(node, ast.Constant) for node in named), "a word that is computed cannot be read here"
    return {node.value for node in named if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def cases_of(module: ModuleType) -> Iterator[Callable[[], None]]:
    """Its tests, those with parameters once for each."""
    for name, test in vars(module).items():
        if not name.startswith("test_"):
            continue
        marks = [mark for mark in getattr(test, "pytestmark", ()) if mark.name == "parametrize"]
        assert len(marks) <= 1, f"{name} is parametrised twice: teach this reader"
        if not marks:
            yield test
            continue
        given, rows = marks[0].args[:2]
        names = [given] if isinstance(given, str) else list(given)
        for row in rows:
            yield partial(test, **dict(zip(names, row if len(names) > 1 else (row,), strict=True)))


@pytest.mark.parametrize("name", MODULES)
def test_every_verdict_a_rule_can_give_is_given_in_its_test(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By running that test with a rule that writes down what it is fed and what it says: words and tables that differ,
    so that it is the table that flips it."""
    claim = importlib.import_module(f"antecede.lab.claims.{name}").CLAIM
    module = importlib.import_module(f"tests.lab.claims.test_{name}")
    said: list[tuple[str, str]] = []

    def noted(table: Table) -> Verdict:
        verdict: Verdict = claim.rule(table)
        said.append((repr(table), verdict.word))
        return verdict

    assert module.rule is claim.rule
    monkeypatch.setattr(module, "rule", noted)
    for test in cases_of(module):
        test()
    given = {word for _, word in said}
    assert words_of(claim.rule) == given and len(given) >= 2
    assert len({table for table, _ in said}) >= len(given)


def test_claims_that_judge_the_same_sentence_name_each_other() -> None:
    by_sentence: dict[str, list[Claim]] = {}
    for claim in all_claims():
        by_sentence.setdefault(claim.sentence, []).append(claim)
    pairs = [claims for claims in by_sentence.values() if len(claims) > 1]
    assert pairs and all(len(claims) == 2 for claims in pairs)
    named = {claim.name: claim.beside[0] for claim in all_claims() if claim.beside}
    assert named == {a.name: b.name for one, other in pairs for a, b in ((one, other), (other, one))}


@pytest.mark.parametrize("claim", [c for c in all_claims() if c.papers != "ours"], ids=lambda claim: claim.name)
def test_the_sentence_stands_in_the_paper(claim: Claim) -> None:
    if not PAPERS.is_dir():
        pytest.skip("the papers are not on this machine")

    def plain(text: str) -> str:
        return re.sub(r"[^a-z0-9]", "", re.sub(r"\$\\?|</?[a-z]+>", "", text.lower()).replace("log n", "logn"))

    texts = [plain(path.read_text("utf-8")) for path in sorted(PAPERS.glob("*.txt")) if path.name[:3] in claim.papers]
    assert any(plain(claim.sentence) in text for text in texts)


@pytest.mark.parametrize("claim", [c for c in all_claims() if c.papers == "ours"], ids=lambda claim: claim.name)
def test_what_this_project_says_of_itself_is_said_there(claim: Claim) -> None:
    def plain(text: str) -> str:
        return " ".join(text.replace("*", "").split())

    assert plain(claim.sentence) in plain((rules.ROOT / claim.place).read_text("utf-8"))
