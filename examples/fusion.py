"""Fusion by causal cuts, next to windows of arrival time, on the same lossy runs: which results count an effect without
its cause?

Four motes measure humidity; a fifth, the head, hears them and reports the highest value of each round; the next round
follows its report. All publish through brokers whose links lose, double and delay. A watcher that publishes nothing
fuses what arrives: the latest reading of every mote, ten times a second. A window of arrival time takes what is there;
`fuse` takes the largest consistent cut of what `causal_order` delivered. Both are judged by what every message knew of,
recomputed from the records of the run.

    python examples/fusion.py --out fusion.png                    drawn readings
    python examples/fusion.py --readings sensor_readings.csv      columns mote_id, humidity; readings in their order
"""

from __future__ import annotations

import argparse
import csv
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from antecede.errors import InputError
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.history import History, bits
from antecede.trace.record import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TOPICS = ("motes/indoor/1", "motes/indoor/2", "motes/outdoor/3", "motes/outdoor/4", "head")
SENDERS = ("S1", "S2", "S3", "S4", "S5")
"""Who publishes in the run: the motes and the head, in the order in which they first speak."""
WATCHER = "S6"
EVERY_US = 100_000
LOSSES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)


# -- the readings ------------------------------------------------------------------------------------------------------


def read_rounds(path: Path, first: int, count: int) -> list[list[float]]:
    """Humidity of the four motes, round by round."""
    motes: dict[str, list[float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            motes.setdefault(row["mote_id"], []).append(float(row["humidity"]))
    if len(motes) != 4:
        raise InputError(f"{path} holds {len(motes)} motes, not 4.")
    return [list(values) for values in zip(*motes.values(), strict=False)][first : first + count]


def draw_rounds(count: int, seed: int = 1) -> list[list[float]]:
    """The same, drawn: calm rooms, and steam at the first mote in the middle of the run."""
    dice = Random(seed)
    base = [44.0, 46.0, 51.0, 51.0]
    rounds = []
    for number in range(count):
        base = [value + dice.uniform(-0.15, 0.15) for value in base]
        since = number - count // 3
        steam = 45.0 * math.exp(-since / (count / 6)) if since >= 0 else 0.0
        rounds.append([round(base[0] + steam, 2), *(round(value, 2) for value in base[1:])])
    return rounds


@dataclass(frozen=True)
class Spoken:
    """A message before it is published: who, after what, and what it says."""

    sender: str
    parents: tuple[str, ...]
    topic: str
    humidity: float


def conversation(rounds: Sequence[Sequence[float]]) -> dict[str, Spoken]:
    """Each mote speaks after the head's last report, the second of a pair after the first; the head after all four."""
    said: dict[str, Spoken] = {}
    report: tuple[str, ...] = ()
    for number, values in enumerate(rounds, 1):
        names = [f"{sender}:{number}" for sender in SENDERS]
        own = [(f"{sender}:{number - 1}",) if number > 1 else () for sender in SENDERS]
        after = [report, (*report, names[0]), report, (*report, names[2]), tuple(names[:4])]
        for place, sender in enumerate(SENDERS):
            value = max(values) if place == 4 else values[place]
            said[names[place]] = Spoken(sender, tuple(dict.fromkeys(own[place] + after[place])), TOPICS[place], value)
        report = (names[4],)
    return said


# -- the run -----------------------------------------------------------------------------------------------------------


def lossy_run(said: Mapping[str, Spoken], loss: float, seed: int) -> list[Row]:
    """The conversation through three brokers, over links that lose this share of all copies."""
    table = pa.table(
        {
            "message": list(said),
            "sender": [spoken.sender for spoken in said.values()],
            "seq": [int(name.split(":")[1]) for name in said],
            "sent_at_us": pa.nulls(len(said), pa.int64()),
            "parents": pa.array([list(spoken.parents) for spoken in said.values()], pa.list_(pa.string())),
        }
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.parquet"
        pq.write_table(table, path)
        scenario = Scenario(
            recipe="home",
            brokers=3,
            subscribers=len(SENDERS) + 1,
            groups="G1=A,B,C",
            loss=loss,
            duplicate=0.03,
            spike=0.05,
            delay_ms=(5.0, 40.0),
            deadline_ms=(250.0, 500.0),
            rate=50.0,
            workload=str(path),
            seed=seed,
        )
        return [Row._make(row) for row in simulate(scenario).rows]


def clocks_of(rows: list[Row]) -> dict[str, dict[str, int]]:
    """What every message knew of: sender -> number, its whole past, from the records alone."""
    history = History(rows)
    clocks = {}
    for told in history.messages:
        clock: dict[str, int] = {}
        for place in bits(told.ancestors | told.bit):
            sender, _, number = history.messages[place].id.rpartition(":")
            clock[sender] = max(clock.get(sender, 0), int(number))
        clocks[told.id] = clock
    return clocks


def arrivals(run: str, rows: list[Row], said: Mapping[str, Spoken], clocks: Mapping[str, dict[str, int]]) -> pa.Table:
    """What reached the watcher, as it came, with what the messages said: the input of any fusion."""
    deadlines = {row.message: row.deadline_us for row in rows if row.kind == "publish"}
    came = [row for row in rows if row.kind == "arrive" and row.process == WATCHER and row.message is not None]
    names = [row.message for row in came if row.message is not None]
    return pa.table(
        {
            "run": [run] * len(came),
            "message": names,
            "sender": [said[name].sender for name in names],
            "clock": pa.array([list(clocks[name].items()) for name in names], pa.map_(pa.string(), pa.int64())),
            "topic": [said[name].topic for name in names],
            "humidity": [said[name].humidity for name in names],
            "deadline_us": pa.array([deadlines[name] for name in names], pa.int64()),
            "arrived_us": pa.array([row.at_us for row in came], pa.int64()),
        }
    )


# -- two ways to fuse --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Result:
    """A fused result: until when, the latest reading (id, humidity) of each sender, and how complete it says it is."""

    until_us: int
    latest: dict[str, tuple[str, float]]
    completeness: float = 1.0

    @property
    def humidity(self) -> float | None:
        """The mean over the motes (the head is no mote)."""
        values = [value for sender, (_, value) in self.latest.items() if sender != SENDERS[4]]
        return math.fsum(values) / len(values) if values else None


def windows(table: pa.Table) -> list[Result]:
    """Tumbling windows of arrival time: at the end of each, the latest reading of every sender that has arrived."""
    latest: dict[str, tuple[int, str, float]] = {}
    results = []
    rows = sorted(table.to_pylist(), key=lambda row: row["arrived_us"])
    for place, row in enumerate(rows):
        number = int(row["message"].split(":")[1])
        if row["sender"] not in latest or latest[row["sender"]][0] < number:
            latest[row["sender"]] = (number, row["message"], row["humidity"])
        window = row["arrived_us"] // EVERY_US
        if place + 1 == len(rows) or rows[place + 1]["arrived_us"] // EVERY_US > window:
            results.append(Result((window + 1) * EVERY_US, {s: (m, v) for s, (_, m, v) in latest.items()}))
    return results


def causal_cuts(df: DataFrame) -> DataFrame:
    """The same ten times a second, over causal cuts: two steps of a pipeline."""
    from antecede.spark.fusing import fuse
    from antecede.spark.order import causal_order

    order = causal_order(id="message", clock="clock", sender="sender", group="run", deadline="deadline_us",
                         arrived="arrived_us", foreign="none")  # fmt: skip
    cuts = fuse(id="message", clock="clock", sender="sender", group="run", topic="topic", time="arrived_us",
                values=["humidity"], senders=SENDERS, every_us=EVERY_US)  # fmt: skip
    return df.transform(order).transform(cuts)


def as_results(rows: Sequence[Any]) -> Iterator[Result]:
    for row in sorted(rows, key=lambda row: row["cut"]):
        latest = {entry["sender"]: (entry["id"], entry["humidity"]) for entry in row["latest"]}
        yield Result(row["cut_us"], latest, row["completeness"])


def ahead(result: Result, clocks: Mapping[str, dict[str, int]]) -> int:
    """By how many messages what the result counts knows more than the result counts; 0: no effect without its cause."""
    have = {sender: int(name.split(":")[1]) for sender, (name, _) in result.latest.items()}
    return max(
        (
            number - have.get(sender, 0)
            for name, _ in result.latest.values()
            for sender, number in clocks[name].items()
        ),
        default=0,
    )  # fmt: skip


# -- the comparison ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Compared:
    loss: float
    sent: int
    arrived: int
    windows: list[Result]
    windows_ahead: list[int]
    cuts: list[Result]
    cuts_ahead: list[int]

    @property
    def wrong_windows(self) -> int:
        return sum(far > 0 for far in self.windows_ahead)

    @property
    def wrong_cuts(self) -> int:
        return sum(far > 0 for far in self.cuts_ahead)


def compare(
    spark: SparkSession, rounds: Sequence[Sequence[float]], losses: Sequence[float], seed: int = 3
) -> list[Compared]:
    """One run per share of loss; all of them in one Spark job."""
    said = conversation(rounds)
    tables, clocks = {}, {}
    for loss in losses:
        name = f"loss {loss:.0%}"
        rows = lossy_run(said, loss, seed)
        clocks[name] = clocks_of(rows)
        tables[name] = arrivals(name, rows, said, clocks[name])
    fused: dict[str, list[Any]] = {name: [] for name in tables}
    for row in causal_cuts(spark.createDataFrame(pa.concat_tables(tables.values()))).collect():  # a few thousand
        fused[row["run"]].append(row)
    found = []
    for loss, (name, table) in zip(losses, tables.items(), strict=True):
        seen, cuts = windows(table), list(as_results(fused[name]))
        far = [[ahead(result, clocks[name]) for result in results] for results in (seen, cuts)]
        arrived = len(set(table.column("message").to_pylist()))
        found.append(Compared(loss, len(said), arrived, seen, far[0], cuts, far[1]))
    return found


def by_windows(found: Sequence[Compared]) -> list[float]:
    return [100 * c.wrong_windows / len(c.windows) for c in found]


def by_cuts(found: Sequence[Compared]) -> list[float]:
    return [100 * c.wrong_cuts / len(c.cuts) for c in found]


def by_completeness(found: Sequence[Compared]) -> list[float]:
    return [100 * sum(result.completeness == 1.0 for result in c.cuts) / len(c.cuts) for c in found]


def draw(found: Sequence[Compared], shown: Compared, path: Path) -> None:
    """The figure: one run as both ways see it, and the share of wrong results by loss."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    red, blue, grey = "#c0392b", "#1f5fa8", "#7f858f"
    figure = plt.figure(figsize=(11, 6.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, width_ratios=(1.9, 1), height_ratios=(1.25, 1))
    top, below, side = figure.add_subplot(grid[0, 0]), figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[:, 1])

    start_us = shown.windows[0].until_us
    for results, far, wrong, colour, name, width in (
        (shown.windows, shown.windows_ahead, shown.wrong_windows, red, "arrival windows", 2.2),
        (shown.cuts, shown.cuts_ahead, shown.wrong_cuts, blue, "causal cuts (fuse)", 1.0),
    ):
        seconds = [(result.until_us - start_us) / 1e6 for result in results]
        top.plot(seconds, [result.humidity for result in results], color=colour, lw=width, label=name)
        label = f"{name}: {wrong} of {len(results)} results"
        below.vlines(seconds, 0, far, color=colour, lw=1.2)
        below.plot(seconds, [0] * len(seconds), color=colour, lw=1.4, label=label)
    top.set_title(
        f"One run, {shown.loss:.0%} of all copies lost: what is fused looks alike ...", loc="left", fontsize=11
    )
    top.set_ylabel("mean humidity of the motes, %")
    top.tick_params(labelbottom=False)
    top.legend(frameon=False, loc="upper right")
    below.set_title("... but windows count effects without their causes", loc="left", fontsize=11)
    below.set_ylabel("messages by which an effect\nis ahead of its cause")
    below.set_xlabel("seconds since the first arrival")
    below.set_ylim(-0.15, max(*shown.windows_ahead, 1) * 1.45)
    below.yaxis.get_major_locator().set_params(integer=True)
    below.legend(frameon=False, loc="upper right", ncols=2)
    below.sharex(top)

    losses = [c.loss * 100 for c in found]
    none = ": none" if not any(by_cuts(found)) else ""
    for values, style, colour, text, place in (
        (by_completeness(found), "o--", grey, "causal cuts that say\nthey are complete", (0.04, 0.80)),
        (by_windows(found), "o-", red, "windows that count an\neffect without its cause", (0.04, 0.36)),
        (by_cuts(found), "o-", blue, f"causal cuts that do{none}", (0.40, 0.055)),
    ):
        side.plot(losses, values, style, color=colour, ms=4)
        side.text(*place, text, transform=side.transAxes, color=colour, fontsize=9.5)
    side.set_ylim(-3, 104)
    side.set_xlabel("copies lost, %")
    side.set_ylabel("share of results, %")
    side.set_title("Seven runs, by loss", loc="left", fontsize=11)
    for axes in (top, below, side):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", lw=0.4, color="#dddddd")
        axes.set_axisbelow(True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description="Windows of arrival time against causal cuts, on the same lossy runs.")
    parser.add_argument("--readings", type=Path, help="a table with columns mote_id and humidity; else they are drawn")
    parser.add_argument("--first", type=int, default=2300, help="the first round of the table that is used")
    parser.add_argument("--rounds", type=int, default=200, help="how many rounds of five messages")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("fusion.png"), help="where the figure goes (PNG or SVG)")
    given = parser.parse_args()
    from antecede.spark import session

    if given.readings:
        rounds = read_rounds(given.readings, given.first, given.rounds)
    else:
        rounds = draw_rounds(given.rounds)
    spark = session(app="fusion")
    try:
        found = compare(spark, rounds, LOSSES, given.seed)
    finally:
        spark.stop()
    print("loss   sent  arrived  windows  wrong  cuts  wrong  complete")
    for c, complete in zip(found, by_completeness(found), strict=True):
        print(f"{c.loss:4.0%} {c.sent:6} {c.arrived:8} {len(c.windows):8} {c.wrong_windows:6} {len(c.cuts):5} "
              f"{c.wrong_cuts:6} {complete:8.0f}%")  # fmt: skip
    draw(found, next(c for c in found if c.loss == 0.15), given.out)
    print(f"drawn to {given.out}")


if __name__ == "__main__":
    main()
