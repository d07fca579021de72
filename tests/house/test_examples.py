"""Every example in the documents runs: Python blocks, and the `$ antecede` lines of console blocks.

The examples of one document share a working directory, in order, so that `simulate --out` and then `check` works. A
line ending in `# exit 1` is expected to end so. `$ python3 run.py` lines are only looked up: they would run this test.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from antecede.cli import COMMANDS, exists
from tests.house import rules

DOCUMENTS = sorted([*rules.ROOT.glob("*.md"), *(rules.ROOT / "docs").rglob("*.md")])


@dataclass(frozen=True)
class Example:
    line: int
    kind: str
    text: str
    exit_code: int = 0


def examples(document: str) -> Iterator[Example]:
    for block in re.finditer(r"^```(\w+)\n(.*?)^```$", document, flags=re.MULTILINE | re.DOTALL):
        line = document.count("\n", 0, block.start()) + 2
        if block[1] == "python":
            yield Example(line, "python", block[2])
        elif block[1] == "console":
            # A command may go on in the next line after a backslash.
            joined = re.sub(r"\\\n\s*", lambda gap: " " * len(gap[0]), block[2])
            for command in re.finditer(r"^\$ (.*?)(?:\s+#\s*(.*))?$", joined, flags=re.MULTILINE):
                told = re.fullmatch(r"exit (\d+).*", command[2] or "")
                yield Example(line, "command", command[1], int(told[1]) if told else 0)


def failure(example: Example, folder: Path) -> str | None:
    """What went wrong with an example run in `folder`; None if nothing did."""
    if example.kind == "python":
        command = [sys.executable, "-W", "error", "-c", example.text]
    else:
        words = shlex.split(example.text)
        if words[:2] == ["python3", "run.py"]:
            return None if words[2:3] in ([], ["test"], ["setup"]) else "run.py has no such job"
        if words == ["source", ".venv/bin/activate"]:
            return None  # what makes `antecede` a command of the terminal
        if words[0] != "antecede":
            return "only antecede and run.py can be tried here"
        if words[1] in COMMANDS and not exists(words[1]):
            return None  # announced, not built yet: nothing to try
        command = [sys.executable, "-c", "import sys; from antecede.cli import main; sys.exit(main())", *words[1:]]
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, "COLUMNS": "120"}, capture_output=True, text=True, timeout=120
    )
    if done.returncode == example.exit_code:
        return None
    return f"exit {done.returncode}, not {example.exit_code}\n{done.stdout}{done.stderr}"


def failures(document: Path, folder: Path) -> list[str]:
    found = []
    for example in examples(document.read_text("utf-8")):
        wrong = failure(example, folder)
        if wrong:
            found.append(f"{document}:{example.line}: {example.text.strip()}\n{wrong}")
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(rules.ROOT)))
def test_every_example_runs(document: Path, tmp_path: Path) -> None:
    found = failures(document, tmp_path)
    assert not found, "\n\n".join(found)


def missing_modules(document: str, source: Path) -> list[str]:
    """Modules a document names as `room/module` that are not there, in rooms that have been built."""
    package = source / "antecede"
    built = {path.relative_to(package).parts[0] for path in rules.modules(source)}
    named = [name for name in re.findall(r"`([a-z_]+/[a-z_]+)(?:\.py)?`", document) if name.split("/")[0] in built]
    return [name for name in named if not (package / f"{name}.py").is_file() and not (package / name).is_dir()]


def test_every_module_the_architecture_names_exists() -> None:
    assert missing_modules((rules.ROOT / "ARCHITECTURE.md").read_text("utf-8"), rules.SOURCE) == []


def test_a_planted_name_of_no_module_is_found() -> None:
    assert missing_modules("See `core/message` and `core/massage.py`.", rules.SOURCE) == ["core/massage"]


def test_links_lead_somewhere() -> None:
    broken = [
        f"{document.name}: {target}"
        for document in DOCUMENTS
        for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text("utf-8"))
        if not (document.parent / target).exists()
    ]
    assert broken == []


def test_the_readme_has_examples() -> None:
    assert [example.text for example in examples((rules.ROOT / "README.md").read_text("utf-8"))]


@pytest.mark.parametrize(
    "bad",
    [
        "```python\nraise SystemExit(3)\n```\n",
        "```console\n$ antecede no-such-command\n```\n",
        "```console\n$ antecede \\\n    --no-such-option\n```\n",
        "```console\n$ antecede --version  # exit 1: it does not\n```\n",
        "```console\n$ python3 run.py tset\n```\n",
        "```console\n$ rm -rf .\n```\n",
    ],
)
def test_a_planted_example_that_does_not_run_is_found(bad: str, tmp_path: Path) -> None:
    document = tmp_path / "bad.md"
    document.write_text("# Bad\n\n" + bad, "utf-8")
    assert len(failures(document, tmp_path)) == 1


def test_examples_that_run_are_left_alone(tmp_path: Path) -> None:
    document = tmp_path / "good.md"
    document.write_text(
        "```python\nimport antecede\nopen('made', 'w').close()\n```\n\n"
        "```python\nimport os\nassert os.path.exists('made')\n```\n\n"
        "```console\n$ antecede --version   # which one?\nantecede 0.1.0\n$ antecede nonsense  # exit 2\n```\n",
        "utf-8",
    )
    assert failures(document, tmp_path) == []
    assert [e.exit_code for e in examples(document.read_text("utf-8"))] == [0, 0, 0, 2]
