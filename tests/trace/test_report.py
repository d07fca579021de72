"""A report names every verdict and every fate, also those with none, and is plain data as JSON."""

from __future__ import annotations

import json

from antecede.trace.report import FATES, VERDICTS, Finding, Report


def test_names() -> None:
    assert " ".join(VERDICTS) == "inversion gap overdue duplicate stuck idle false undelivered unexplained"
    assert " ".join(FATES) == "delivered superseded late overflow expired departed pending lost"


def test_an_empty_report_is_clean() -> None:
    report = Report()
    assert report.clean and set(report.counts) == set(VERDICTS) and set(report.fates) == set(FATES)


def test_a_finding_or_an_unknown_tail_is_not_clean_and_doubt_is() -> None:
    finding = Finding("gap", "p", "q:1", "p:1", 3, "a sentence")
    assert not Report(findings=[finding]).clean
    assert not Report(unknown_tails=["p"]).clean
    assert Report(in_doubt=[finding]).clean
    assert json.loads(json.dumps(Report(findings=[finding]).to_json()))["findings"] == [
        {"verdict": "gap", "process": "p", "message": "q:1", "other": "p:1", "step": 3, "text": "a sentence"}
    ]
