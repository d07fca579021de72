"""Files with keys: the owner's only, whole or not at all, refused when others may read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.keys.files import default_directory, read, read_secret, write


def test_only_the_owner_may_read_what_is_written(tmp_path: Path) -> None:
    file = tmp_path / "new" / "x.key"
    write(file, b"one")
    write(file, b"two")
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    assert read_secret(file) == b"two" and [one.name for one in file.parent.iterdir()] == ["x.key"]
    file.chmod(0o640)
    assert read(file) == b"two"
    with pytest.raises(InputError, match=r"chmod 600 .*x\.key"):
        read_secret(file)


def test_what_is_not_there_or_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="antecede keys init"):
        read(tmp_path / "none.pem")
    with pytest.raises(InputError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write(tmp_path / "taken", b"x")


def test_the_usual_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default_directory() == tmp_path / "antecede" / "keys"
