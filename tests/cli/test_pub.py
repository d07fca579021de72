"""`antecede pub -`: one message a line."""

from __future__ import annotations

import subprocess

from tests.cli.processes import COMMAND, cluster, running


def test_each_line_of_standard_input_is_a_message() -> None:
    with cluster(1) as (_, told):
        at = told["addresses"][0]
        with running("sub", "log", "--at", at, "--count", "3") as sub:
            assert sub.stderr is not None and sub.stdout is not None
            sub.stderr.readline()
            lines = "one\ntwo\nthree\n"
            subprocess.run(
                [*COMMAND, "pub", "log", "-", "--at", at, "--name", "ann"], input=lines, text=True, check=True
            )
            assert [line.split() for line in sub.stdout] == [["log", "ann", word] for word in lines.split()]


def test_a_line_is_published_as_it_comes_however_long_the_next_one_takes() -> None:
    with cluster(1) as (_, told):
        at = told["addresses"][0]
        with running("sub", "log", "--at", at) as sub:
            assert sub.stderr is not None and sub.stdout is not None
            sub.stderr.readline()
            command = [*COMMAND, "pub", "log", "-", "--at", at, "--name", "ann"]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as pub:
                assert pub.stdin is not None and pub.stderr is not None
                for word in (b"one", b"tw\xffo"):
                    pub.stdin.write(word + b"\n")
                    pub.stdin.flush()
                    assert sub.stdout.readline().split()[:2] == ["log", "ann"]
                pub.stdin.write(b"three")
                pub.stdin.close()
                assert sub.stdout.readline().split() == ["log", "ann", "three"]
                assert pub.wait(20) == 0 and pub.stderr.read().startswith(b"Safe.")
