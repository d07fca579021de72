"""Figures drawn anew from kept tables: nothing is measured, and what the page says still follows."""

from __future__ import annotations

import dataclasses
import math
import re
import shutil
import time
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.lab.claim import Claim, Effort, Verdict
from antecede.lab.claims import all_claims, claim_named
from antecede.lab.run import run_claim
from antecede.report.kept import entries, keep
from antecede.report.redrawn import read_table, redraw
from tests.house import rules

KEPT = rules.ROOT / "docs" / "results"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("kept")
    for name in ("atomic", "acks"):
        run_claim(claim_named(name), Effort(quick=True), base / "run", None, clock=time.monotonic)
    keep([base / "run"], base / "results", ("atomic", "acks"))
    return base / "results"


def test_a_figure_is_drawn_from_its_table_and_gets_its_caption(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    shutil.copytree(folder, target)
    page, drawn, other = target / "README.md", target / "figures" / "acks.png", target / "figures" / "atomic.png"
    before, image, untouched = page.read_text("utf-8"), drawn.read_bytes(), other.read_bytes()
    drawn.unlink()
    done = redraw(target, all_claims(), ["acks"])
    assert done.drawn == ("acks",) and not done.stale
    assert drawn.read_bytes() == image and other.read_bytes() == untouched and page.read_text("utf-8") == before
    changed = dataclasses.replace(claim_named("acks"), caption="New words (of a model).")
    redraw(target, [changed])
    after = page.read_text("utf-8")
    assert "![New words (of a model).](figures/acks.png)\n\nNew words (of a model).\n\n" in after
    assert after.count(claim_named("atomic").caption) == 2 and claim_named("acks").caption not in after


def test_the_page_gets_the_words_that_a_claim_has_now(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    shutil.copytree(folder, target)
    claim = claim_named("acks")
    told = Verdict("holds", "in other words")
    redraw(target, [dataclasses.replace(claim, papers="003", asks="What?", rule=lambda table: told)], ["acks"])
    page = (target / "README.md").read_text("utf-8")
    assert "**Holds: in other words**" in page and "*Measured:* What? *Fixed before:* " in page
    assert "## Paper 003\n\n### acks\n" in page
    other = Verdict("does not hold", "at all")
    done = redraw(target, [dataclasses.replace(claim, rule=lambda table: other)], ["acks"])
    after = (target / "README.md").read_text("utf-8")
    assert done.stale == ("acks",) and "**Holds: in other words**" in after, "numbers are kept, and what follows"
    assert claim.asks in after and "at all" not in after


def test_a_section_follows_from_the_folder_alone(folder: Path, tmp_path: Path) -> None:
    """Two pages that were kept apart: of one of the claims the page knows nothing, of the other it says old things."""
    target = tmp_path / "results"
    shutil.copytree(folder, target)
    page = target / "README.md"
    whole = page.read_text("utf-8")
    begin = whole.index("### acks")
    page.write_text(whole[:begin].replace("| [acks]", "| [gone]").replace("not decidable", "holds"), encoding="utf-8")
    assert [entry.name for entry in entries(page.read_text("utf-8"))] == ["atomic"]
    done = redraw(target, all_claims())
    assert done.drawn == ("atomic", "acks") and not done.stale
    assert page.read_text("utf-8") == whole


def test_a_page_from_before_gets_what_was_varied_from_the_design(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    shutil.copytree(folder, target)
    page = target / "README.md"
    whole = page.read_text("utf-8")
    for path in (target / "tables").glob("*.json"):
        path.unlink()
    old = re.sub(r"\*Varied:\*.*\n\n", "", whole)
    assert old.count("*Varied:*") == 0 and whole.count("*Varied:*") == 2
    page.write_text(old, encoding="utf-8")
    redraw(target, all_claims())
    assert page.read_text("utf-8") == whole
    page.write_text(whole.replace("*Varied:* 7 cells", "*Varied:* 99 cells"), encoding="utf-8")
    redraw(target, all_claims())
    assert "*Varied:* 99 cells" in page.read_text("utf-8"), "what was measured stays"


def test_what_nobody_measured_stays_said(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    base = tmp_path / "run"
    run_claim(claim_named("acks"), Effort(quick=True), base, None, clock=time.monotonic)
    keep([base], target, ("acks", "late", "home"))
    redraw(target, all_claims())
    assert "\nNot measured: late, home.\n" in (target / "README.md").read_text("utf-8")


def test_without_names_all_that_is_kept_is_drawn(folder: Path) -> None:
    assert redraw(folder, all_claims()).drawn == ("atomic", "acks")


def test_a_verdict_that_does_not_follow_any_more_is_named(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "results"
    shutil.copytree(folder, target)
    table = target / "tables" / "acks.csv"
    table.write_text("".join(
        line for line in table.read_text("utf-8").splitlines(keepends=True)
        if "summaries" not in line
    ) + "summaries at one member,10,60\nsummaries at one member,100000,600000\n", encoding="utf-8")  # fmt: skip
    assert redraw(target, all_claims()).stale == ("acks",)


def test_what_is_not_there_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no README\.md"):
        redraw(tmp_path, all_claims())
    with pytest.raises(InputError, match=r"has no claim 'late'; it has atomic, acks\."):
        redraw(folder, all_claims(), ["late"])
    target = tmp_path / "results"
    shutil.copytree(folder, target)
    (target / "tables" / "acks.csv").unlink()
    with pytest.raises(InputError, match="is missing"):
        redraw(target, all_claims())


def test_a_table_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("name,n,share,turns,none,unknown\ncolour,5,0.5,True,,nan\n", encoding="utf-8")
    (row,) = read_table(file)
    assert math.isnan(row.pop("unknown"))
    assert row == {"name": "colour", "n": 5, "share": 0.5, "turns": True, "none": None}


@pytest.mark.parametrize("claim", all_claims(), ids=lambda claim: claim.name)
def test_every_kept_verdict_follows_from_its_rule_and_its_table(claim: Claim) -> None:
    entry = next(entry for entry in entries((KEPT / "README.md").read_text("utf-8")) if entry.name == claim.name)
    said = next(line for line in entry.lines if line.startswith("**")).strip("*")
    verdict = str(claim.rule(read_table(KEPT / "tables" / f"{claim.name}.csv")))
    assert said[:1].lower() + said[1:] == verdict
