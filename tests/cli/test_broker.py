"""`antecede broker`: the first three commands, as a user types them, and a broker that is killed."""

from __future__ import annotations

import json
import signal
from pathlib import Path

from antecede.cli.broker import mosquitto
from antecede.trace.check import check
from tests.cli.processes import antecede, running
from tests.live.keys.keyed import Keyed


def test_the_first_three_commands(tmp_path: Path) -> None:
    records = str(tmp_path)
    with running("broker", "--listen", "127.0.0.1:0", "--name", "A", "--records", records) as broker:
        assert broker.stdout is not None
        name, _, url = broker.stdout.readline().partition(" listens on ")
        assert name == "A" and url.startswith("antecede://127.0.0.1:")
        at = url.strip()
        hints = [broker.stdout.readline() for _ in range(4)]
        assert hints[1] == f"  antecede sub 'room/#' --at {at.removeprefix('antecede://')}\n"
        assert hints[3].startswith("  antecede pub room/1") and max(map(len, hints)) <= 81
        with running("sub", "room/#", "--at", at, "--count", "2", "--json", "--records", records) as sub:
            assert sub.stderr is not None and sub.stdout is not None
            assert sub.stderr.readline().startswith("Waiting for room/#")
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


def test_the_next_commands_name_what_the_broker_carries() -> None:
    carry = ("--carry", "kitchen/+,hall/#", "--mqtt", "0")
    with running("broker", "--listen", "127.0.0.1:0", "--name", "A", *carry) as broker:
        assert broker.stdout is not None
        at = broker.stdout.readline().strip().rpartition("//")[2]
        hints = [broker.stdout.readline() for _ in range(4)]
        assert hints[1] == f"  antecede sub 'hall/#' --at {at}\n"
        assert hints[3].startswith("  antecede pub hall/1 ")
        done = antecede("pub", "hall/1", "where shall we meet?", "--at", at)
        assert done.returncode == 0, done.stderr


def test_beyond_the_loopback_with_keys(tmp_path: Path) -> None:
    """Listening on every address; called, as any client elsewhere would, by one that the certificate is for."""
    keyed, tokens = Keyed(tmp_path / "keys"), {}
    keys = str(keyed.directory)
    for name, publish, subscribe in (("ann", ("room/#",), ()), ("bob", (), ("#",))):
        tokens[name] = str(tmp_path / name)
        (tmp_path / name).write_text(keyed.token(name, publish, subscribe))
    settings = tmp_path / "broker.toml"
    settings.write_text(f'keys = "{keys}"\nadvertise = "127.0.0.1:0"\nlog_level = "debug"\nhttp = 0\n', "utf-8")
    with running("broker", "--listen", "0.0.0.0:0", "--name", "A", "--config", str(settings)) as broker:
        assert broker.stdout is not None and broker.stderr is not None
        url = broker.stdout.readline().split()[-1]
        assert url.startswith("antecedes://127.0.0.1:") and broker.stdout.readline().startswith("Next")
        assert "--token-file" in broker.stdout.readline()
        at = ("--at", url, "--ca", f"{keys}/ca.pem")
        with running("sub", "#", *at, "--token-file", tokens["bob"], "--count", "1") as sub:
            assert sub.stderr is not None and sub.stdout is not None
            sub.stderr.readline()
            assert sub.stderr.readline().endswith(f" --ca {keys}/ca.pem --token-file {tokens['bob']}\n")
            done = antecede("pub", "room/1", "hello", *at, "--token-file", tokens["ann"])
            assert done.returncode == 0 and done.stdout.startswith("ann-"), done.stderr
            assert done.stderr.endswith(f" --at {url} --ca {keys}/ca.pem --token-file {tokens['ann']}\n")
            assert sub.stdout.readline().endswith("hello\n")
        for arguments, words in (
            (("hall", "x", *at, "--token-file", tokens["ann"]), "does not let it publish to 'hall'"),
            (("room/1", "x", *at), "asks for a token"),
            (("room/1", "x", "--at", url, "--token-file", tokens["ann"]), "is not to be trusted"),
        ):
            done = antecede("pub", *arguments)
            assert done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr
        broker.send_signal(signal.SIGTERM)
        said = broker.communicate(timeout=20)[1]
        assert "no token" in said
        shown = antecede("config", "--config", str(settings)).stdout + antecede("keys", "show", "--dir", keys).stdout
    secret = json.loads((tmp_path / "keys" / "cluster.key").read_bytes())["secrets"][0]["key"]
    for hidden in (secret, *(Path(file).read_text().strip().rpartition(".")[2] for file in tokens.values())):
        assert hidden not in said + shown


def test_how_mqtt_clients_come_in(tmp_path: Path) -> None:
    assert mosquitto(("127.0.0.1", 1883), None) == "mosquitto_sub -V 5 -p 1883 -t 'room/#'"
    keyed = Keyed(tmp_path)
    said = mosquitto(("10.0.0.1", 1883), keyed.broker("A").protection)
    assert said == (
        f"mosquitto_sub -V 5 -h 10.0.0.1 -p 1883 --cafile {tmp_path / 'ca.pem'} -u any -P \"$(cat FILE)\" -t 'room/#'"
    )


def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    for arguments, words in (
        (("broker", "--listen", "0.0.0.0:7400", "--keys", str(tmp_path)), "antecede keys init"),
        (("pub", "t", "x", "--at", "192.0.2.1:7400"), "antecedes://"),
        (("broker", "--name", "a:b"), "cannot be called"),
        (("broker", "--config", str(tmp_path / "none.toml")), "cannot be read"),
        (("pub", "room/#", "hello", "--at", "127.0.0.1:9"), "No broker answers"),
        (("pub", "t", "x", "--within", "soon"), "is no duration"),
        (("broker", "--listen", "7402"), "write 127.0.0.1:7402"),
        (("pub", "t", "x", "--header", "lang"), "A header is KEY=VALUE"),
    ):
        result = antecede(*arguments)
        assert result.returncode == 2 and words in result.stderr and result.stderr.count("\n") == 1, result.stderr


def test_a_taken_port_says_so() -> None:
    with running("broker", "--listen", "127.0.0.1:0") as broker:
        assert broker.stdout is not None
        url = broker.stdout.readline().split()[-1]
        second = antecede("broker", "--listen", url)
        assert second.returncode == 2 and "Name another port" in second.stderr
        for option in ("--http", "--mqtt"):
            third = antecede("broker", "--listen", "127.0.0.1:0", option, url.rpartition(":")[2])
            assert third.returncode == 2 and "already in use. Name another port, for example " + option in third.stderr
