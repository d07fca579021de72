"""The rule of `growth`: flipped by its table alone."""

from __future__ import annotations

import csv

import pytest

from antecede.lab.claims.growth import CLAIM, SIZES, rule
from antecede.lab.readings import READINGS
from tests.house import rules


def made(*last: int | None) -> str:
    """Rounds to 99 % of ten million, for readings that need 6 for a thousand; None: it never gets there."""
    rows = [
        {"reading": f"r{i}", "subscribers": n, "seed": s, "copies": 10, "requests": 0, "reached": 9, "correct": 10,
         "to_most": to_most if n > 1000 else 6, "to_all": None}
        for i, to_most in enumerate(last) for n in (10**3, 10**7) for s in range(2)
    ]  # fmt: skip
    return rule(CLAIM.table(rows)).word


def test_the_rule_follows_the_table() -> None:
    assert made(14, 19) == "holds"
    assert made(14, 400) == made(14, None) == "holds only if"
    assert made(400, None) == "does not hold"


@pytest.mark.parametrize("reading", READINGS)
def test_the_page_on_a_billion_has_the_means_of_the_kept_table(reading: str) -> None:
    page = (rules.ROOT / "docs" / "billion.md").read_text("utf-8")
    line = next(line for line in page.split("\n") if line.startswith(f"| {reading} |"))
    _, _, *cells = (cell.strip() for cell in line.split("|"))
    with (rules.ROOT / "docs" / "results" / "tables" / "growth.csv").open(encoding="utf-8", newline="") as file:
        rows = {int(row["subscribers"]): row for row in csv.DictReader(file) if row["reading"] == reading}

    def said(text: str) -> str:
        mean = float(text)
        return "never" if mean != mean else f"{mean:.1f}" if mean < 100 else f"{mean:,.0f}"

    for size, cell in zip(SIZES, cells, strict=False):
        assert cell.split(" (")[0] == (said(rows[size]["to_most"]) if size in rows else ""), f"at {size}"
    largest = rows[max(rows)]
    if max(rows) == SIZES[-1]:
        assert cells[len(SIZES) + 1].split(" (")[0] == said(largest["to_all"])
    assert cells[len(SIZES) + 2].split(" ")[0] == said(largest["sent_each"])
