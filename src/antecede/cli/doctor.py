"""`antecede doctor`: prints what `health` finds, for people or as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

__all__ = ["doctor"]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Look at this machine: Python, packages, Java, Spark, ports, clock, disk, cores and memory.

    Each line is ok, warn (works, but something is worth knowing) or bad (something needed is broken); the last two
    come with the cause and a cure. Exit 0 when nothing is bad, 2 otherwise.
    """
    from antecede.cli import health
    from antecede.cli.output import fitted

    findings = health.examine()
    broken = [finding for finding in findings if finding.state == "bad"]
    if as_json:
        print(json.dumps({"fine": not broken, "findings": [asdict(finding) for finding in findings]}, indent=2))
    else:
        for finding in findings:
            print(fitted(f"{finding.state:<5} {finding.name:<9} {finding.says}", indent=" " * 16))
            if finding.cure:
                print(fitted(f"{'':<15} -> {finding.cure}", indent=" " * 19))
    if broken:
        raise typer.Exit(2)
