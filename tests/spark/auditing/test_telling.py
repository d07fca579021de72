"""What rows tell: publications with keys, attendance, who took part, and rows that cannot be used."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa

from antecede.spark.auditing import telling
from antecede.spark.auditing.keys import keys_of
from antecede.trace.record import arrow_schema
from tests.spark.auditing.rig import cut_up
from tests.trace.tables import rows

STORY = """
p 0 join G1 guard=5 cut=q:3 from=A
p 10 publish p:1 G1,G2 due=100 after=q:1
p 11 publish p:2 G1 true=7
q 20 arrive p:1 from=p
q 20 deliver p:1
s 90 end quiet
"""


def table() -> pa.Table:
    return cut_up(rows(STORY), random.Random(0), cuts=0)[0]


def test_publications() -> None:
    first, second = telling.publications(table()).to_pylist()
    assert first["groups"] == ["G1", "G2"] and first["deadline_us"] == 100 and first["time_us"] == 10
    assert first["after"] == keys_of(["q:1"]).view(np.int64).tolist() and second["after"] is None
    assert first["key"] == keys_of(["p:1"]).view(np.int64)[0] and second["time_us"] == 7


def test_controls_and_roles() -> None:
    join, end = telling.controls(table()).to_pylist()
    assert (join["kind"], join["guard_us"], join["peer"]) == ("join", 5, "A")
    assert join["cut"] == keys_of(["q:3"]).view(np.int64).tolist()
    assert (end["process"], end["kind"], end["reason"]) == ("s", "end", "quiet")
    assert telling.roles(table()) == {"p": "member", "q": "member", "s": "subscriber"}


def test_deliveries_are_heard() -> None:
    [one] = telling.heard(table()).to_pylist()
    assert one == {"process": "q", "step": 1, "key": keys_of(["p:1"]).view(np.int64)[0]}


def test_columns_of_nulls_from_other_writers_are_read() -> None:
    names = arrow_schema().names
    bare = table().drop_columns(["after", "cut", "true_us"])
    for name in ("after", "cut", "true_us"):
        bare = bare.append_column(name, pa.nulls(len(bare)))
    bare = bare.select(names)
    assert telling.publications(bare).column("after").null_count == 2
    assert telling.controls(bare).column("cut").null_count == 2


def test_rows_that_cannot_be_used() -> None:
    odd = rows(STORY)
    odd[3] = odd[3]._replace(message=None)
    odd[5] = odd[5]._replace(kind="dance")
    found = telling.faults(cut_up(odd, random.Random(0), cuts=0)[0])
    assert found == [("q", 0, "arrive names no message"), ("s", 0, "there is no kind of row called 'dance'")]
    assert telling.faults(table()) == []


def test_what_is_gathered() -> None:
    mine = table()
    told = telling.gather(
        [telling.publications(mine)], [telling.controls(mine)], telling.roles(mine), [telling.heard(mine)]
    )
    assert told.publications.num_rows == 2 and set(told.controls) == {"p", "s"}
    assert told.heard is not None and told.heard[0] == ["q"]
    empty = telling.gather([], [], {}, [])
    assert empty.publications.num_rows == 0 and empty.heard is None
