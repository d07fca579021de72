"""Notes on what could not be read: the same thing twice is one note, and a file that became whole has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.spark.bad import Bad, bad_files, note, withdraw


def test_notes_come_back_in_order_and_once(tmp_path: Path) -> None:
    assert bad_files(tmp_path / "none") == []
    bad = [Bad("/x/b", "torn"), Bad("/x/a", "damaged", 100, 50), Bad("/x/a", "damaged", 20, 5)]
    for one in (*bad, *bad):
        note(tmp_path / "q", one)
    assert bad_files(tmp_path / "q") == [bad[2], bad[1], bad[0]]
    withdraw(tmp_path / "q", "/x/b")
    withdraw(tmp_path / "q", "/x/b")
    assert bad_files(str(tmp_path / "q")) == [bad[2], bad[1]]


def test_a_quarantine_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot note in"):
        note(tmp_path / "file", Bad("/x", "torn"))
