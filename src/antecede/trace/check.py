"""The oracle: slow, obvious, and not to be talked out of a finding. It reads rows and never a stamp.

    happened-before from rows (history) -> who is owed what (pairs) -> every row judged by what stood before it
    (verdicts, claims) -> one fate per pair, and what is stuck or undelivered (fates) -> a Report

It is the dumb twin of `core/inbox.py` and shares no code with any protocol. Memory grows with the square of the number
of messages (one bit per pair of messages): tens of thousands are fine; for more there is `antecede audit`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from antecede.errors import InputError
from antecede.trace.claims import Claims
from antecede.trace.fates import Fates
from antecede.trace.history import History, bits
from antecede.trace.holders import Holders, Partition
from antecede.trace.pairs import Receiver
from antecede.trace.parquet import read_rows, read_scenario, silent, trace_files
from antecede.trace.report import VERDICTS, Finding, Report
from antecede.trace.verdicts import Judge

__all__ = ["EXEMPT", "UNORDERED_RECIPES", "Finding", "Report", "check", "skew_of"]

EXEMPT: dict[str, tuple[str, ...]] = {
    "colour": ("idle",),
    "colour-eager": ("gap", "idle", "stuck", "undelivered"),
    "home-plain": ("idle",),
}
"""What a recipe does not promise (PROTOCOLS.md s1, s2). Nothing is ever exempt from inversion.

A weaker order is no exemption: each publication says itself what it follows, and is judged by that."""

UNORDERED_RECIPES = ("ackcast", "lpbcast-chain", "lpbcast-once", "lpbcast-unlimited", "pbcast")
"""Where publications are unordered without anybody's asking (`mix`)."""


def check(
    source: Iterable[Sequence[Any]] | str | Path,
    *,
    scenario: Mapping[str, Any] | None = None,
    idle: bool = True,
    exempt: Collection[str] = (),
) -> Report:
    """Judge one run: its rows, or the path of its directory or file (then `scenario.json` beside it is read).

    From the scenario only five things are taken: `skew_ms` (what it leaves open is in doubt, where rows have no
    common clock), `partition` (who cannot be reached when), `recipe` (what is not promised), `grow` (whether clients of
    `home` change what they want: see `Judge.numbered`) and `mix` (whether anybody asked for messages without order;
    otherwise that a message has none is a finding).
    """
    if isinstance(source, str | Path):
        scenario = read_scenario(source) if scenario is None else scenario
        rows: Iterable[Sequence[Any]] = read_rows(source)
        unheard = [file.name for file in trace_files(source) if silent(file)]
    else:
        rows, unheard = source, []
    scenario = scenario or {}
    skew_us = skew_of(scenario)
    skip = {*exempt, *EXEMPT.get(str(scenario.get("recipe")), ())} | (set() if idle else {"idle"})
    if skip - set(VERDICTS) or "inversion" in skip:
        raise InputError(f"cannot exempt from {', '.join(sorted(skip))}: choose among {', '.join(VERDICTS[1:])}")

    history = History(rows)
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
    for judge in judges.values():
        judge.numbered = changing and judge.receiver.role == "subscriber"
        judge.walk()
        report.findings += judge.findings
        report.in_doubt += judge.in_doubt
    ledgers = {name: judge.ledger for name, judge in judges.items()}
    Fates(history, receivers, ledgers, holders, skew_us).judge(report)
    report.findings = [f for f in report.findings if f.verdict not in skip]
    return report


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
