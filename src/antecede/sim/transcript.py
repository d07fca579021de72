"""Transcripts: a run of a small scenario as text, commands and what each process said; written, read and carried out.

Decided here: the form. The first line is `explore` with the knobs of the scenario; then each command stands at the
beginning of a line and what followed from it is indented below; the last line is the oracle's verdict. A transcript can
be written by hand, commands alone; if it says what followed, replaying compares that too. The commands:

    A publishes G1,G2                       the next step of its script; likewise: S1 moves to B
    B gets data A:1 from A                  a copy arrives; `gets again`: and stays under way
    lost: data A:1 from A to C              likewise slow:, which changes nothing by itself
    B wakes                                 its earliest timer goes off
    C crashes                               and then: A learns that C crashed
    the rest                                whatever is left happens, with nothing going wrong
"""

from __future__ import annotations

import dataclasses
import shlex
from typing import Any

from antecede.core.recipes import build
from antecede.errors import InputError
from antecede.sim.driver import Build
from antecede.sim.explore import Explored
from antecede.sim.small import Small
from antecede.sim.stage import Stage
from antecede.trace.report import Finding

__all__ = ["Replayed", "replay", "transcribe"]


@dataclasses.dataclass(slots=True)
class Replayed:
    small: Small
    lines: list[str]
    """The whole transcript, as it is now, after the comments of the file."""
    findings: list[Finding]
    differs: str = ""
    """Where what followed is not what the file says; empty: nowhere, or the file says nothing."""


def transcribe(found: Explored, make: Build = build) -> str:
    """Carry out what an exploration found, and write it down."""
    stage = Stage(found.small, make)
    lines = [_head(found.small)]
    for action in found.actions:
        for command in stage.commands(action, found.flights):
            lines += _block(command, stage.do(command))
    findings = stage.verdict()
    if not findings:  # what never ends no record can show
        lines[:0] = [f"# {finding.text}" for finding in found.findings]
    return "\n".join([*lines, *_verdict(findings)]) + "\n"


def replay(text: str, make: Build = build) -> Replayed:
    """Carry out a transcript again."""
    numbered = [(n, line.rstrip()) for n, line in enumerate(text.splitlines(), 1)]
    told = [(n, line) for n, line in numbered if line and not line.startswith("#")]
    if not told or not told[0][1].startswith("explore "):
        raise InputError("A transcript begins with a line like 'explore recipe=solicit members=3'.")
    small = _small(told[0][1])
    stage = Stage(small, make)
    lines = [_head(small)]
    for n, line in told[1:]:
        if not line.startswith((" ", "verdict")):
            try:
                lines += _block(line, stage.do(line))
            except InputError as error:
                raise InputError(f"line {n}: {error}") from None
    findings = stage.verdict()
    lines += _verdict(findings)
    differs = ""
    if any(line.startswith((" ", "verdict")) for _, line in told):
        differs = _difference(told[1:], lines[1:])
    comments = [line for _, line in numbered if line.startswith("#")]
    return Replayed(small, [*comments, *lines], findings, differs)


def _difference(told: list[tuple[int, str]], lines: list[str]) -> str:
    for (n, line), now in zip(told, lines, strict=False):
        if line != now:
            return f"line {n} says {line.strip()!r}, now it is {now.strip()!r}"
    if len(told) != len(lines):
        return f"the file has {len(told)} lines of commands and answers, now there are {len(lines)}"
    return ""


def _head(small: Small) -> str:
    knobs = {name: f"{v:g}" if isinstance(v, float) else str(v) for name, v in small.knobs().items()}
    return " ".join(["explore", *(f"{name}={shlex.quote(text)}" for name, text in knobs.items())])


def _small(line: str) -> Small:
    knobs: dict[str, Any] = {}
    kinds = {field.name: field.type for field in dataclasses.fields(Small)}
    for word in shlex.split(line)[1:]:
        name, equals, value = word.partition("=")
        if not equals or name not in kinds:
            raise InputError(f"The first line has {word!r}: knobs are {', '.join(kinds)}, as in members=3.")
        try:
            knobs[name] = value if kinds[name] == "str" else float(value) if "float" in str(kinds[name]) else int(value)
        except ValueError:
            raise InputError(f"The first line has {word!r}: {value!r} is no number.") from None
    return Small(**knobs)


def _block(command: str, said: list[str]) -> list[str]:
    return [command, *(f"  {line}" for line in said)]


def _verdict(findings: list[Finding]) -> list[str]:
    if not findings:
        return ["verdict: clean"]
    return [f"verdict: {f.verdict} at {f.process}: {f.text}" for f in findings]
