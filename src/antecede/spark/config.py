"""What a pipeline is told: every setting, what it means, and the commented file that `antecede pipeline --init` writes.

Decided in this file: the form of CONFIG.toml; that an unknown key, a value of the wrong kind or two settings that
contradict each other are refused in one sentence that names the nearest cure; and that paths in a file are taken from
where the file is.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Any, Literal

import msgspec

from antecede.errors import InputError

__all__ = [
    "TEMPLATE",
    "Audit",
    "Columns",
    "Fuse",
    "Mode",
    "Order",
    "Output",
    "Pipeline",
    "Source",
    "Spark",
    "Wanted",
    "config_from",
    "load_config",
]


class Part(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A table of the file."""


class Columns(Part, frozen=True):
    """Which columns of a table say what; for runs they are known."""

    id: str = "id"
    parents: str | None = None
    clock: str | None = None
    sender: str | None = None
    seq: str | None = None
    group: str | None = None
    deadline: str | None = None
    time: str | None = None
    arrived: str | None = None
    topic: str | None = None


class Source(Part, frozen=True):
    path: str | list[str]
    kind: Literal["run", "table"] = "run"
    format: Literal["parquet", "csv", "json", "antecede"] = "parquet"
    options: dict[str, str] = {}
    receivers: tuple[str, ...] | None = None
    values: str | None = None

    @property
    def paths(self) -> list[str]:
        return [self.path] if isinstance(self.path, str) else self.path


class Order(Part, frozen=True):
    wait_us: int | None = None
    unknown: Literal["skip"] | None = None
    foreign: Literal["project", "none"] | None = None
    group_of: str | None = None
    first_seq: int | None = None
    max_held: int | None = None
    remember_us: int | None = None


class Wanted(Part, frozen=True):
    """An interest with a condition."""

    filters: tuple[str, ...] = ("#",)
    where: str | None = None


class Fuse(Part, frozen=True):
    every: int | None = None
    every_us: int | None = None
    marks: str | None = None
    values: tuple[str, ...] = ()
    over: Literal["latest", "new"] = "latest"
    senders: tuple[str, ...] | None = None
    hold: int | None = None
    patience: int | None = None
    interests: dict[str, str | list[str] | Wanted] = {}


class Audit(Part, frozen=True):
    wanted: bool = True


class Output(Part, frozen=True):
    path: str
    partition_by: tuple[str, ...] = ()


class Mode(Part, frozen=True):
    continuous: bool = False
    trigger_s: float | None = None


class Spark(Part, frozen=True):
    master: str | None = None
    settings: dict[str, str | int | bool] = {}


class Pipeline(Part, frozen=True):
    """A whole pipeline. `fuse` absent: nothing is fused."""

    source: Source
    output: Output
    columns: Columns = Columns()
    order: Order = Order()
    fuse: Fuse | None = None
    audit: Audit = Audit()
    mode: Mode = Mode()
    spark: Spark = Spark()

    def __post_init__(self) -> None:
        if not self.source.paths or not all(self.source.paths):
            raise ValueError("source.path is empty: name at least one path")
        if self.source.kind == "run" and self.columns != Columns():
            raise ValueError("[columns] is for tables: the columns of a run are known; set source.kind = 'table'")
        if self.mode.continuous and self.source.kind == "run":
            raise ValueError(
                "a run is ordered as a whole, since what a message comes after is known only from all of its records: "
                "leave out mode.continuous, or read a table of ids and parents"
            )
        if self.fuse is not None:
            told = [name for name in ("every", "every_us", "marks") if getattr(self.fuse, name) is not None]
            if len(told) != 1:
                raise ValueError("[fuse] must say where cuts fall in one way: every, every_us or marks")


TEMPLATE = """\
# A pipeline of antecede: source -> order -> fuse -> audit -> tables.   Run it: antecede pipeline CONFIG.toml
# Paths are taken from where this file is. Lines that begin with # show what else can be said.

[source]
kind = "run"                 # "run": directories with records, as `antecede simulate` writes them; "table": any table
path = "runs/first"          # one, or a list
# receivers = ["S1", "S2"]   # runs: whose view to order; left out: every process to which something was sent
# values = "readings.parquet" # runs: a table with the column `message` and what the messages said, to be joined
# format = "parquet"         # tables: parquet, csv, json or antecede (what an earlier pipeline wrote)
# options = { header = "true" } # tables: options of Spark's reader

# [columns]                  # tables: which of their columns say what
# id = "id"                  # the only one that is needed beside parents, clock, or sender and seq
# parents = "parents"        # a list of ids
# clock = "clock"            # a map from sender to number, instead of parents
# sender = "sender"          # with seq: one's previous message is a cause
# seq = "seq"
# group = "room"             # a causal domain: order holds within it
# deadline = "deadline_us"   # microseconds, or a timestamp; later it is of no use
# time = "sent_us"           # breaks ties and starts wait_us; it never orders
# arrived = "arrived_us"     # in which sequence rows came
# topic = "topic"            # what interests are matched with

[order]                      # how long to wait for causes that have not come; a deadline ends the waiting too
wait_us = 500_000            # at most so long after the row's own time
# unknown = "skip"           # batch: what is in no row of the group is passed over, and noted
# foreign = "none"           # promise: no parent is in another group; "project": look for them (batch)
# group_of = "split(parent, '/')[0]" # in which group a parent is, in SQL
# first_seq = 1              # the number of a sender's first message
# max_held = 100_000         # at most so many rows of a group; of more the oldest go out
# remember_us = 3_600_000_000 # streams: how long it is known what was there; bounds the state

[fuse]                       # left out: nothing is fused
every = 100                  # a cut after every so many rows of a group
# every_us = 1_000_000       # or by the rows' own time
# marks = "is_marker"        # or after each row of which this column is true
# values = ["temperature"]   # what is aggregated
# over = "latest"            # the latest reading of each sender, or all "new" ones since the cut before
# senders = ["m1", "m2"]     # who is expected; left out: whoever was ever heard
# hold = 1000                # rows of a sender that wait for a cause, before the oldest gives way
# patience = 1000            # rows of the group after which a sender that owes a cause is no longer waited for

[fuse.interests]             # name = topic filter, several, or a condition
all = "#"
# indoor = ["motes/indoor/+", "alarm"]
# hot = { filters = ["motes/#"], where = "temperature > 30" }

[audit]
wanted = true                # judge the records (runs), or the order in which rows came and left (tables)

[output]
path = "out"                 # tables, manifests and the report go here
# partition_by = ["run"]     # columns of the ordered rows that become folders

# [mode]
# continuous = true          # tables: keep reading what comes; without trigger_s until all that is there is done
# trigger_s = 10

# [spark]
# master = "local[*]"        # or spark://host:7077, yarn, ...
# settings = { "spark.driver.memory" = "4g" }
"""


def load_config(path: str | Path) -> Pipeline:
    """The pipeline a file describes."""
    file = Path(path)
    try:
        body = tomllib.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no {file}: write one with `antecede pipeline --init {file}`.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file} is not TOML: {error}.") from None
    return config_from(body, where=str(file), base=file.absolute().parent)


def config_from(body: dict[str, Any], where: str = "the configuration", base: Path | None = None) -> Pipeline:
    """A pipeline from plain values, with all that is wrong said in one sentence."""
    try:
        config = msgspec.convert(body, Pipeline)
    except msgspec.ValidationError as error:
        raise InputError(f"{where}: {_sentence(str(error), body)}.") from None
    return _based(config, base) if base is not None else config


def _sentence(error: str, body: dict[str, Any]) -> str:
    """msgspec's words in ours; the nearest known key for an unknown one."""
    place = re.search(r" - at `\$\.?(.*?)`$", error)
    here = place[1] if place else ""
    text = error[: place.start()] if place else error
    unknown = re.search(r"unknown field `(.+?)`", text)
    if unknown:
        known = _keys_at(here)
        close = difflib.get_close_matches(unknown[1], known, n=1, cutoff=0.5)
        cure = f"did you mean {close[0]}?" if close else f"there are {', '.join(known)}"
        return f"[{here}] has no key {unknown[1]} ({cure})" if here else f"there is no [{unknown[1]}] ({cure})"
    lacking = re.search(r"missing required field `(.+?)`", text)
    if lacking:
        return f"[{here}] lacks {lacking[1]}" if here else f"[{lacking[1]}] is missing"
    said: Any = body
    for name in filter(None, here.replace("[...]", "").split(".")):
        said = said.get(name) if isinstance(said, dict) else None
    told = f" ({said!r})" if isinstance(said, str | int | float) else ""
    return f"{here}{told}: {text[0].lower()}{text[1:]}" if here else text


def _keys_at(place: str) -> list[str]:
    """The keys a table of the file may have."""
    kinds: dict[str, type[Part]] = {"": Pipeline, "source": Source, "columns": Columns, "order": Order, "fuse": Fuse,
                                    "audit": Audit, "output": Output, "mode": Mode, "spark": Spark}  # fmt: skip
    return list(kinds.get(place, Wanted).__struct_fields__)


def _based(config: Pipeline, base: Path) -> Pipeline:
    def at(path: str) -> str:
        return path if re.match(r"\w+:/", path) else str(base / path)

    source = msgspec.structs.replace(
        config.source,
        path=[at(path) for path in config.source.paths],
        values=at(config.source.values) if config.source.values else None,
    )
    output = msgspec.structs.replace(config.output, path=at(config.output.path))
    return msgspec.structs.replace(config, source=source, output=output)
