"""The lab's page: in order, whole in one file, and everything from outside escaped."""

from __future__ import annotations

import doctest
import re
import time
from pathlib import Path

from antecede.lab.claim import TERMS, Effort
from antecede.lab.claims import claim_named
from antecede.lab.run import run_claim
from antecede.report import claims
from antecede.report.claims import page, write_page

BODY = {
    "antecede": "1", "claim": "late", "papers": "000, 002", "place": "000 <s1>", "sentence": "It's <fast>.",
    "asks": "What.", "design": "How.", "chosen": "Chosen.", "caption": "A & B.", "varied": "4 cells: n 1 | 2; 2 seeds",
    "verdict": "holds: 1 < 2",
    "word": "holds", "cells": 4, "failed": [{"error": "E<1>", "replay": "antecede lab run late --cell 1"}],
    "command": "antecede lab run late", "table": [{"a_b": 1.23456, "ok": True, "none": None}],
}  # fmt: skip


def test_what_comes_from_outside_is_escaped_and_numbers_are_short() -> None:
    made = page([(BODY, None)])
    assert "It&#x27;s &lt;fast&gt;." in made and "<b>holds</b>: 1 &lt; 2" in made and "E&lt;1&gt;" in made
    assert "<td class=n>1.235</td><td>yes</td><td class=n>–</td>" in made and "<th class=n>a b</th>" in made
    assert "1 claim: 1 holds" in made and "antecede lab run late --cell 1" in made
    assert "<b>Varied:</b> 4 cells: n 1 | 2; 2 seeds.</p>" in made


def test_which_code_measured_it_stands_beside_the_command() -> None:
    made = page([({**BODY, "code": "5f0c", "date": "2026-11-19"}, None)])
    assert "<code>antecede lab run late</code> (antecede 1, code 5f0c, 2026-11-19)" in made
    assert "<code>antecede lab run late</code> (antecede 1)" in page([(BODY, None)])
    failed, tried = doctest.testmod(claims)
    assert tried and not failed


def test_an_interval_stands_beside_its_value() -> None:
    row = {"share": 0.5, "share_low": 0.41, "share_high": 0.59, "share_share": 1.0, "exact": 2.0, "exact_low": 2.0,
           "exact_high": 2.0, "many": 999_990.0}  # fmt: skip
    made = page([({**BODY, "table": [row]}, None)])
    assert (
        "<td class=n>0.5 <i>0.41 to 0.59</i></td><td class=n>2</td><td class=n>999,990</td>" in made
        and "share low" not in made
    )


def test_the_page_says_which_design_it_is_of_and_counts_verdicts_in_their_order() -> None:
    quick = {**BODY, "effort": {"quick": True, "seeds": None}, "claim": "b", "word": "does not hold"}
    assert "All are of the quick design" in page([(quick, None)])
    made = page([(quick, None), (BODY, None)])
    assert "2 claims: 1 holds, 1 does not hold. <b>1 of them is of the quick design" in made
    assert "quick design" not in page([(BODY, None)])
    assert all(f"<dt><b>{term}</b></dt>" in made for term in TERMS)


def test_long_tables_say_what_is_left_out() -> None:
    assert "40 more rows are in table.csv" in page([({**BODY, "table": [{"a": 1}] * 100}, None)])


def test_claims_stand_in_the_given_order_and_nothing_is_fetched(tmp_path: Path) -> None:
    for name in ("acks", "atomic"):
        run_claim(claim_named(name), Effort(quick=True), tmp_path, None, clock=time.monotonic)
    made = write_page(tmp_path, ["atomic", "acks", "not-there"]).read_text("utf-8")
    assert made.index('id="atomic"') < made.index('id="acks"')
    assert made.count("data:image/svg+xml;base64,") == 2
    assert not re.search(r'(src|href)="(?!data:|#)', made)
    assert "<b>not decidable</b>: the text does not say" in made and "Paper 001" in made
