"""The oracle: slow, obvious, and not to be talked out of a finding. It reads rows and never a stamp.

    happened-before from rows (history) -> who is owed what (pairs) -> every row judged by what stood before it
    (verdicts, claims) -> one fate per pair, and what is stuck or undelivered (fates) -> a Report

It is the dumb twin of `core/deadline/inbox.py` and shares no code with any protocol. Memory grows with the square of
the number of messages (one bit per pair of messages): tens of thousands are fine; for more there is `antecede audit`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Protocol

from antecede.errors import InputError
from antecede.trace.claims import Claims
from antecede.trace.fates import Fates
from antecede.trace.history import History, bits
from antecede.trace.holders import Holders, Partition
from antecede.trace.pairs import Receiver
from antecede.trace.record import Row
from antecede.trace.report import VERDICTS, Finding, Report
from antecede.trace.verdicts import Judge

__all__ = [
    "EXEMPT", "ORDERS", "UNORDERED_RECIPES", "Finding", "Ran", "Report", "Watch", "as_if", "check", "counted",
    "exempt_of", "skew_of",
]  # fmt: skip

EXEMPT: dict[str, tuple[str, ...]] = {
    "colour": ("idle",),
    "colour-eager": ("gap", "idle", "stuck", "undelivered"),
    "home-plain": ("idle",),
}
"""What a recipe does not promise (PROTOCOLS.md s1, s2). Nothing is ever exempt from inversion.

A weaker order is no exemption: each publication says itself what it follows, and is judged by that."""

COSTLY = ("link_kbytes_s", "cpu_us", "buffer")
"""Knobs by which links and processors take time. A protocol knows nothing of that time, so what depends on it is not
judged: whether it waited long enough, or said truly why it did not deliver."""
UNTIMED = ("gap", "stuck", "idle", "false", "undelivered", "unexplained")

UNORDERED_RECIPES = ("ackcast", "lpbcast-chain", "lpbcast-once", "lpbcast-unlimited", "pbcast")
"""Where publications are unordered without anybody's asking (`mix`)."""


ORDERS: dict[str, tuple[str, ...] | None] = {"causal": None, "fifo": ()}
"""What every message may be judged by, whatever its publisher asked for -> what its `publish` row would say: it follows
all that its publisher had delivered or published, or only its publisher's previous message."""


Watch = Callable[[str, int, int | None], None]
"""Told what is counted, how many there are so far, and of how many, where that is known."""


def exempt_of(scenario: Mapping[str, Any], recipe: str | None = None) -> tuple[str, ...]:
    """Verdicts that are not judged in such a run; `recipe`: judged as if it had been this one."""
    promised = EXEMPT.get(recipe or str(scenario.get("recipe")), ())
    return (*promised, *(UNTIMED if any(scenario.get(knob) for knob in COSTLY) else ()))


class Ran(Protocol):
    """A run that is still in memory, as `antecede.simulate` returns it."""

    @property
    def rows(self) -> Sequence[Sequence[Any]]: ...
    @property
    def streamed(self) -> bool: ...
    def body(self) -> Mapping[str, Any]: ...


def check(
    source: Ran | Iterable[Sequence[Any]] | str | Path,
    *more: str | Path,
    scenario: Mapping[str, Any] | None = None,
    idle: bool = True,
    exempt: Collection[str] = (),
    order: str | None = None,
    watch: Watch | None = None,
) -> Report:
    """Judge one run: what `simulate` returned, its rows, or the path of its directory or file (then `scenario.json`
    beside it is read); `more`: where else rows of this run are. `order`: judge every message as if this order had been
    asked for (a key of ORDERS).
    `watch` is told how far it is.

    From the scenario only five things are taken: `skew_ms` (what it leaves open is in doubt, where rows have no
    common clock), `partition` (who cannot be reached when), `recipe` (what is not promised), `grow` (whether clients of
    `home` change what they want: see `Judge.numbered`) and `mix` (whether anybody asked for messages without order;
    otherwise that a message has none is a finding).
    """
    if isinstance(source, str | Path):
        from antecede.trace.parquet import read_rows, read_scenario, silent, trace_files

        scenario = read_scenario(source) if scenario is None else scenario
        paths = (source, *more)
        rows: Iterable[Sequence[Any]] = chain.from_iterable(map(read_rows, paths))
        unheard = [file.name for path in paths for file in trace_files(path) if silent(file)]
    elif isinstance(source, Iterable):
        rows, unheard = source, []
    else:
        if source.streamed:
            raise InputError("the rows of this run went to a sink: check where they were written to")
        rows, unheard = source.rows, []
        scenario = source.body() if scenario is None else scenario
    scenario = scenario or {}
    if order is not None:
        rows = as_if(rows, order)
    skew_us = skew_of(scenario)
    skip = {*exempt, *exempt_of(scenario)} | (set() if idle else {"idle"})
    if skip - set(VERDICTS) or "inversion" in skip:
        raise InputError(f"cannot exempt from {', '.join(sorted(skip))}: choose among {', '.join(VERDICTS[1:])}")

    history = History(rows if watch is None else counted(rows, watch))
    receivers = {name: Receiver(name, history) for name in sorted(history.processes)}
    holders = Holders(history, receivers, partitions_of(scenario.get("partition")))
    claims = Claims(history, receivers, holders)
    judges = {name: Judge(r, history, receivers, claims, skew_us) for name, r in receivers.items()}
    recipe = scenario.get("recipe")
    if recipe is not None and recipe not in UNORDERED_RECIPES and "none" not in str(scenario.get("mix") or ""):
        for index in bits(history.unordered):
            told = history.messages[index]
            text = f"{told.id} is published without order, which nobody asked for"
            history.findings.append(Finding("unexplained", told.publisher, told.id, None, told.step, text))
    report = Report(
        messages=len(history.messages),
        processes=len(receivers),
        rows=history.row_count,
        exempt=tuple(sorted(skip)),
        findings=list(history.findings),
        unknown_tails=unheard,
    )
    changing = scenario.get("recipe") == "home" and bool(scenario.get("grow"))
    for place, judge in enumerate(judges.values()):
        if watch is not None:
            watch("processes judged", place, len(judges))
        judge.numbered = changing and judge.receiver.role == "subscriber"
        judge.walk()
        report.findings += judge.findings
        report.in_doubt += judge.in_doubt
    ledgers = {name: judge.ledger for name, judge in judges.items()}
    Fates(history, receivers, ledgers, holders, skew_us).judge(report)
    report.findings = [f for f in report.findings if f.verdict not in skip]
    unheard_of = {f.message for f in report.findings if f.verdict == "unexplained" and f.message not in history.index}
    senders = {message.rpartition(":")[0].rstrip("~") for message in unheard_of if message and ":" in message}
    report.unrecorded = sorted((senders | claims.unrecorded) - history.processes.keys())
    return report


def as_if(rows: Iterable[Sequence[Any]], order: str) -> Iterator[Row]:
    """The rows, with publications that ask for this order."""
    if order not in ORDERS:
        raise InputError(f"there is no order {order!r} to judge by: choose {' or '.join(ORDERS)}")
    for values in rows:
        row = values if isinstance(values, Row) else Row._make(values)
        yield row._replace(after=ORDERS[order]) if row.kind == "publish" else row


def counted(rows: Iterable[Sequence[Any]], watch: Watch) -> Iterator[Sequence[Any]]:
    count = 0
    for row in rows:
        if not count % 4096:
            watch("rows read", count, None)
        count += 1
        yield row
    watch("rows read, their messages are put in order", count, None)


def skew_of(scenario: Mapping[str, Any]) -> int:
    """How far, in microseconds, clocks are said to be off at most."""
    skew_ms = scenario.get("skew_ms")
    number = isinstance(skew_ms, int | float) and not isinstance(skew_ms, bool)
    if skew_ms is not None and not (number and 0 <= skew_ms < 2**53):
        raise InputError(f"scenario.json: skew_ms is {skew_ms!r}, not a number of milliseconds from 0 on")
    return round(1000 * (skew_ms or 0))


def partitions_of(text: object) -> tuple[Partition, ...]:
    """`A,B|C,D@1000-2000` (milliseconds), several separated by `;`; nothing else is known to the oracle."""
    found = []
    for part in str(text or "").split(";"):
        if not part.strip():
            continue
        try:
            sides, _, span = part.partition("@")
            start, end = span.split("-")
            found.append(
                Partition(
                    tuple(frozenset(n.strip() for n in side.split(",")) for side in sides.split("|")),
                    round(float(start) * 1000),
                    round(float(end) * 1000),
                )
            )
        except (ValueError, OverflowError) as error:
            raise InputError(f"scenario.json: partition {part!r} does not read like A,B|C,D@1000-2000") from error
    return tuple(found)
