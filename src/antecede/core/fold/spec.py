"""What a subscriber wants fused, as a value that travels: which numbers, divided by what, cut where.

Decided in this file: the words are those of `fuse` on Spark; a name is one that predicates know (`content.py`), and one
that is no header is looked for in the payload; headers count as the numbers they read as. Whatever is no finite number
is no reading. A spec comes from strangers, so it is checked and bounded wherever it arrives.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from antecede.core.fold.counting import HOLD, PATIENCE, Reading, named
from antecede.core.fold.cuts import Cut, CutRule, Fold
from antecede.core.fold.results import check_over, result_of
from antecede.core.where import PAYLOAD, Fields, Value, as_number
from antecede.errors import InputError

__all__ = ["MAX_VALUES", "FuseSpec", "fuse"]

MAX_VALUES = 32
"""Numbers of one reading that are fused. Raising it costs brokers state for each sender and value."""


@dataclass(slots=True, frozen=True)
class FuseSpec:
    values: tuple[str, ...] = ()
    by: str | None = None
    every: int | None = None
    every_us: int | None = None
    over: str = "latest"

    def __post_init__(self) -> None:
        CutRule(self.every, self.every_us)
        check_over(self.over)
        names = (*self.values, *(() if self.by is None else (self.by,)))
        if len(self.values) > MAX_VALUES or not all(isinstance(n, str) and 0 < len(n) <= 100 for n in names):
            raise InputError(f"values= names at most {MAX_VALUES} numbers, such as ['temp', 'payload.pump.rpm'].")

    def to_bytes(self) -> bytes:
        return json.dumps([self.values, self.by, self.every, self.every_us, self.over]).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> FuseSpec:
        """InputError: these are none."""
        try:
            values, by, every, every_us, over = json.loads(data)
            numbers = [one for one in (every, every_us) if one is not None]
            if not isinstance(values, list) or not all(type(one) is int for one in numbers):
                raise ValueError
            return cls(tuple(values), by, every, every_us, over)
        except (ValueError, TypeError, RecursionError):
            raise InputError("These bytes do not say what to fuse.") from None

    # -- readings --------------------------------------------------------------------------------------------------

    def fold(self) -> Fold:
        rule = CutRule(self.every, self.every_us)
        return Fold(rule, 1, named, HOLD, PATIENCE, by=self.by is not None)

    def reading(
        self, pos: int, id: str, time_us: int | None, fields: Fields, parents: tuple[str, ...], missing: tuple[str, ...]
    ) -> Reading:
        sender, number = named(id) or (id, pos)
        values = tuple(_number(_find(name, fields)) for name in self.values)
        by = None if self.by is None else _text(_find(self.by, fields))
        return Reading(pos, id, sender, number, parents, missing, (), time_us, False, (0,), values, by)

    def results(self, cut: Cut) -> list[dict[str, Any]]:
        """One row for each value of `by`, in the words of `fuse`; one where nothing divides them."""
        rows = []
        for place, (_, by) in sorted(enumerate(cut.places), key=lambda one: (one[1][1] is None, one[1][1] or "")):
            row = dict(result_of(cut, place, values=self.values, over=self.over))
            rows.append(row if self.by is None else {self.by: by, **row})
        return rows


def fuse(
    values: Sequence[str] = (),
    *,
    by: str | None = None,
    every: int | None = None,
    every_us: int | None = None,
    over: str = "latest",
) -> FuseSpec:
    """What `subscribe(..., fuse=...)` takes: fuse the numbers `values`, for each value of `by` apart, one result per
    cut: every so many readings (`every`), or every so many microseconds of the readings' own time (`every_us`). `over`:
    the `latest` reading of each sender, or all `new` ones since the last cut."""
    if isinstance(values, str):
        raise InputError(f"values is the string {values!r}: give a list of names, [{values!r}].")
    return FuseSpec(tuple(values), by, every, every_us, over)


def _find(name: str, fields: Fields) -> Value | None:
    return fields.get(name, fields.get(PAYLOAD + name))


def _number(value: Value | None) -> float | None:
    if isinstance(value, str):
        value = as_number(value)
    return None if value is None or isinstance(value, bool) else float(value)


def _text(value: Value | None) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
