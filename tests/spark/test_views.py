"""What comes after what at each receiver, held against happened-before as the oracle has it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.spark.views import TELLING, causes_by_view
from antecede.trace.history import History, bits
from antecede.trace.pairs import Receiver
from antecede.trace.record import Row, arrow_schema
from tests.trace.tables import rows as told_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCENARIOS = {
    "home": Scenario(recipe="home", messages=60, loss=0.1, seed=4, declare=0.4, groups="G1=A,B,C;G2=A,B,D"),
    "graph": Scenario(recipe="graph", messages=60, loss=0.1, seed=5, declare=0.3, deadline_ms=(200.0, 400.0)),
    "cbcast": Scenario(recipe="cbcast", messages=60, loss=0.1, seed=6),
    "mixed": Scenario(recipe="home", messages=60, loss=0.1, seed=7, mix="causal=0.6,none=0.4"),
    "churning": Scenario(recipe="home", messages=60, loss=0.1, seed=8, subscribers=6, join=0.5, leave=0.5, grow=1.0),
}


@cache
def rows_of(name: str) -> tuple[Row, ...]:
    return tuple(Row._make(row) for row in simulate(SCENARIOS[name]).rows)


def as_table(rows: tuple[Row, ...] | list[Row]) -> pa.Table:
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in arrow_schema()}
    return pa.table(columns, arrow_schema())


def expected(rows: tuple[Row, ...]) -> dict[tuple[str, str], list[str]]:
    """(process, message) -> its parents there, the obvious way: by the oracle's history, and what it says is owed."""
    history = History(rows)
    found = {}
    for process in history.processes:
        receiver = Receiver(process, history)
        if not receiver.memberships:
            continue
        for told in history.messages:
            latest: dict[str, int] = {}
            for other in (history.messages[place] for place in bits(told.ancestors & (receiver.pairs | receiver.own))):
                sender, _, number = other.id.rpartition(":")
                latest[sender] = max(latest.get(sender, 0), int(number))
            found[process, told.id] = sorted(f"{sender}:{number}" for sender, number in latest.items())
    return found


@pytest.mark.parametrize("name", SCENARIOS)
def test_parents_are_the_latest_of_each_sender_that_could_come(name: str) -> None:
    table = as_table(rows_of(name)).select(list(TELLING))
    causes = causes_by_view(table).to_pylist()
    of = {row["process"]: row["audience"] for row in causes_by_view(table, audiences_only=True).to_pylist()}
    by_place = {(row["audience"], row["message"]): sorted(row["parents"]) for row in causes}
    wanted = expected(rows_of(name))
    assert len(wanted) > 200
    assert {place: by_place[of[place[0]], place[1]] for place in wanted} == wanted


def parents_at(text: str, process: str) -> dict[str, list[str]]:
    table = as_table(told_rows(text)).select(list(TELLING))
    audience = {r["process"]: r["audience"] for r in causes_by_view(table, audiences_only=True).to_pylist()}[process]
    return {r["message"]: r["parents"] for r in causes_by_view(table).to_pylist() if r["audience"] == audience}


def test_an_unordered_message_follows_nothing_and_is_followed_by_nothing() -> None:
    text = """
    q 0 join G
    p 1 publish p:1 G
    p 2 publish p~:1 G after=-
    p 3 publish p:2 G
    q 4 deliver p~:1
    q 5 publish q:1 G
    """
    assert parents_at(text, "q") == {"p:1": [], "p~:1": [], "p:2": ["p:1"], "q:1": []}


def test_every_join_has_its_own_cut() -> None:
    text = """
    p 1 publish p:1 G
    p 2 publish p:2 H
    p 3 publish p:3 H
    q 4 join G cut=p:1
    q 5 join H cut=p:2
    p 6 publish p:4 G,H
    """
    assert parents_at(text, "q")["p:4"] == ["p:3"]
    assert parents_at(text.replace("cut=p:1", ""), "q")["p:4"] == ["p:3"]
    assert parents_at(text.replace("cut=p:1", "").replace("cut=p:2", "cut=p:3"), "q")["p:4"] == ["p:1"]


def test_records_that_contradict_themselves_are_refused() -> None:
    rows = [
        Row("r", "a", "member", 0, 0, "publish", "a:1", ("G",), after=("b:1",)),
        Row("r", "b", "member", 0, 0, "publish", "b:1", ("G",), after=("a:1",)),
    ]
    with pytest.raises(InputError, match="its own cause"):
        causes_by_view(as_table(rows).select(list(TELLING)))


def test_every_arrival_and_own_publication_is_there_once(spark: SparkSession) -> None:
    from antecede.spark.views import arrivals

    rows = [*rows_of("home"), Row("home-repaired-4", "S1", "subscriber", 10**6, 5, "arrive", "S9:7")]
    df = arrivals(spark.createDataFrame(as_table(rows)), ["S1", "S2"])
    found = [row.asDict() for row in df.collect()]
    wanted = expected(rows_of("home"))

    def place(row: Any) -> tuple[str, str, int]:
        return row.process, row.message, row.at_us

    came = [row for row in rows if row.kind in ("arrive", "publish") and row.process in ("S1", "S2")]
    assert sorted((r["receiver"], r["message"], r["arrived_us"]) for r in found) == sorted(map(place, came))
    for row in found:
        if row["message"] == "S9:7":
            assert row["fault"] == "nobody published it"
        else:
            assert row["fault"] is None and row["view"] == f"{row['run']}/{row['receiver']}"
            assert sorted(row["parents"]) == wanted[row["receiver"], row["message"]]
            assert f"{row['sender']}:{row['seq']}" == row["message"] and row["topics"] and row["sent_us"] is not None
