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
