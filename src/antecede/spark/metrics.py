"""What an ordered stream tells of itself in every batch: rows in, rows by fate, rows held, and the age of the oldest.

    query.lastProgress.observedMetrics["causal_order"]     one batch, as Spark keeps it (of two in a session: "... 2")
    stream_metrics(query.lastProgress)                     the same as a plain dictionary; {} where it tells of none

Decided in this file: `observe` sees rows that flow, and what is held does not flow. So the operator sends one row of
its own for each key of its state, a tally: what the key took in and let out in this batch, and what it holds now. The
observation adds them up and they end there. Keys in which nothing arrived are asked too, from a small value beside
their state, so what is `held` is all that is held. Only in a batch without any input, in which Spark lets nothing but
deadlines pass, nobody can ask: there `held` is null, and `Totals` goes on from the batch before.

An age is on the scale of the rows' own arrivals: the latest arrival that was seen less the arrival of the oldest row
that waits. Where no column says when a row arrived there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pyarrow as pa
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from antecede.spark.order.arrow import compute, table_of
from antecede.spark.order.domain import FATES

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["OUTPUT", "Tallied", "Totals", "asking", "observed", "stream_metrics"]

NAME = "causal_order"
FIELDS = ("rows_in", *FATES, "held", "since_us", "clock_us")
"""Of a tally. `since_us`: when the oldest row that waits arrived; `clock_us`: the latest arrival so far."""
OUTPUT = "chunk binary, tally array<bigint>"
SAVED = "held bigint, since_us bigint, clock_us bigint, armed bigint"

_STREAMS: WeakKeyDictionary[SparkSession, int] = WeakKeyDictionary()
"""How many streams each session has ordered: in one query no two observations may have the same name."""


class Tallied(StatefulProcessor):
    """The order operator `inner`, and after what it lets out the tally of its key.

    `arrived`: the column of its rows that says when they came; None: nothing does. `timed`: whether it sets timers.
    """

    def __init__(self, inner: Any, arrived: str | None, timed: bool) -> None:
        self.inner, self.arrived, self.timed = inner, arrived, timed

    def init(self, handle: Any) -> None:
        self.inner.init(handle)
        self.saved = handle.getValueState("tally", SAVED)

    # Spark calls the following by these names, and hands over its arguments by theirs.
    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        import pandas as pd

        chunks = [chunk for frame in rows for chunk in frame["chunk"] if chunk is not None]
        if not chunks:
            yield from self._asked(timerValues)
            return
        tables = [table_of(chunk) for chunk in chunks]
        latest = max((us for table in tables for us in self._arrivals(table, "max")), default=None)
        out = self.inner.handleInputRows(key, iter([pd.DataFrame({"chunk": chunks})]), timerValues)
        yield from self._told(out, sum(table.num_rows for table in tables), latest, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        yield from self._told(self.inner.handleExpiredTimer(key, timerValues, expiredTimerInfo), 0, None, None)

    def close(self) -> None:
        self.inner.close()

    def _told(
        self, frames: Iterator[pd.DataFrame], rows_in: int, latest: int | None, timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        """What `inner` says, and its tally."""
        fates = dict.fromkeys(FATES, 0)
        for frame in frames:
            for chunk in frame["chunk"]:
                for one in compute.value_counts(table_of(chunk)["fate"]).to_pylist():
                    fates[one["values"]] += one["counts"]
            yield frame.assign(tally=None)
        chunks, armed = self.inner.left
        held = sum(chunk.batch.num_rows for chunk in chunks)
        since = min((us for chunk in chunks for us in self._arrivals(chunk.batch, "min")), default=None)
        before = self.saved.get()
        clock = max((us for us in (latest, before[2] if before is not None else None) if us is not None), default=None)
        self.saved.update((held, since, clock, armed))
        holds = [None, None, None] if self._fires(armed, timerValues) else [held, since, clock]
        yield _row([rows_in, *fates.values(), *holds])

    def _asked(self, timerValues: Any) -> Iterator[pd.DataFrame]:
        """What a key holds in which nothing arrived."""
        saved = self.saved.get()
        if saved is None:
            yield _row([0] * (2 + len(FATES)) + [None, None])
        elif not self._fires(saved[3], timerValues):
            yield _row([0] * (1 + len(FATES)) + list(saved[:3]))

    def _fires(self, armed: int | None, timerValues: Any) -> bool:
        """Whether the timer of the key falls due in this batch, after its input: then that tells what is held."""
        if not self.timed or timerValues is None or armed is None:
            return False
        return bool(armed <= timerValues.getCurrentWatermarkInMs())

    def _arrivals(self, table: pa.RecordBatch, which: str) -> Iterator[int]:
        """The earliest or the latest arrival in microseconds, if there is any."""
        if self.arrived is not None and table.num_rows:
            column = table[self.arrived]
            if not pa.types.is_integer(column.type):
                column = column.cast(pa.timestamp("us", getattr(column.type, "tz", None))).cast(pa.int64())
            value = compute.min_max(column)[which].as_py()
            if value is not None:
                yield value


def _row(tally: list[int | None]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame({"chunk": [None], "tally": [tally]})


def asking(
    into: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]], keys: int
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """`into`, which makes chunks; the first task then asks every key, with a chunk that is null."""

    def ask(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        yield from into(batches)
        context = TaskContext.get()
        if context is not None and context.partitionId() == 0:
            columns: list[Any] = [pa.array(range(keys), pa.int32()), pa.nulls(keys, pa.binary())]
            yield pa.RecordBatch.from_arrays(columns, ["_key", "chunk"])

    return ask


def observed(told: DataFrame, keys: int) -> DataFrame:
    """The chunks of the operator; its tallies are added up, and end here. All `keys` keys must tell what they hold."""
    from pyspark.sql import functions as f

    session = told.sparkSession
    number = _STREAMS[session] = _STREAMS.get(session, 0) + 1
    of = {name: f.col("tally")[place] for place, name in enumerate(FIELDS)}
    sums = [f.coalesce(f.sum(of[name]), f.lit(0)).alias(name) for name in ("rows_in", *FATES)]
    all_told = f.count(of["held"]) == keys
    holds = [
        f.when(all_told, f.sum(of["held"])).alias("held"),
        f.when(all_told, f.max(of["clock_us"]) - f.min(of["since_us"])).alias("oldest_held_us"),
    ]
    whole = told.observe(NAME if number == 1 else f"{NAME} {number}", *sums, *holds)
    return whole.where(f.col("chunk").isNotNull()).select("chunk")


def stream_metrics(progress: Mapping[str, Any] | None) -> dict[str, int | None]:
    """What a batch tells of the ordered streams of its query: `rows_in`, rows by fate, `held`, `oldest_held_us`.

    `progress`: `query.lastProgress`, or one of `query.recentProgress`. Of several streams in a query, all together.
    """
    found = [of for name, of in ((progress or {}).get("observedMetrics") or {}).items() if name.startswith(NAME)]
    plain = [of.asDict() if hasattr(of, "asDict") else dict(of) for of in found]
    whole: dict[str, int | None] = {}
    for name in plain[0] if plain else ():
        told = [one[name] for one in plain]
        known = [value for value in told if value is not None]
        if name == "oldest_held_us":
            whole[name] = max(known, default=None)
        else:
            whole[name] = sum(known) if len(known) == len(told) else None
    return whole


class Totals:
    """The batches of a query, added up as they are told."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[str, int | None]] = {}

    def add(self, progress: Mapping[str, Any] | None) -> None:
        """A batch that was told before, and what is no batch, change nothing."""
        told = stream_metrics(progress)
        if progress is not None and told:
            self.seen[progress["batchId"]] = told

    @property
    def held(self) -> int | None:
        """Rows that wait after the last batch: as the last that could tell told, less what went out since."""
        went = 0
        for number in sorted(self.seen, reverse=True):
            told = {name: value or 0 for name, value in self.seen[number].items()}
            if self.seen[number].get("held") is not None:
                return told["held"] - went
            went += sum(told[fate] for fate in FATES) - told["rows_in"]
        return None

    @property
    def oldest_held_us(self) -> int | None:
        """The age of the oldest row that waits; None also where the last batch could not tell."""
        return self.seen[max(self.seen)].get("oldest_held_us") if self.seen else None

    def text(self) -> str:
        """For people: 12,300 rows in, 12,000 delivered, 3 late, 297 held, the oldest for 1.2 s."""
        if not self.seen:
            return ""
        sums = {name: sum(one.get(name) or 0 for one in self.seen.values()) for name in ("rows_in", *FATES)}
        parts = [f"{sums['rows_in']:,} rows in", f"{sums['delivered']:,} delivered"]
        parts += [f"{sums[fate]:,} {fate}" for fate in FATES[1:] if sums[fate]]
        if self.held is not None:
            parts.append(f"{self.held:,} held")
        age = self.oldest_held_us
        return ", ".join(parts) + (f", the oldest for {age / 1e6:,.1f} s" if age is not None else "")
