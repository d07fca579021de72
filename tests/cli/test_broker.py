"""`antecede broker`: the first three commands, as a user types them, and a broker that is killed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from antecede.trace.check import check
from tests.cli.processes import antecede, running


def test_the_first_three_commands(tmp_path: Path) -> None:
    records = str(tmp_path)
    with running("broker", "--listen", "127.0.0.1:0", "--name", "A", "--records", records) as broker:
        assert broker.stdout is not None
        name, _, url = broker.stdout.readline().partition(" listens on ")
        assert name == "A" and url.startswith("antecede://127.0.0.1:")
        at = url.strip()
        hint = broker.stdout.readline()
        assert f"antecede sub 'room/#' --at {at}" in hint
        assert "antecede pub room/1" in broker.stdout.readline()
        with running("sub", "room/#", "--at", at, "--count", "2", "--json", "--records", records) as sub:
            assert sub.stderr is not None and sub.stdout is not None
            assert "antecede pub room/1" in sub.stderr.readline()
            pub = ("pub", "room/1", "--at", at, "--name", "ann", "--records", records)
            first = antecede(*pub, "where shall we meet?", "--within", "20s", "--header", "lang=en")
            assert first.returncode == 0 and first.stdout == "ann:1\n" and "antecede sub" in first.stderr
            second = antecede(*pub, "and when?")
            assert second.stdout == "ann.1:1\n"  # a later life of ann
            said = [json.loads(line) for line in sub.stdout]
            assert [one["payload"] for one in said] == ["where shall we meet?", "and when?"]
            assert said[0]["topic"] == "room/1" and said[0]["headers"] == {"lang": "en"} and said[0]["deadline"]
        broker.send_signal(signal.SIGTERM)
        assert broker.wait(20) == 0
    report = check(tmp_path)
    assert report.clean and report.fates_by_role["subscriber"]["delivered"] == 2


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    for arguments, words in (
        (("broker", "--listen", "0.0.0.0:7400"), "not the loopback"),
        (("broker", "--name", "a:b"), "cannot be called"),
        (("broker", "--config", str(tmp_path / "none.toml")), "cannot be read"),
        (("pub", "room/#", "hello", "--at", "127.0.0.1:9"), "No broker answers"),
        (("pub", "t", "x", "--within", "soon"), "is no duration"),
        (("pub", "t", "x", "--header", "lang"), "A header is KEY=VALUE"),
    ):
        result = antecede(*arguments)
        assert result.returncode == 2 and words in result.stderr and result.stderr.count("\n") == 1, result.stderr


def test_a_taken_port_says_so() -> None:
    with running("broker", "--listen", "127.0.0.1:0") as broker:
        assert broker.stdout is not None
        url = broker.stdout.readline().split()[-1]
        second = antecede("broker", "--listen", url)
        assert second.returncode == 2 and "cannot listen" in second.stderr
