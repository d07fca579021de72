"""One receiver: what stands at one position has no order, and everything else is judged."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pyarrow as pa

from antecede.spark.auditing.keys import keys_of
from antecede.spark.auditing.messages import build_messages
from antecede.spark.auditing.visit import in_order
from tests.spark.auditing.places_twin import Place
from tests.spark.auditing.rig import table_audited
from tests.spark.auditing.test_table_tasks import tables_of


def test_deliveries_at_one_position_have_no_order_and_the_rest_is_judged(tmp_path: Path) -> None:
    places = [
        Place("r", 0, "b", ("a",)), Place("r", 0, "a"), Place("r", 1, "d", ("c",)), Place("r", 2, "c"),
        Place("r", 2, "e", ("c",)),
    ]  # fmt: skip
    result = table_audited(tables_of(places, random.Random(1)), tmp_path)
    [found] = result["finding"]
    assert (found["verdict"], found["message"], found["other"]) == ("inversion", "c", "d")
    [row] = result["doubt"]
    assert row["text"] == (
        "receiver r has 4 deliveries at the position of another, the first at 0: they have no order among themselves"
    )
    assert "quarantine" not in result


def test_places_are_by_position_and_then_by_name() -> None:
    ids = ["z", "y", "x", "w"]
    messages = build_messages(
        key=keys_of(ids), names=pa.array(ids), time_us=np.arange(4), parent=np.zeros(0, int), child=np.zeros(0, int)
    )
    message = messages.find(keys_of(ids))
    order, ties = in_order(message, np.array([7, 7, 2, 7]), messages)
    assert [ids[place] for place in order] == ["x", "w", "y", "z"] and ties.tolist() == [1, 2, 3]
    order, ties = in_order(message, np.array([4, 3, 2, 1]), messages)
    assert order.tolist() == [3, 2, 1, 0] and not len(ties)
