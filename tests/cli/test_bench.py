"""`antecede bench`: lists what the checkout measures, runs one with what follows its name, and ends as that ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede import cli
from antecede.cli import bench

SCRIPT = '''"""Says what it is given.

More.
"""
import sys
if __name__ == "__main__":
    print(sys.argv[1:])
    sys.exit(3)
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "echo.py").write_text(SCRIPT, "utf-8")
    (tmp_path / "parts.py").write_text('"""What others import."""\n', "utf-8")
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    return tmp_path


def test_alone_it_lists_those_that_can_be_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench"]) == 0
    assert capsys.readouterr().out == "echo  Says what it is given.\n"


def test_what_follows_the_name_is_passed_on_and_its_exit_code_comes_back(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", "echo", "--messages", "5", "--help", "x"]) == 3
    assert capfd.readouterr().out == "['--messages', '5', '--help', 'x']\n"
    (folder / "killed.py").write_text('"""."""\nimport os  # __main__\nos.kill(os.getpid(), 9)\n', "utf-8")
    assert cli.main(["bench", "killed"]) == 137


def test_mistakes_are_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "ecco"]) == 2
    assert "There is no bench 'ecco': is echo meant? `antecede bench` lists them." in capsys.readouterr().err
    assert cli.main(["bench", "../echo"]) == 2
    assert cli.main(["bench", "parts"]) == 2


def test_without_a_checkout_it_says_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "FOLDER", tmp_path / "none")
    assert cli.main(["bench", "node"]) == 2
    assert "come with the repository" in capsys.readouterr().err


def test_those_of_this_checkout_each_say_what_they_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"node", "metadata", "golden"} <= {line.split()[0] for line in lines}
    assert all(len(line.split(None, 1)[1]) > 20 for line in lines)
