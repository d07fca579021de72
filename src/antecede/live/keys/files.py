"""Files that hold keys: who may read them, and how they are replaced.

Decided here: every file is written whole or not at all, readable by its owner only; one that holds a secret and that
others may read is refused, with the command that mends it.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from antecede.errors import InputError

__all__ = ["default_directory", "read", "read_secret", "write"]


def default_directory() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "antecede" / "keys"


def write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.unlink(missing_ok=True)
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as fault:
        raise InputError(f"{path} cannot be written: {fault.strerror}.") from None


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"There is no {path.name} in {path.parent}: `antecede keys init` makes keys.") from None
    except OSError as fault:
        raise InputError(f"{path} cannot be read: {fault.strerror}.") from None


def read_secret(path: Path) -> bytes:
    data = read(path)
    if stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise InputError(f"Others may read {path}, which holds a secret: chmod 600 {path}")
    return data
