"""Transcripts are carried out as they say; those that are kept in tests/transcripts stay true."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.sim.explore import explore
from antecede.sim.small import Small
from antecede.sim.transcript import replay, transcribe

KEPT = sorted((Path(__file__).parents[1] / "transcripts").glob("*.txt"))
BY_HAND = """
# A tail is lost and found.
explore recipe=solicit members=2 script='A G1' losses=1
A publishes G1
lost: data A:1 from A to B
the rest
"""


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_was_said_is_said_again(path: Path) -> None:
    text = path.read_text("utf-8")
    again = replay(text)
    assert not again.differs
    assert text == "\n".join(again.lines) + "\n"
    assert (again.findings == []) == text.endswith("verdict: clean\n") == ("printed" not in path.stem)


def test_some_are_kept() -> None:
    assert len(KEPT) >= 5


def test_commands_alone_are_enough() -> None:
    done = replay(BY_HAND)
    assert done.small == Small(members=2, script="A G1", losses=1) and not done.differs and not done.findings
    assert done.lines[0] == "# A tail is lost and found." and done.lines[-1] == "verdict: clean"
    assert replay("\n".join(done.lines)).lines == done.lines


def test_another_answer_is_a_difference() -> None:
    lines = replay(BY_HAND).lines
    for n, line in enumerate(lines[3:-1], 3):
        if line.startswith(" "):
            changed = [*lines[:n], line + "!", *lines[n + 1 :]]
            assert replay("\n".join(changed)).differs.startswith(f"line {n + 1} says")
    assert "now there are" in replay("\n".join([*lines, "verdict: clean"])).differs
    assert "verdict: gap" in replay("\n".join([*lines[:-1], "verdict: gap"])).differs


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "begins with a line like"),
        ("A publishes G1", "begins with a line like"),
        ("explore members=many", "'many' is no number"),
        ("explore colour=red", "knobs are"),
        ("explore members", "knobs are"),
        ("explore members=2\n\nB wakes", "line 3: B does not wait"),
    ],
)
def test_what_is_no_transcript_is_refused(text: str, word: str) -> None:
    with pytest.raises(InputError, match=word):
        replay(text)


def test_every_path_of_a_search_can_be_written_and_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every end of a small search, as if it were a violation: live machines say what the search looked up."""
    from antecede.sim import explore as module
    from antecede.trace.report import Finding, Report

    for skip in range(4):
        count = 0

        def accuse(rows: object, skip: int = skip, **kwargs: object) -> Report:
            nonlocal count
            count += 1
            return Report(findings=[Finding("gap", "A", None, None, None, "made up")] if count > skip else [])

        monkeypatch.setattr(module, "check", accuse)
        small = Small(members=2, messages=2, slow=1, deadline_ms=60) if skip % 2 else Small(messages=2, losses=0)
        found = explore(small)
        monkeypatch.undo()
        assert found.actions
        text = transcribe(found)
        assert text.startswith("# made up\nexplore ") and text.endswith("verdict: clean\n")
        assert replay(text).lines == text.splitlines()
