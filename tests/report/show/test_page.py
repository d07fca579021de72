"""The page: the verdict first, a diagram for each finding, every pair that was not delivered; whole in one file."""

from __future__ import annotations

import json
import re

from antecede.report.show.chosen import window
from antecede.report.show.page import FINDINGS, PAIRS, PICTURES, page
from antecede.report.show.run import Run, run_of
from tests.report.show.stories import ANSWERED, UNORDERED, shown
from tests.trace.tables import rows


def made(run: Run) -> str:
    return page(run, window(run), where="runs/<one>", version="1")


def test_a_clean_run_says_so_and_lists_what_was_not_delivered() -> None:
    text = made(run_of(rows(UNORDERED), {"recipe": "pbcast", "seed": 7, "loss": 0.0}))
    assert "<b>Clean</b>" in text and "recipe pbcast, seed 7" in text and "loss" not in text.partition("<h2>")[0]
    assert "Not delivered" not in text and "Of 4 pairs of a message and a receiver: 4 delivered." in text
    assert "antecede show runs/&lt;one&gt;" in text


def test_findings_have_their_diagrams() -> None:
    text = made(run_of(rows(UNORDERED), None, order="causal"))
    found = text.count("<figure")
    assert "<b>2 findings</b>: 1 inversion, 1 gap" in text and found == 3 <= PICTURES + 1
    assert "p~:1 after q~:1" in text


def test_what_was_not_delivered_has_its_fate() -> None:
    text = made(shown(ANSWERED))
    assert "<td data-m='p:1'>p:1</td><td>r</td><td>superseded</td>" in text


def test_a_killed_process_makes_a_run_unclean() -> None:
    text = made(shown(ANSWERED.replace("q 200 end quiet\n", "")))
    assert "<b>Not clean</b>: the records of q stop without an end" in text


def test_too_many_messages_are_drawn_and_not_judged() -> None:
    text = made(run_of(rows(ANSWERED), None, judged=1))
    assert "<b>Not judged here</b>" in text and "antecede audit runs/&lt;one&gt;" in text and "<svg" in text


def test_nothing_is_fetched_and_the_data_is_json() -> None:
    text = made(shown(ANSWERED))
    assert not re.search(r'(src|href)="(?!#)', text)
    told = json.loads(re.search(r'id="told">(.*?)</script>', text)[1])  # type: ignore[index]
    assert told["q:1"] == {
        "by": "q", "topics": "G1", "at": "0.03 ms", "deadline": "0.16 ms later", "causes": ["p:1"],
        "fates": "2 delivered",
    }  # fmt: skip


def test_many_findings_are_a_list_and_then_a_number() -> None:
    run = run_of(rows(UNORDERED), None, order="causal")
    assert run.report is not None
    run.report.findings *= FINDINGS
    run.report.left_out = [("p~:1", "r", "lost")] * (PAIRS + 5)
    text = made(run)
    assert text.count("<figure") == PICTURES + 1 and "100 more: <code>antecede check --json" in text
    assert "5 more.</p>" in text
