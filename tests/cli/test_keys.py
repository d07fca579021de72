"""`antecede keys`: each action does what it says, tokens are printed once, secrets never."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from antecede import cli
from antecede.live.keys.rights import claimed


def run(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert cli.main(["keys", *arguments]) == code
    said = capsys.readouterr()
    return said.out, said.err


def test_from_init_to_revoke(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = ("--dir", str(tmp_path / "keys"))
    assert "10.0.0.1" in run(capsys, "init", *here, "--host", "10.0.0.1")[0]
    token, hint = run(capsys, "token", *here, "--publish", "room/#", "--subscribe", "#", "--name", "ann")
    rights = claimed(token.strip())
    assert rights is not None and rights.publish == ("room/#",) and rights.id in hint
    assert "It is shown once" in hint
    said = run(capsys, "token", *here, "--watch", "--out", str(tmp_path / "t"))
    assert said[0] == "" and f"It is in {tmp_path / 't'}: --token-file" in said[1]
    assert " from the beginning" in run(capsys, "show", *here)[0]
    assert claimed((tmp_path / "t").read_text().strip()) is not None
    assert (tmp_path / "t").stat().st_mode & 0o777 == 0o600
    run(capsys, "broker", *here, "--host", "10.0.0.2", "--out", str(tmp_path / "two"))
    assert (tmp_path / "two" / "broker.pem").is_file() and not (tmp_path / "two" / "ca.key").exists()
    assert rights.id in run(capsys, "revoke", "ann", *here)[0]
    assert "accepted" in run(capsys, "rotate", *here)[0]
    shown = json.loads(run(capsys, "show", *here, "--json")[0])
    assert shown["tokens"][0]["revoked"] and len(shown["secrets"]) == 2
    text = run(capsys, "show", *here)[0]
    assert "revoked" in text and token.strip() not in text + json.dumps(shown)


def test_mistakes_are_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = ("--dir", str(tmp_path))
    for arguments, words in (
        (("make",), "it can init, broker"),
        (("token", *here), "without rights"),
        (("token", *here, "--publish", "a#"), "is no filter"),
        (("token", *here, "--publish", "a"), "keys init"),
        (("token", *here, "--publish", "a", "--expires", "soon"), "no duration"),
        (("revoke", *here), "Say which token"),
        (("broker", *here, "--host", "x"), "--out DIR"),
        (("show", *here), "keys init"),
    ):
        assert words in run(capsys, *arguments, code=2)[1]
