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

from antecede.core.topics import split_filter
from antecede.errors import InputError
from antecede.spark.auditing.attendance import Attendance, Control
from antecede.spark.auditing.chunks import Coded
from antecede.spark.auditing.keys import UNORDERED_KEYS, Finder, schema_of
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
    headers=pa.string(),
)
"""One `publish` row; ids in `after` as keys; null: everything out there before; one of UNORDERED_KEYS: nothing."""


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
    collected: dict[str, list[int]] = field(default_factory=dict)
    """What each broker let go of, as keys, in its order; only where a cut speaks of it."""


def controls_of(told: Told) -> dict[str, Attendance]:
    """Every process's attendance."""
    return {
        name: Attendance.of(role, sorted(told.controls.get(name, ()), key=lambda row: row.step))
        for name, role in told.roles.items()
    }


def run_messages(told: Told) -> tuple[Messages, list[tuple[str, int, str, str]]]:
    """The table of the run, and publications that were set aside: (process, step, message, reason)."""
    table = told.publications
    processes = sorted(told.roles)
    number_of = {name: number for number, name in enumerate(processes)}
    process = recode(table.column("process"), number_of)
    step = table.column("step").to_numpy()
    time_us = table.column("time_us").to_numpy()
    key = table.column("key").to_numpy().view(np.uint64)
    aside, again = published_again(table, key, process, step, time_us, processes)
    if again.any():
        table = table.filter(pa.array(~again))
        process, step, time_us, key = (column[~again] for column in (process, step, time_us, key))

    sorting = np.argsort(key)
    find = Finder(key[sorting]).find

    def places(keys: Ints) -> Ints:
        spot = find(keys)
        return np.where(spot >= 0, sorting[spot], -1) if len(sorting) else spot

    after = table.column("after")
    free = after.is_null().to_numpy()
    unordered = unordered_rows(after)
    ordered, loose = np.flatnonzero(~unordered), np.flatnonzero(unordered)
    order = ordered[np.lexsort((step[ordered], process[ordered]))]
    loose = loose[np.lexsort((step[loose], process[loose]))]
    heard = None
    if told.heard is not None and free.any():
        names, who, steps, keys = told.heard
        codes = np.array([number_of.get(name, -1) for name in names], np.int64)[who]
        spot = places(keys)
        causal = (spot >= 0) & ~unordered[spot]
        heard = (codes[causal], steps[causal], spot[causal])
    causes, effects = causes_of(process[order], step[order], free[order], heard)
    own = causes < 0
    parents = [np.where(own, order[np.where(own, -1 - causes, 0)], causes).astype(np.int32)]
    children = [order[effects].astype(np.int32)]
    unknown = row = 0
    for chunk in after.chunks:
        named = pc.list_flatten(chunk).to_numpy().view(np.uint64)
        spot = places(named)
        owner = pc.list_parent_indices(chunk).to_numpy() + row
        causal = (spot >= 0) & ~unordered[spot]
        parents.append(spot[causal].astype(np.int32))
        children.append(owner[causal].astype(np.int32))
        unknown += int(((spot < 0) & ~np.isin(named, UNORDERED_KEYS)).sum())
        row += len(chunk)
    told.publications = table = table.drop_columns(["after", "process", "step", "key"])  # the largest: let it go
    del after, free, order, causes, effects, own

    attendance = controls_of(told)
    selects = any(split_filter(m.filter)[1] is not None for one in attendance.values() for m in one.memberships)
    sets, headers, codes_of_sets = set_codes(table.column("groups"), table.column("headers") if selects else None)
    about = {
        "quiet": all(a.end_reason == "quiet" for a in attendance.values() if a.correct),
        "roles": told.roles,
        "unknown_causes": unknown,
        "headers": headers,
    }
    messages = build_messages(
        key=key,
        names=table.column("message"),
        time_us=time_us,
        parent=np.concatenate(parents),
        child=np.concatenate(children),
        deadline_us=filled(table.column("deadline_us")),
        expires_us=filled(table.column("expires_us")),
        publisher=process,
        set=codes_of_sets,
        sets=sets,
        processes=processes,
        about=about,
    )
    if len(loose):
        messages.extra = {"loose": messages.find(key[loose])}
    return messages, aside


def unordered_rows(after: Any) -> Ints:
    """Which publications follow nothing, and are followed by nothing."""
    found = np.zeros(len(after), bool)
    row = 0
    for chunk in after.chunks:
        named = pc.list_flatten(chunk).to_numpy().view(np.uint64)
        found[pc.list_parent_indices(chunk).to_numpy()[np.isin(named, UNORDERED_KEYS)] + row] = True
        row += len(chunk)
    return found


def published_again(
    table: Any, key: Ints, process: Ints, step: Ints, time_us: Ints, processes: list[str]
) -> tuple[list[tuple[str, int, str, str]], Ints]:
    """A message is what was published first; who published it again is set aside."""
    order = np.argsort(key, kind="stable")
    again = np.zeros(len(key), bool)
    if not (key[order[1:]] == key[order[:-1]]).any():
        return [], again
    order = np.lexsort((step, process, time_us, key))
    again[order[1:]] = key[order[1:]] == key[order[:-1]]
    names, aside = table.column("message"), []
    firsts = order[np.searchsorted(key[order], key[again])]
    for row, first in zip(np.flatnonzero(again).tolist(), firsts.tolist(), strict=True):
        name = names[row].as_py()
        if name != names[first].as_py():
            raise InputError(f"{name} and {names[first]} have the same key: rename one of them")
        reason = f"{name} is published again (first by {processes[process[first]]})"
        aside.append((processes[process[row]], int(step[row]), name, reason))
    return aside, again


def recode(column: Any, number_of: dict[str, int]) -> Ints:
    coded = Coded.of(column)
    return coded.recoded(lambda name: number_of[name], -1, np.int32)


def filled(column: Any) -> Ints:
    return np.asarray(column.fill_null(int(NONE_US)).to_numpy())


def set_codes(groups: Any, headers: Any = None) -> tuple[list[list[str]], list[str], Ints]:
    """The different sets of topics - where headers are given: of topics and headers - and for each row the number of
    its own. (Where nobody selects by content, headers tell no two messages apart.)"""
    compute: Any = pc
    joined = compute.binary_join(groups.cast(pa.list_(pa.string())), "\x00").fill_null("")
    if headers is None:
        coded = Coded.of(joined)
        return [_topics(text) for text in coded.words], [], coded.codes
    both = compute.binary_join_element_wise(joined, headers.fill_null(""), "\x00\x00")
    coded = Coded.of(both)
    parts = [text.rpartition("\x00\x00") for text in coded.words]  # JSON holds no NUL
    return [_topics(topics) for topics, _, _ in parts], [told for _, _, told in parts], coded.codes


def _topics(text: str) -> list[str]:
    return [topic for topic in text.split("\x00") if topic]
