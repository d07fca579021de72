"""What is measured of a run: by hand for a small one, and the same however many processes measure."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from antecede.sim.metrics import SHOWN, STEPS, means, measure, measure_seeds, most_kept, quantile, write_metrics
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario

SMALL = Scenario(recipe="graph", messages=20, delay_ms=(10, 10), groups="G1=A,B", brokers=2, subscribers=4, homes=1)


def test_without_loss_everything_is_measured_as_it_is() -> None:
    row = measure(simulate(SMALL))
    assert row["reach"] == 1 and row["violations"] == row["overflowed"] == 0 and row["quiet"]
    # One hop of 10 ms to its own subscribers, two to those of the other broker: within one round of 50 ms.
    assert row["p95_ms"] == 20 and row["steps_to_99"] == row["steps_to_all"] == 1 and row["messages_to_all"] == 1
    assert row["reach_by_step"] == [0.0] + [1.0] * STEPS
    assert row["kept_broker"] == 20 and 1 <= row["held_subscriber"] <= 3
    # Each message weighs what it did when it came: its payload, its names and its stamp.
    assert row["kept_bytes_broker"] == row["published_bytes"] > 20 * 32
    assert 32 < row["held_bytes_subscriber"] / row["held_subscriber"] < row["published_bytes"] / 20 + 32
    assert (
        0 < row["control_frames"] < row["frames"]
        and row["control_bytes"] < row["bytes"]
        and row["copies_per_pair"] >= 1
    )


def test_throughput_is_of_those_who_did_not_sleep() -> None:
    from dataclasses import replace

    offered = measure(simulate(SMALL))["throughput"]
    assert offered == pytest.approx(SMALL.rate, rel=0.35)
    done = simulate(replace(SMALL, perturb="some:0.4", nap_ms=30))
    assert done.naps and set(done.summary()["naps_us"]) == set(done.naps)
    assert all(begin < end for naps in done.naps.values() for begin, end in naps)
    assert measure(done)["throughput"] is not None


def test_whom_it_never_reaches_is_left_out_of_the_steps_and_in_the_reach() -> None:
    row = measure(simulate(Scenario(recipe="lpbcast-once", messages=10, fanout=1, subscribers=20, loss=0.3)))
    assert row["reach"] < 1 and row["messages_to_all"] < 1 and row["reach_by_step"][-1] < 1


def test_quantiles_and_memory() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0 and quantile([], 0.5) is None
    run = simulate(SMALL)
    assert most_kept(run) == max(most_kept(run, "broker"), most_kept(run, "subscriber"))


def test_many_seeds_are_the_same_as_one_by_one(tmp_path: Path) -> None:
    from dataclasses import replace

    steps: list[int] = []
    rows = measure_seeds(SMALL, 2, lambda: steps.append(1))
    assert rows == [measure(simulate(replace(SMALL, seed=seed))) for seed in (0, 1)] and len(steps) == 2
    table = means(rows)
    assert set(table) == set(SHOWN) and table["reach"] == (1.0, 0.0)
    read = pq.read_table(write_metrics(rows, tmp_path / "made")).to_pylist()
    assert [row["seed"] for row in read] == [0, 1] and read[0]["reach_by_step"] == rows[0]["reach_by_step"]
