"""A streaming query that waits to be killed: `python victim.py RUNS CHECKPOINT TABLE OPERATOR POINT BATCH MARK`.

It reads RUNS, applies OPERATOR, writes TABLE, batch by batch, until all is written. At POINT of the batch whose number
counts BATCH from the first it runs (0 is the one that the kill before cut off, or the first of all), it touches MARK
and stands still. Only these subclasses know how to stand still; the product does not.

    offset    Spark has noted what the batch holds, no task has begun
    file      a task has begun its data file
    data      all data files are whole, there is no manifest
    manifest  the manifest is there, Spark has not noted that the batch is done
    next      Spark has noted it, and asks for the next
    never     it runs to the end
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
MAX_ROWS = 400


def stand_still(point: str, batch: int) -> None:
    if os.environ["VICTIM_POINT"] == point and batch >= int(os.environ["VICTIM_BATCH"]):
        Path(os.environ["VICTIM_MARK"]).touch()
        time.sleep(300)
        os._exit(1)


def main() -> None:
    from pyspark import TaskContext

    from antecede.spark.sessions import session
    from antecede.spark.source import AntecedeSource, StreamReader, StreamWriter

    runs, checkpoint, table, operator, point, batch, mark = sys.argv[1:]
    done = [int(path.name) for path in Path(checkpoint, "commits").glob("[0-9]*")]
    first = max(done, default=-1) + 1
    os.environ |= {"VICTIM_POINT": point, "VICTIM_BATCH": str(first + int(batch)), "VICTIM_MARK": mark}

    class Writer(StreamWriter):
        def write(self, iterator: Iterator[Any]) -> Any:
            def slowly() -> Iterator[Any]:
                for rows in iterator:
                    yield rows
                    stand_still("file", int(TaskContext.get().getLocalProperty("streaming.sql.batchId")))

            return super().write(slowly())

        def commit(self, messages: Any, batchId: int) -> None:
            stand_still("data", batchId)
            super().commit(messages, batchId)
            stand_still("manifest", batchId)

    class Reader(StreamReader):
        asked = planned = first

        def latestOffset(self, start: Any = None, limit: Any = None) -> Any:
            if start and start["files"]:
                stand_still("next", self.asked)
            self.asked += 1
            return super().latestOffset(start, limit)

        def partitions(self, start: Any, end: Any) -> Any:
            stand_still("offset", self.planned)
            self.planned += 1
            return super().partitions(start, end)

    class Source(AntecedeSource):
        def streamReader(self, schema: Any) -> Any:
            reader = super().streamReader(schema)
            return Reader(reader.settings, reader.schema)  # type: ignore[attr-defined]

        def streamWriter(self, schema: Any, overwrite: bool) -> Any:
            return Writer(self.target(schema, overwrite))

    spark = session("local[2]", settings={"spark.driver.memory": "512m", "spark.sql.shuffle.partitions": 2})
    spark.dataSource.register(Source)
    module, _, name = operator.partition(":")
    apply = getattr(importlib.import_module(module), name)
    frame = apply(spark.readStream.format("antecede").option("max_rows", MAX_ROWS).load(runs))
    writer = frame.writeStream.format("antecede").option("checkpointLocation", checkpoint)
    writer.trigger(availableNow=True).start(table).awaitTermination()
    spark.stop()


if __name__ == "__main__":
    main()
