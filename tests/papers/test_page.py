"""docs/papers.md: every test it cites for a line of a paper is there, under these words."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.house import rules

PAGE = (rules.ROOT / "docs" / "papers.md").read_text("utf-8")
TABLES = PAGE.partition("## The text as it stands")[0].split("\n## ")[1:]
FILE = re.compile(r"`(?:tests/[a-z_/]+/)?test_[a-z_]+\.py`")


def names(file: str) -> list[str]:
    (path,) = [rules.ROOT / file] if "/" in file else (rules.ROOT / "tests").rglob(file)
    return re.findall(r"^def test_(\w+)", path.read_text("utf-8"), re.MULTILINE)


def cited() -> Iterator[tuple[str, str]]:
    """(file of tests, words), line by line; a file in brackets is of that line only."""
    for table in TABLES:
        own = re.search(r"tests/papers/test_\w+\.py", table)
        assert own, table[:40]
        rows = [line.strip("|").split("|") for line in table.split("\n") if line.startswith("| ")]
        for _, _, test, *_ in rows[1:]:
            files = [found.strip("`") for found in FILE.findall(test)]
            words = re.split(r"[;:]", re.sub(r"\([^()]*\)", "", FILE.sub("", test)))
            for said in filter(None, (word.strip(" ,") for word in words)):
                yield (files[0] if files else own[0]), said


@pytest.mark.parametrize(("file", "said"), list(cited()))
def test_what_is_cited_is_the_name_of_a_test(file: str, said: str) -> None:
    wanted = re.sub(r"[^a-z0-9]+", "_", said.lower().replace("'", ""))
    assert any(wanted in name for name in names(file)), f"{file} has no test that is named so: {said}"


def test_every_line_cites_one() -> None:
    lines = [line for table in TABLES for line in table.split("\n")[1:] if line.startswith("| ")]
    rows = [
        line.strip("|").split("|") for line in lines if not line.startswith(("| module", "| sentence", "| procedure"))
    ]
    assert len(rows) > 80
    assert [row[0] for row in rows if len(row) > 3 and not row[2].strip()] == []
