"""Log lines: for people or for programs."""

from __future__ import annotations

import json
import logging

import pytest

from antecede.live.logs import set_up


@pytest.fixture(autouse=True)
def as_before() -> object:
    root = logging.getLogger("antecede")
    before = (list(root.handlers), root.level, root.propagate)
    yield
    root.handlers[:], root.level, root.propagate = before
    return None


def test_text_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    set_up("text", "info")
    logging.getLogger("antecede.broker").info("%s listens", "A")
    logging.getLogger("antecede.broker").debug("not shown")
    assert capsys.readouterr().err.endswith("INFO    A listens\n")
    set_up("json", "debug")
    try:
        raise ValueError("no")
    except ValueError:
        logging.getLogger("antecede.client").exception("failed")
    line = json.loads(capsys.readouterr().err)
    assert (line["level"], line["from"], line["says"]) == ("error", "antecede.client", "failed")
    assert "ValueError: no" in line["traceback"]
