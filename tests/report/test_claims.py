"""The lab's page: in order, whole in one file, and everything from outside escaped."""

from __future__ import annotations

import re
import time
from pathlib import Path

from antecede.lab.claim import Effort
from antecede.lab.claims import claim_named
from antecede.lab.run import run_claim
from antecede.report.claims import page, write_page

BODY = {
    "antecede": "1", "claim": "late", "papers": "000, 002", "place": "000 <s1>", "sentence": "It's <fast>.",
    "asks": "What.", "design": "How.", "chosen": "Chosen.", "caption": "A & B.", "verdict": "holds: 1 < 2",
    "word": "holds", "cells": 4, "failed": [{"error": "E<1>", "replay": "antecede lab run late --cell 1"}],
    "command": "antecede lab run late", "table": [{"a_b": 1.23456, "ok": True, "none": None}],
}  # fmt: skip


def test_what_comes_from_outside_is_escaped_and_numbers_are_short() -> None:
    made = page([(BODY, None)])
    assert "It&#x27;s &lt;fast&gt;." in made and "holds: 1 &lt; 2" in made and "E&lt;1&gt;" in made
    assert "<td>1.235</td><td>yes</td><td>–</td>" in made and "<th>a b</th>" in made
    assert "1 claims: 1 holds" in made and "antecede lab run late --cell 1" in made


def test_long_tables_say_what_is_left_out() -> None:
    assert "40 more rows are in table.csv" in page([({**BODY, "table": [{"a": 1}] * 100}, None)])


def test_claims_stand_in_the_given_order_and_nothing_is_fetched(tmp_path: Path) -> None:
    for name in ("acks", "atomic"):
        run_claim(claim_named(name), Effort(quick=True), tmp_path, None, clock=time.monotonic)
    made = write_page(tmp_path, ["atomic", "acks", "not-there"]).read_text("utf-8")
    assert made.index('id="atomic"') < made.index('id="acks"')
    assert made.count("data:image/svg+xml;base64,") == 2
    assert not re.search(r'(src|href)="(?!data:|#)', made)
    assert "not decidable: the text does not say" in made and "Paper 001" in made
