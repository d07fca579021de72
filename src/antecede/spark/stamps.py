"""What a pipeline has finished: stamps in `pipeline.json`, so that a stage that is done is not done again.

Decided in this file: a stage is done when its stamp has the same key and its table holds the rows the stamp counted.
The key is a hash of what the stage was told, of the inputs as they lie there (name, size and time of change) and of the
key of the stage before it: whatever changes upstream changes all that follows. A stamp is written after the table is
committed, and whole or not at all; a kill in between costs doing that stage once more.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from antecede.errors import InputError
from antecede.spark.manifest import committed, is_table, local_path, whole_or_not

__all__ = ["NAME", "Ledger", "Stamp", "files_below", "fingerprint", "key_of"]

NAME = "pipeline.json"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class Stamp:
    """A finished stage: what it was made from, and what came out."""

    stage: str
    key: str
    rows: int
    counts: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None


def key_of(*parts: object) -> str:
    """A short name for what decides a stage.

    >>> key_of("order", {"b": 1, "a": 2}) == key_of("order", {"a": 2, "b": 1})
    True
    """
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


def files_below(paths: Sequence[str], suffixes: tuple[str, ...] = ()) -> list[Path]:
    """The files of inputs, without what is hidden or half written; a path that does not exist is refused."""
    found: list[Path] = []
    for text in paths:
        root = local_path(text)
        if not root.exists():
            raise InputError(f"{root} does not exist: correct source.path.")
        inside = [root] if root.is_file() else sorted(path for path in root.rglob("*") if path.is_file())
        for path in inside:
            hidden = any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
            if not hidden and (not suffixes or path.suffix in suffixes):
                found.append(path)
    return found


def fingerprint(paths: Sequence[str]) -> list[list[object]]:
    """Inputs as they lie there. Manifests are part of it: they decide which files of a table count."""
    found: list[list[object]] = []
    for path in files_below(paths):
        about = path.stat()
        found.append([str(path), about.st_size, about.st_mtime_ns])
    for text in paths:
        root = local_path(text)
        if is_table(root):
            found.append([str(root), [[manifest.number, manifest.rows] for manifest in committed(root)]])
    return found


class Ledger:
    """The stamps of one output directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / NAME
        self.stamps: dict[str, Stamp] = {}
        self.key: str | None = None
        """What decided the last run that ended, and `report`, what came of it."""
        self.report: dict[str, Any] | None = None
        if self.path.exists():
            try:
                body = json.loads(self.path.read_text("utf-8"))
                if body["format"] != FORMAT:
                    raise InputError(f"{self.path} has format {body['format']}; this reads {FORMAT}: use a new output.")
                self.stamps = {stamp["stage"]: Stamp(**stamp) for stamp in body["stages"]}
                self.key, self.report = body.get("key"), body.get("report")
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{self.path} cannot be read ({error!r}): remove it, or use a new output.") from None

    def done(self, stage: str, key: str) -> Stamp | None:
        """The stamp of a stage that need not be repeated."""
        stamp = self.stamps.get(stage)
        if stamp is None or stamp.key != key:
            return None
        root = self.root / stage
        here = sum(manifest.rows for manifest in committed(root)) if is_table(root) else None
        return stamp if here == stamp.rows else None

    def put(self, stamp: Stamp) -> None:
        self.stamps[stamp.stage] = stamp
        self.save()

    def save(self, **more: Any) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        body = {"format": FORMAT, "stages": [asdict(stamp) for stamp in self.stamps.values()], **more}
        whole_or_not(self.path, json.dumps(body, indent=2) + "\n")
