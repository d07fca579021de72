"""`antecede pub -`: one message a line."""

from __future__ import annotations

import os
import subprocess

import pytest

from tests.cli.processes import COMMAND, antecede, cluster, running


def test_each_line_of_standard_input_is_a_message() -> None:
    with cluster(1) as (_, told):
        at = told["addresses"][0]
        with running("sub", "log", "--at", at, "--count", "3") as sub:
            assert sub.stderr is not None and sub.stdout is not None
            sub.stderr.readline()
            lines = "one\ntwo\nthree\n"
            command = [*COMMAND, "pub", "log", "-", "--at", at, "--name", "ann"]
            done = subprocess.run(command, input=lines, text=True, check=True, capture_output=True)
            assert done.stdout == "ann:1\nann:2\nann:3\n" and done.stderr.startswith("Safe. ")
            assert max(map(len, done.stderr.splitlines())) <= 80
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


def test_a_person_is_told_what_to_type_and_sees_each_id_at_once() -> None:
    with cluster(1) as (_, told):
        ours, its = os.openpty()
        try:
            command = [*COMMAND, "pub", "log", "-", "--at", told["addresses"][0], "--name", "ann"]
            with subprocess.Popen(command, stdin=its, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as pub:
                assert pub.stdout is not None and pub.stderr is not None
                assert pub.stderr.readline() == "One message a line; ctrl-D ends.\n"
                for number in (1, 2):
                    os.write(ours, b"hello\n")
                    assert pub.stdout.readline() == f"ann:{number}\n"
                os.write(ours, b"\x04")
                assert pub.wait(20) == 0
        finally:
            os.close(ours)
            os.close(its)


@pytest.mark.parametrize("payload", ["hello", "-"])
def test_what_was_not_known_to_be_safe_in_time_is_exit_1(payload: str) -> None:
    with cluster(1) as (_, told):
        command = [*COMMAND, "pub", "log", payload, "--at", told["addresses"][0], "--name", "ann", "--within", "10us"]
        done = subprocess.run(command, input="one\n", text=True, capture_output=True, timeout=60)
        assert done.returncode == 1 and "Safe" not in done.stderr and done.stdout == ""
        assert done.stderr.startswith("antecede: ann:1 was not known to be safe by its deadline")


@pytest.mark.parametrize("within", ["0", "0ms", "400d"])
def test_a_deadline_that_cannot_be_is_refused_in_the_words_of_the_command(within: str) -> None:
    done = antecede("pub", "log", "hello", "--within", within)
    said = f"--within is a time above 0 and up to a year, such as 500ms, not {within}."
    assert done.returncode == 2 and done.stderr == f"antecede: {said}\n"
