"""Traces as compact text, so that a test shows the run it speaks of.

    p 0 join G1 guard=5 cut=q:3 from=A      process, clock, kind, then what that kind carries
    p 10 publish p:1 G1,G2 due=100 after=q:1
    q 20 arrive p:1 from=p
    q 20 deliver p:1 deadline
    q 90 end quiet

Names that begin with a capital are brokers, with `s` or `c` subscribers, others members. The simulator's clock equals
the process's unless `true=` says otherwise. A deliver without a reason says `causes`.
Blank lines are skipped, and what follows `# `.
"""

from __future__ import annotations

from antecede.trace.check import check
from antecede.trace.record import Recorder, Row
from antecede.trace.report import Report

__all__ = ["found", "plant", "rows", "verdict"]

TIMES = {"due": "deadline_us", "guard": "guard_us", "exp": "expires_us", "true": "true_us"}


def role_of(process: str) -> str:
    return "broker" if process[0].isupper() else "subscriber" if process[0] in "sc" else "member"


def rows(text: str, *, clock: bool = True) -> list[Row]:
    """`clock=False`: without the simulator's clock, as live records are."""
    recorder = Recorder("test")
    for line in text.splitlines():
        line = line.partition("# ")[0].strip()
        if not line:
            continue
        process, at, kind, *rest = line.split()
        values: dict[str, object] = {"true_us": int(at) if clock else None}
        if kind == "deliver":
            values["reason"] = "causes"
        for token in rest:
            key, equals, value = token.partition("=")
            if equals:
                if key in TIMES:
                    values[TIMES[key]] = int(value)
                elif key == "from":
                    values["peer"] = value
                elif key in ("where", "headers"):
                    values[key] = value.replace("_", " ")
                else:
                    values[key] = tuple(v for v in value.split(",") if v)
            elif ":" in token:
                values["message"] = token
            elif kind in ("publish", "join", "leave"):
                values["groups"] = tuple(token.split(","))
            else:
                values["reason"] = token
        recorder.row(process, role_of(process), int(at), kind, **values)  # type: ignore[arg-type]
    return [Row._make(r) for r in recorder.rows]


def verdict(text: str, *, clock: bool = True, **options: object) -> Report:
    report = check(rows(text, clock=clock), **options)  # type: ignore[arg-type]
    assert sum(report.fates.values()) == report.pairs, "every pair has exactly one fate"
    return report


def found(text: str, *, clock: bool = True, **options: object) -> list[tuple[str, str, str | None, str | None]]:
    """The findings, short: (verdict, process, message, other)."""
    return [(f.verdict, f.process, f.message, f.other) for f in verdict(text, clock=clock, **options).findings]


def plant(clean: str, *changes: tuple[str, str]) -> str:
    """The trace with each first line replaced by the second; the clean one must have exactly one such line."""
    lines = [line.strip() for line in clean.strip().splitlines()]
    for old, new in changes:
        assert lines.count(old) == 1, f"{old!r} occurs {lines.count(old)} times"
        place = lines.index(old)
        lines[place : place + 1] = [line.strip() for line in new.split("\n")]
    return "\n".join(lines)
