"""From the rows of one run to its table of messages, and to what each process needs to be judged.

Decided in this file: the form in which rows reach the audit - publications, rows of attendance, deliveries at those who
publish without naming causes - and what is known of a run as a whole (whether all who were correct ended quietly).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from antecede.errors import InputError
from antecede.spark.auditing.attendance import Attendance, Control
from antecede.spark.auditing.keys import Finder, schema_of
from antecede.spark.auditing.messages import NONE_US, Messages, build_messages, causes_of

__all__ = ["PUBLICATION", "Told", "controls_of", "run_messages"]

Ints = NDArray[Any]

PUBLICATION = schema_of(
    process=pa.string(),
    step=pa.int64(),
    time_us=pa.int64(),
    message=pa.string(),
    key=pa.int64(),
    groups=pa.list_(pa.string()),
    deadline_us=pa.int64(),
    expires_us=pa.int64(),
    after=pa.list_(pa.int64()),
)
"""One `publish` row; ids in `after` as keys; null: everything out there before."""


@dataclass
class Told:
    """What is told of one run before its deliveries are looked at."""

    publications: Any
    """A pa.Table of PUBLICATION."""
    controls: dict[str, list[Control]] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)
    """Every process that has a row."""
    heard: tuple[list[str], Ints, Ints, Ints] | None = None
    """Deliveries at those who name no causes: names, number of the name, step, key."""


def controls_of(told: Told) -> dict[str, Attendance]:
    """Every process's attendance."""
    return {
        name: Attendance.of(role, sorted(told.controls.get(name, ()), key=lambda row: row.step))
        for name, role in told.roles.items()
    }


def run_messages(told: Told) -> tuple[Messages, list[tuple[str, int, str, str]]]:
    """The table of the run, and publications that were set aside: (process, step, message, reason)."""
    table = told.publications.combine_chunks()
    processes = sorted(told.roles)
    number_of = {name: number for number, name in enumerate(processes)}
    process = recode(table.column("process"), number_of)
    step = table.column("step").to_numpy()
    time_us = table.column("time_us").to_numpy()
    key = table.column("key").to_numpy().view(np.uint64)

    # A message is what was published first; who published it again is set aside.
    order = np.lexsort((step, process, time_us, key))
    again = np.zeros(len(key), bool)
    again[order[1:]] = key[order[1:]] == key[order[:-1]]
    aside = []
    if again.any():
        names = table.column("message")
        firsts = order[np.searchsorted(key[order], key[again])]
        for row, first in zip(np.flatnonzero(again), firsts, strict=True):
            if names[int(row)].as_py() != names[int(first)].as_py():
                raise InputError(f"{names[int(row)]} and {names[int(first)]} have the same key: rename one of them")
            who = processes[process[first]]
            reason = f"{names[int(row)]} is published again (first by {who})"
            aside.append((processes[process[row]], int(step[row]), names[int(row)].as_py(), reason))
    order = np.lexsort((step, process))
    order = order[~again[order]]
    table = table.take(pa.array(order))
    process, step, time_us, key = process[order], step[order], time_us[order], key[order]

    after = table.column("after").combine_chunks()
    free = after.is_null().to_numpy(zero_copy_only=False)
    heard = None
    if told.heard is not None and free.any():
        names_heard, who, steps, keys = told.heard
        codes = np.array([number_of.get(name, -1) for name in names_heard], np.int64)[who]
        sorting = np.argsort(key)
        spot = Finder(key[sorting]).find(keys) if len(key) else np.full(len(keys), -1)
        known = spot >= 0
        heard = (codes[known], steps[known], sorting[spot[known]])
    causes, effects = causes_of(process, step, free, heard)
    own = causes < 0
    parent, child = np.where(own, -1 - causes, causes), effects
    named = pc.list_flatten(after)
    owner = pc.list_parent_indices(after).to_numpy()
    sorting = np.argsort(key)
    spot = Finder(key[sorting]).find(named.to_numpy().view(np.uint64)) if len(key) else np.zeros(0, np.int64)
    known = spot >= 0
    parent = np.concatenate([parent, sorting[spot[known]]])
    child = np.concatenate([child, owner[known]])

    sets, codes_of_sets = set_codes(table.column("groups"))
    attendance = controls_of(told)
    about = {
        "quiet": all(a.end_reason == "quiet" for a in attendance.values() if a.correct),
        "roles": told.roles,
        "unknown_causes": int((~known).sum()),
    }
    messages = build_messages(
        key=key,
        names=table.column("message").combine_chunks(),
        time_us=time_us,
        parent=parent,
        child=child,
        deadline_us=filled(table.column("deadline_us")),
        expires_us=filled(table.column("expires_us")),
        publisher=process,
        set=codes_of_sets,
        sets=sets,
        processes=processes,
        about=about,
    )
    return messages, aside


def recode(column: Any, number_of: dict[str, int]) -> Ints:
    coded = column.combine_chunks().dictionary_encode()
    codes = np.array([number_of[name] for name in coded.dictionary.to_pylist()], np.int64)
    return codes[coded.indices.to_numpy()] if len(coded) else np.zeros(0, np.int64)


def filled(column: Any) -> Ints:
    return np.asarray(column.fill_null(int(NONE_US)).to_numpy())


def set_codes(groups: Any) -> tuple[list[list[str]], Ints]:
    """The different sets of topics, and for each row the number of its own."""
    joined: Any = pc.binary_join(groups.combine_chunks().cast(pa.list_(pa.string())), "\x00")
    coded = joined.fill_null("").dictionary_encode()
    sets = [[t for t in text.split("\x00") if t] for text in coded.dictionary.to_pylist()]
    return sets, coded.indices.to_numpy().astype(np.int32)
