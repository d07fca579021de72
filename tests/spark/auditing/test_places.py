"""Tables of other systems: the kernel says what its slow twin says, by parents and by clocks."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.spark.auditing import places
from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.places import Clocks, clock_edges, table_messages


def clocks_of(rows: list[dict[str, int]], own: list[str] | None = None) -> tuple[Clocks, list[str]]:
    hosts = sorted({h for row in rows for h in row})
    at = np.cumsum([0, *(len(row) for row in rows)])
    entries = [(hosts.index(h), n) for row in rows for h, n in row.items()]
    host, count = (np.array([e[n] for e in entries], np.int64) for n in (0, 1))
    mine = np.full(len(rows), -1) if own is None else np.array([hosts.index(h) for h in own])
    return Clocks(at, host, count, mine), hosts


def closed(parent: np.ndarray, child: np.ndarray, size: int) -> list[set[int]]:
    past: list[set[int]] = [set() for _ in range(size)]
    for _ in range(size):
        for a, b in zip(parent.tolist(), child.tolist(), strict=True):
            past[b] |= past[a] | {a}
    return past


def before(narrow: dict[str, int], wide: dict[str, int]) -> bool:
    return narrow != wide and all(wide.get(host, 0) >= count for host, count in narrow.items())


def random_clocks(dice: random.Random, size: int) -> tuple[list[dict[str, int]], list[str]]:
    """Events of some hosts that hear of each other now and then."""
    now: dict[str, dict[str, int]] = {h: {} for h in "abcd"}
    rows, own = [], []
    for _ in range(size):
        host = dice.choice("abcd")
        if rows and dice.random() < 0.5:
            for other, count in dice.choice(rows).items():
                now[host][other] = max(now[host].get(other, 0), count)
        now[host][host] = now[host].get(host, 0) + 1
        rows.append(dict(now[host]))
        own.append(host)
    return rows, own


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("seed", range(15))
def test_clocks_become_the_same_past(seed: int, told: bool) -> None:
    dice = random.Random(seed)
    rows, own = random_clocks(dice, 40)
    if seed % 3 == 2:  # some rows are not in the table
        chosen = sorted(dice.sample(range(40), 30))
        rows, own = [rows[n] for n in chosen], [own[n] for n in chosen]
    clocks, hosts = clocks_of(rows, own if told else None)
    parent, child, missing = clock_edges(clocks, None)
    past = closed(parent, child, len(rows))
    assert past == [{a for a in range(len(rows)) if before(rows[a], rows[b])} for b in range(len(rows))]
    if told:
        steps = {(h, row[h]) for row, h in zip(rows, own, strict=True)}
        absent = {(h, n) for row in rows for h, n in row.items()} - steps
        assert {(hosts[h], n) for _, h, n in missing} == absent


def test_clocks_that_are_none_are_compared_pair_by_pair_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"a": 1, "b": 1}, {"a": 1, "b": 1}, {"a": 2}, {"a": 2, "b": 1}]
    clocks, _ = clocks_of(rows)
    parent, child, _ = clock_edges(clocks, None)
    assert closed(parent, child, 4) == [{a for a in range(4) if before(rows[a], rows[b])} for b in range(4)]
    monkeypatch.setattr(places, "COMPARED", 3)
    with pytest.raises(InputError, match="name the column of the host"):
        clock_edges(clocks, None)


def test_rows_of_one_id_are_joined_and_odd_ones_named() -> None:
    ids = ["a", "b", "b", "c"]
    lists = [[], ["a"], ["a", "x"], ["c", "a"]]
    at = np.cumsum([0, *map(len, lists)])
    parents = keys_of([p for row in lists for p in row])
    table = table_messages(pa.array(ids), keys_of(ids), np.arange(4), at, parents)
    assert table.messages.count == 2
    assert table.doubts == [("b", "comes with different parents in different rows: all of them are taken")]
    assert table.aside == [("c", "c is among its own causes")]
    assert table.absent_keys.tolist() == keys_of(["x"]).tolist()
    [b] = table.messages.find(keys_of(["b"])).tolist()
    assert table.absent[table.absent_at[b] : table.absent_at[b + 1]].tolist() == [0]
