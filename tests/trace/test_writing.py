"""Files appear whole or not at all, and a refusal of the system names the path."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.trace.writing import temporary_for, write_whole, writing


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.json", "{}")
    assert [(f.name, f.read_text()) for f in tmp_path.iterdir()] == [("a.json", "{}")]


def test_a_full_disk_names_the_path_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, *_: object, **__: object) -> None:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match=r"cannot write .*a\.json: No space left on device\."):
        write_whole(tmp_path / "a.json", "{}")
    assert list(tmp_path.iterdir()) == []


def test_other_failures_pass_and_leave_nothing(tmp_path: Path) -> None:
    left = temporary_for(tmp_path / "a")
    with pytest.raises(KeyboardInterrupt), writing(tmp_path / "a", left):
        left.touch()
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []
