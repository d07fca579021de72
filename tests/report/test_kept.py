"""Results that are kept: one page in order, small figures, and what is of the quick design is marked so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import antecede
from antecede.errors import InputError
from antecede.lab.claim import TERMS, Effort
from antecede.lab.claims import claim_named
from antecede.lab.run import run_claim
from antecede.report.kept import entries, keep
from antecede.spark.sweep import code_of

NAMES = ("atomic", "steps", "acks", "home")


def run(out: Path, name: str, effort: Effort) -> None:
    run_claim(claim_named(name), effort, out, None, clock=time.monotonic)


def test_the_first_run_that_has_a_claim_counts(tmp_path: Path) -> None:
    full, quick, target = tmp_path / "full", tmp_path / "quick", tmp_path / "results"
    run(full, "acks", Effort())
    for name in ("acks", "atomic", "steps"):
        run(quick, name, Effort(quick=True, seeds=2))
    kept = keep([full, quick], target, NAMES)
    assert kept.claims == 3 and kept.quick == ("atomic", "steps") and kept.missing == ("home",)
    page = kept.page.read_text("utf-8")
    assert "| [acks](#acks) | 004" in page and "| default |" in page and "| quick, 2 seeds | 2 |" in page
    assert page.index("### atomic") < page.index("### steps") < page.index("### acks")
    assert "Not measured: home." in page and "`antecede lab run steps --quick --seeds 2`" in page
    for name in ("atomic", "steps", "acks"):
        assert f"(figures/{name}.png)" in page and (target / "figures" / f"{name}.png").stat().st_size < 60_000
        assert (target / "tables" / f"{name}.csv").is_file()
    assert kept.size < 200_000
    assert all(f"- **{term}**: {meaning}." in page for term, meaning in TERMS.items())


def test_a_claim_says_what_varied_which_code_measured_it_and_when(tmp_path: Path) -> None:
    run_claim(claim_named("steps"), Effort(quick=True, seeds=2), tmp_path, None, clock=time.monotonic,
              today="2026-11-19")  # fmt: skip
    page = keep([tmp_path], tmp_path / "results", NAMES).page.read_text("utf-8")
    assert "\n*Varied:* 64 cells: reading lpbcast, unlimited forwarding | " in page and "; 2 seeds.\n" in page
    assert page.endswith(f"0 failed, antecede {antecede.__version__}, code {code_of()}, 2026-11-19)\n")
    told = json.loads((tmp_path / "results" / "tables" / "steps.json").read_text("utf-8"))
    assert (told["code"], told["date"], told["effort"]) == (code_of(), "2026-11-19", {"quick": True, "seeds": 2})
    (entry,) = entries(page)
    assert entry.antecede == antecede.__version__


def test_what_was_kept_before_is_replaced_and_nothing_else(tmp_path: Path) -> None:
    run(tmp_path / "run", "atomic", Effort())
    target = tmp_path / "results"
    (target / "figures").mkdir(parents=True)
    (target / "figures" / "old.png").write_bytes(b"")
    (target / "mine.md").write_text("mine")
    keep([tmp_path / "run"], target, NAMES)
    assert not (target / "figures" / "old.png").exists() and (target / "mine.md").read_text() == "mine"


def test_a_claim_that_no_run_has_stays_as_it_was_kept(tmp_path: Path) -> None:
    target = tmp_path / "results"
    for name in ("atomic", "acks"):
        run(tmp_path / "first", name, Effort(quick=True, seeds=2))
    keep([tmp_path / "first"], target, NAMES)
    before = {entry.name: entry for entry in entries((target / "README.md").read_text("utf-8"))}
    table = (target / "tables" / "acks.csv").read_bytes()
    run(tmp_path / "second", "atomic", Effort())
    kept = keep([tmp_path / "second"], target, NAMES)
    after = {entry.name: entry for entry in entries(kept.page.read_text("utf-8"))}
    assert after["acks"] == before["acks"] and after["acks"].papers == claim_named("acks").papers
    assert after["atomic"] != before["atomic"] and not after["atomic"].quick
    assert (kept.claims, kept.quick, kept.missing) == (2, ("acks",), ("steps", "home"))
    assert (target / "tables" / "acks.csv").read_bytes() == table and (target / "figures" / "acks.png").is_file()
    gone = keep([tmp_path / "second"], target, ("atomic",))
    assert gone.claims == 1 and not (target / "figures" / "acks.png").exists(), "what is no claim any more goes"


def test_the_page_of_a_keep_says_the_same_when_read_and_written_again(tmp_path: Path) -> None:
    for name in ("atomic", "acks", "growth"):
        run(tmp_path / "run", name, Effort(quick=True, seeds=2))
    names = ("atomic", "acks", "growth")
    page = keep([tmp_path / "run"], tmp_path / "results", names).page
    once = page.read_text("utf-8")
    run(tmp_path / "again", "acks", Effort(quick=True, seeds=2))
    keep([tmp_path / "again"], tmp_path / "results", names)

    def plain(text: str) -> list[str]:
        return [line for line in text.split("\n") if not line.startswith("| [acks]")]  # the load differs

    assert plain(page.read_text("utf-8")) == plain(once)


def test_without_a_result_nothing_is_touched(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no result of the lab"):
        keep([tmp_path], tmp_path / "results", NAMES)
    assert not (tmp_path / "results").exists()


def test_the_claim_that_judges_the_same_sentence_is_linked(tmp_path: Path) -> None:
    run(tmp_path / "run", "acks", Effort())
    name, differs = claim_named("acks").beside or ("", "")
    page = keep([tmp_path / "run"], tmp_path / "results", NAMES).page.read_text("utf-8")
    assert f" *The same sentence:* [{name}](#{name}): {differs}." in page
