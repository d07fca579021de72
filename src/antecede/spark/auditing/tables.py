"""Where tasks find the tables of messages: a directory that all of them can reach.

Decided in this file: one directory for each causal domain (a run of a source), named by its digest; a domain that
cannot be judged leaves the reason in the place of its table; and the steps at which a process had messages out are
left beside it, for those who must ask.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from antecede.errors import EnvironmentFault
from antecede.spark.auditing.messages import Messages

__all__ = ["Shelf", "domain_of", "run_of"]

Ints = NDArray[Any]

KEPT = 4
"""Tables a worker keeps open: mapped, so they cost address space more than memory."""

OUT = np.dtype([("message", np.int32), ("step", np.int32), ("time_us", np.int64)])

_open: dict[str, Messages] = {}
"""By directory: workers live longer than tasks, and a table is opened once."""

_names: dict[str, list[str]] = {}


def domain_of(source: str, run: str) -> str:
    return json.dumps([source, run])


@lru_cache(maxsize=1024)
def run_of(domain: str) -> tuple[str, str]:
    source, run = json.loads(domain)
    return source, run


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Shelf:
    """The scratch directory of one audit."""

    def __init__(self, directory: str) -> None:
        self.directory = Path(directory)

    def _place(self, domain: str) -> Path:
        return self.directory / digest(domain)

    def put(self, domain: str, messages: Messages) -> None:
        messages.save(self._place(domain))

    def refuse(self, domain: str, reason: str) -> None:
        """This domain cannot be judged."""
        self._write(self._place(domain).with_suffix(".bad"), reason.encode())

    def refused(self, domain: str) -> str | None:
        file = self._place(domain).with_suffix(".bad")
        return file.read_text("utf-8") if file.exists() else None

    def ask_again(self, domain: str) -> None:
        """This domain needs its deliveries told too, before its table can be built."""
        self._write(self._place(domain).with_suffix(".again"), b"")

    def asked_again(self, domain: str) -> bool:
        return self._place(domain).with_suffix(".again").exists()

    def get(self, domain: str) -> Messages:
        place = str(self._place(domain))
        if place not in _open:
            if not Path(place).is_dir():
                raise EnvironmentFault(
                    f"the table of messages {place} cannot be seen from here: "
                    "give the audit a scratch directory that every Spark worker can reach"
                )
            while len(_open) >= KEPT:
                _open.pop(next(iter(_open)))
            _open[place] = Messages.load(place)
        return _open[place]

    def leave_who(self, domain: str, names: Collection[str]) -> None:
        """Who took part in this domain, or is spoken of there."""
        self._write(self._place(domain).with_suffix(".who"), json.dumps([domain, sorted(names)]).encode())

    def who(self) -> Iterator[tuple[str, list[str]]]:
        """Of every domain."""
        for file in sorted(self.directory.glob("*.who")):
            domain, names = json.loads(file.read_text("utf-8"))
            yield domain, names

    def leave_names(self, domain: str, names: list[str]) -> None:
        """Of parents that have no row, in the order of their keys."""
        self._write(self._place(domain).with_suffix(".names"), json.dumps(names).encode())

    def absent_name(self, domain: str, number: int) -> str:
        file = self._place(domain).with_suffix(".names")
        names = _names.get(str(file))
        if names is None:
            _names.clear()
            names = _names[str(file)] = json.loads(file.read_text("utf-8"))
        return str(names[number])

    def _out(self, domain: str, process: str) -> Path:
        return self._place(domain).with_suffix(".out") / f"{digest(process)}.npy"

    def leave_out(self, domain: str, process: str, message: Ints, step: Ints, time_us: Ints) -> None:
        """When this process had messages out: each once."""
        order = np.argsort(message, kind="stable")
        rows = np.empty(len(message), OUT)
        rows["message"], rows["step"], rows["time_us"] = message[order], step[order], time_us[order]
        file = self._out(domain, process)
        file.parent.mkdir(exist_ok=True)
        temporary = file.with_suffix(f".{os.getpid()}.tmp")
        with temporary.open("wb") as handle:
            np.save(handle, rows, allow_pickle=False)
        temporary.replace(file)

    def out(self, domain: str, process: str) -> Ints | None:
        """What it left; None: nobody of that name took part."""
        with contextlib.suppress(FileNotFoundError):
            rows: Ints = np.load(self._out(domain, process), allow_pickle=False)
            return rows
        return None

    def leave_shed(self, domain: str, process: str, message: Ints, client: Ints, names: Sequence[str]) -> None:
        """What this broker had no more room for, for which of `names`."""
        file = self._out(domain, process).with_suffix(".shed")
        file.parent.mkdir(exist_ok=True)
        rows = [[names[one], int(which)] for one, which in zip(client, message, strict=True)]
        self._write(file, json.dumps(rows).encode())

    def shed(self, domain: str, process: str) -> frozenset[tuple[str, int]]:
        """(client, message), as far as it was left."""
        with contextlib.suppress(FileNotFoundError):
            rows = json.loads(self._out(domain, process).with_suffix(".shed").read_text("utf-8"))
            return frozenset((client, message) for client, message in rows)
        return frozenset()

    def _write(self, file: Path, content: bytes) -> None:
        temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
        temporary.write_bytes(content)
        temporary.replace(file)
