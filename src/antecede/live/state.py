"""What a broker remembers from one start to the next: how often its name has lived, in which run, by which clock.

Decided here: a broker has an empty memory when it starts, so it must not come back under a name that its clients still
know; those that outlived it find a later life of it at the same address and go on. The run goes on too, so that the
records before and after belong together, and on the same boot of the machine the clock does exactly. Only brokers at a
fixed port remember: nobody would find another one again. Of a file that cannot be read or written it is said, no more.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

import msgspec

from antecede.live.timing import machine_id

__all__ = ["State", "default_directory", "remember", "remembered"]

log = logging.getLogger("antecede.broker")


class State(msgspec.Struct, frozen=True):
    name: str
    life: int
    run: str
    machine: str
    base_us: int

    @property
    def same_clock_us(self) -> int | None:
        """What was added to the monotonic clock, if that is still the same one."""
        return self.base_us if self.machine and self.machine == machine_id() else None


def default_directory() -> Path:
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "antecede"


def _file(directory: str | Path, name: str, port: int) -> Path:
    return Path(directory) / f"broker-{name}-{port}.json"


def remembered(directory: str | Path | None, name: str, port: int) -> State | None:
    """What the last broker of this name at this port left; None if there was none, or nothing is remembered."""
    if directory is None or not port:
        return None
    file = _file(directory, name, port)
    try:
        return msgspec.json.decode(file.read_bytes(), type=State)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError) as fault:
        log.warning(
            "%s cannot be read (%s): clients that outlived the last %s may have to reconnect", file, fault, name
        )
        return None


def remember(directory: str | Path | None, port: int, state: State) -> None:
    if directory is None or not port:
        return
    file = _file(directory, state.name, port)
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(msgspec.json.encode(state))
        temporary.replace(file)
    except OSError as fault:
        log.warning("%s cannot be written (%s): restart %s under another name", file, fault.strerror, state.name)
