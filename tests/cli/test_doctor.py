"""`antecede doctor`: the lines, the JSON and the exit code."""

from __future__ import annotations

import json

import pytest

from antecede.cli import health, main

FINDINGS = [health.Finding("python", "ok", "3.11"), health.Finding("java", "warn", "none found", "install one")]
BROKEN = health.Finding("udp", "bad", "loopback datagrams fail", "allow them")


@pytest.mark.parametrize(("broken", "code"), [(False, 0), (True, 2)])
def test_cause_and_cure_and_exit_code(
    broken: bool, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = FINDINGS + [BROKEN] * broken
    monkeypatch.setattr(health, "examine", lambda: findings)
    assert main(["doctor"]) == code
    shown = capsys.readouterr().out
    assert "warn  java      none found" in shown and "-> install one" in shown and ("-> allow them" in shown) == broken
    assert main(["doctor", "--json"]) == code
    told = json.loads(capsys.readouterr().out)
    assert told["fine"] is not broken
    assert told["findings"][1] == {"name": "java", "state": "warn", "says": "none found", "cure": "install one"}


def test_on_this_machine_every_check_is_made(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) in (0, 2)
    told = json.loads(capsys.readouterr().out)
    assert len(told["findings"]) == len(health.CHECKS)
    assert not [finding for finding in told["findings"] if "could not be looked at" in finding["says"]]
