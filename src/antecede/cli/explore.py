"""`antecede explore`: every run of a small scenario, or one run again from its transcript; what is printed when."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.output import fitted
from antecede.cli.progress import Progress
from antecede.errors import InputError

if TYPE_CHECKING:
    from antecede.sim.explore import Explored
    from antecede.sim.small import Small

__all__ = ["explore"]

Option = typer.Option


def explore(
    recipe: Annotated[str, Option(help="Which protocol, e.g. solicit, graph, home, cbcast.")] = "solicit",
    reading: Annotated[str, Option(help="repaired, or the paper's text as printed.")] = "repaired",
    members: Annotated[int, Option(help="Flat recipes: how many processes, A, B, C, ...")] = 3,
    brokers: Annotated[int, Option(help="Other recipes: how many brokers, A, B, C, ...")] = 2,
    subscribers: Annotated[int, Option(help="Other recipes: how many subscribers, S1, S2, ...")] = 2,
    groups: Annotated[str, Option(help="'G1=A,B;G2=A,B'. [two groups, at all brokers]")] = "",
    at: Annotated[str, Option(help="'S1=G1@A;S2=G1,G2@B': who wants what where. [one group each, in turn]")] = "",
    messages: Annotated[int, Option(help="How many are published, in turn, where no script says so.")] = 3,
    script: Annotated[str, Option(help="'A G1; B G1,G2 within 50 after A:1; S1 -> B': publications and moves.")] = "",
    losses: Annotated[int, Option(help="Copies that never arrive.")] = 1,
    duplicates: Annotated[int, Option(help="Copies that arrive twice.")] = 0,
    slow: Annotated[int, Option(help="Copies that timers may overtake.")] = 0,
    early: Annotated[int, Option(help="Timers that go off although something else could happen.")] = 0,
    crashes: Annotated[int, Option(help="Processes that crash for good.")] = 0,
    deadline_ms: Annotated[float | None, Option(help="Deadline of each message. [none; 100 where needed]")] = None,
    fanout: Annotated[int, Option(help="Peers per digest, and per message in gossip, pull and lazy; 0: all.")] = 0,
    alpha: Annotated[int, Option(help="Rounds of a lifetime beyond ceil(log2 N), where there are any.")] = 1,
    clock: Annotated[
        str, Option(help="own: each process has its clock; one: all share one. [own unless deadlines]")
    ] = "",
    max_states: Annotated[int, Option(help="Give up beyond so many. Costs about 0.5 GB per million.")] = 5_000_000,
    plugin: Annotated[
        list[Path] | None, Option(metavar="FILE", help="Python that registers recipes; it is run.")
    ] = None,
    replay: Annotated[Path | None, Option(metavar="FILE", help="Carry out a transcript again instead.")] = None,
    out: Annotated[Path | None, Option(metavar="FILE", help="Where the transcript of a violation goes too.")] = None,
    as_json: Annotated[bool, Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Try every run of a small scenario: each order of arrivals and timers, each loss, duplicate and crash.

    The real machines run, nothing is drawn, and each state is visited once, nearest first. If a run breaks a promise
    (judged by the same oracle as `antecede check`), the shortest one is printed as a transcript: what happened, and
    what each process said. Otherwise there is none within the bounds. A script says what applications do, never when:
    each step is tried at every moment (`after`: once these messages were delivered there).

    \b
    Examples:
    antecede explore --recipe solicit --members 3 --messages 3 \\
        --losses 1 --duplicates 1
    antecede explore --recipe graph --brokers 2 --subscribers 2 \\
        --messages 3 --losses 1
    antecede explore --recipe home --script 'S1 -> B; S1 G1,G2; S2 G1' --losses 1
    antecede explore --recipe solicit --deadline-ms 100 --slow 1 \\
        --script 'A G1; A G1 within 50'
    antecede explore --replay tests/transcripts/solicit-loss.txt

    Every count multiplies the states: begin with small ones. Exit 0 when nothing was found, 1 when a violation was
    found (or a replay went another way than the file says), 2 when the input cannot work or states were left out.
    """
    from antecede.sim.plugin import load

    load(plugin or ())
    if replay is not None:
        _replay(replay, as_json)
        return
    from antecede.sim.small import TIMED, Small

    if deadline_ms is None:
        from antecede.sim.scenario import find_recipe

        deadline_ms = 100.0 if find_recipe(recipe).deadlines in TIMED else None
    small = Small(
        recipe=recipe, reading=reading, members=members, brokers=brokers, subscribers=subscribers, groups=groups,
        at=at, messages=messages, script=script, losses=losses, duplicates=duplicates, slow=slow, early=early,
        crashes=crashes, deadline_ms=deadline_ms, fanout=fanout, alpha=alpha, clock=clock,
    )  # fmt: skip
    _explore(small, max_states, out, as_json)


def _explore(small: Small, max_states: int, out: Path | None, as_json: bool) -> None:
    from antecede.sim.explore import explore as search
    from antecede.sim.transcript import transcribe
    from antecede.trace.writing import write_whole

    began = time.perf_counter()
    with Progress("states") as progress:

        def watch(so_far: Explored) -> None:
            progress.at(so_far.states, f"{small.recipe}, {so_far.depth} steps deep")

        found = search(small, max_states=max_states, watch=watch if progress.watched else None)
    seconds = time.perf_counter() - began
    transcript = transcribe(found) if found.findings else None
    if transcript is not None and out is not None:
        write_whole(out, transcript)
    if as_json:
        print(json.dumps(_body(found, seconds, transcript), indent=2))
    else:
        if transcript is not None:
            print(transcript)
        print(fitted(_summary(found, seconds)))
    if found.findings:
        raise typer.Exit(1)
    if not found.complete:
        raise InputError(f"There are more than {max_states:,} states: lower a bound, or raise --max-states.")


def _summary(found: Explored, seconds: float) -> str:
    end = "violation found" if found.findings else "complete, no violation" if found.complete else "NOT complete"
    return (
        f"{found.small.recipe} ({found.small.reading}): {end}. {found.states:,} states, {found.transitions:,} "
        f"transitions, up to {found.depth} steps deep; {found.ends:,} ends, {found.judged:,} different runs judged; "
        f"{found.steps:,} calls into machines; {seconds:.1f} s, {_megabytes():,} MB."
    )


def _body(found: Explored, seconds: float, transcript: str | None) -> dict[str, Any]:
    counts = ("states", "transitions", "ends", "judged", "depth", "situations", "steps", "complete")
    return {
        **dataclasses.asdict(found.small),
        **{name: getattr(found, name) for name in counts},
        "seconds": round(seconds, 3),
        "megabytes": _megabytes(),
        "findings": [{name: getattr(f, name) for name in f.__slots__} for f in found.findings],
        "transcript": transcript,
    }


def _megabytes() -> int:
    """The most memory this process ever had, where the machine can tell."""
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _replay(path: Path, as_json: bool) -> None:
    from antecede.sim.transcript import replay as carry_out

    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path} is no transcript: it must be text.") from None
    try:
        done = carry_out(text)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    if as_json:
        findings = [{name: getattr(f, name) for name in f.__slots__} for f in done.findings]
        print(
            json.dumps({"transcript": "\n".join(done.lines), "findings": findings, "differs": done.differs}, indent=2)
        )
    else:
        print("\n".join(done.lines))
        if done.differs:
            print(f"\nNot as {path} has it: {done.differs}.")
    if done.findings or done.differs:
        raise typer.Exit(1)
