"""`antecede config`: every value with its source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from antecede import cli
from antecede.live.config import SETTINGS


def test_each_value_and_where_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broker.toml"
    file.write_text("name = 'A'\n[table]\n'room/#' = ['A', 'B']\n", "utf-8")
    monkeypatch.setenv("ANTECEDE_HTTP", "9100")
    assert cli.main(["config", "--config", str(file)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= 80 + len(str(tmp_path))
    lines = [line for line in printed if not line.startswith(" ")]
    assert [line.split()[0] for line in lines] == [one.key for one in SETTINGS]
    assert any(line.split()[:3] == ["http", "9100", "environment"] for line in lines)
    assert cli.main(["config", "--config", str(file), "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["name"] == {"value": "A", "source": str(file)}
    assert values["table"]["value"] == {"room/#": ["A", "B"]}
