"""`antecede simulate`: one run, or a sweep of drawn ones; what is printed, what is written, and what is refused.

Nothing appears under its name in DIR before it is complete, and a directory that holds something else is left alone.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shlex
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.cli.output import fitted
from antecede.cli.progress import Progress
from antecede.errors import InputError

if TYPE_CHECKING:
    from antecede.sim.scenario import Scenario
    from antecede.trace.report import Report

__all__ = ["simulate"]

PICTURE = "show.html"
"""What `antecede show DIR` draws beside the records; it goes when a new run takes their place."""
OURS = {"records.parquet", "scenario.json", "totals.json", "sweep.jsonl", "metrics.json", "metrics.parquet", PICTURE}
JUDGED = 20_000
"""Runs of more messages are not judged on the way: the oracle's memory grows with their square."""

What, Who, Traffic, Use, Spreads, Fault, Many = (
    partial(typer.Option, rich_help_panel=heading)
    for heading in (
        "What runs", "Who takes part", "What is published", "How long it is of use", "How it spreads",
        "What goes wrong", "Many runs",
    )
)  # fmt: skip
"""Options under the headings of its help."""


def simulate(
    recipe: Annotated[
        str | None, What(help="Which protocol, e.g. graph, pull, rounds, colour, home. [solicit]")
    ] = None,
    reading: Annotated[str | None, What(help="repaired, or the paper's text as printed. [repaired]")] = None,
    without: Annotated[
        str | None, What(metavar="REPAIR", help="The repaired reading with one repair undone (`antecede recipes`).")
    ] = None,
    seed: Annotated[int, What(help="Decides everything that is drawn.")] = 0,
    out: Annotated[Path | None, What(metavar="DIR", help="Where records, scenario and totals go.")] = None,
    scenario: Annotated[Path | None, What(metavar="FILE", help="Begin with the knobs of a scenario.json.")] = None,
    plugin: Annotated[list[Path] | None, What(metavar="FILE", help="Python that registers recipes; it is run.")] = None,
    as_json: Annotated[bool, What("--json", help="One JSON object, for programs.")] = False,
    brokers: Annotated[int | None, Who(help="How many: A, B, C, ... [4]")] = None,
    subscribers: Annotated[int | None, Who(help="How many: S1, S2, ... [6]")] = None,
    groups: Annotated[str | None, Who(help="'G1=A,B,C;G2=A,B,D'. [drawn]")] = None,
    table: Annotated[str | None, Who(help="'room/#=A,B;+/door=C', or drawn: entries as groups. [none]")] = None,
    homes: Annotated[int | None, Who(help="Subscribers attach to 1 to this many brokers; home: 1. [3]")] = None,
    sites: Annotated[int | None, Who(help="How many sites there are. [1]")] = None,
    membership: Annotated[
        str | None, Who(help="told: others learn of a crash by --detect-ms; swim: they find out. [told]")
    ] = None,
    detect_ms: Annotated[
        float | None, Who(help="When others learn of a crash or restart; swim: after four pings or so. [200]")
    ] = None,
    messages: Annotated[int | None, Traffic(help="How many. [100, or the whole --workload]")] = None,
    rate: Annotated[float | None, Traffic(help="Publications per second, all together. [100]")] = None,
    reply: Annotated[float | None, Traffic(help="Share published right after a delivery. [0.5]")] = None,
    declare: Annotated[float | None, Traffic(help="Share that declares its causes. [0]")] = None,
    mix: Annotated[str | None, Traffic(help="'causal=0.6,fifo=0.3,none=0.1'. [the recipe's order]")] = None,
    choice: Annotated[str | None, Traffic(help="Groups per message: one, some, all. [some]")] = None,
    burst: Annotated[int | None, Traffic(help="Messages back to back. [1]")] = None,
    payload_bytes: Annotated[int | None, Traffic(help="Size of a payload. [32]")] = None,
    workload: Annotated[Path | None, Traffic(metavar="FILE", help="Replay a recorded history (Parquet).")] = None,
    deadline_ms: Annotated[str | None, Use(metavar="LO:HI|none", help="[300:600 where the recipe has any]")] = None,
    undated: Annotated[float | None, Use(help="Share without a deadline, though others have one. [0]")] = None,
    guard_ms: Annotated[float | None, Use(help="Stop waiting this long before a deadline. [the skew]")] = None,
    hop_ms: Annotated[float | None, Use(help="What brokers leave for the last hop. [1.5 times the delay]")] = None,
    alpha: Annotated[int | None, Use(help="Lifetime: ceil(log2 N) + this many rounds. [3]")] = None,
    spread: Annotated[str | None, Spreads(help="multicast, pull, gossip, lazy. [the recipe's own]")] = None,
    fanout: Annotated[int | None, Spreads(help="Peers per digest, and per message that is gossiped. [3]")] = None,
    round_ms: Annotated[float | None, Spreads(help="A round: between digests; of a lifetime. [50]")] = None,
    view: Annotated[int | None, Spreads(help="Rounds go to members of a local view of this size. [all]")] = None,
    view_below: Annotated[
        int | None, Spreads(help="Brokers gossip to a view of so many of all subscribers. [to their own]")
    ] = None,
    forward: Annotated[
        bool | None, Spreads("--forward", help="Subscribers pass it on once to others that want the same (rounds).")
    ] = None,
    renewed: Annotated[float | None, Spreads(help="Share of that view that is replaced each round. [0.5]")] = None,
    times: Annotated[int | None, Spreads(help="Rounds in which a message is pushed, in gossip. [1]")] = None,
    turns: Annotated[
        bool | None, Spreads("--turns", help="Each round belongs to one broker in turn (004; rounds, colour).")
    ] = None,
    window: Annotated[int | None, Spreads(help="Unacknowledged messages per publisher (ackcast). [any]")] = None,
    near: Annotated[float | None, Spreads(help="How often a round prefers members of the same site. [0]")] = None,
    loss: Annotated[float | None, Fault(help="Probability that a copy is lost. [0]")] = None,
    duplicate: Annotated[float | None, Fault(help="Probability that a copy arrives twice. [0]")] = None,
    delay_ms: Annotated[str | None, Fault(metavar="LO:HI", help="A copy takes between these. [5:20]")] = None,
    spike: Annotated[float | None, Fault(help="Probability of ten times the delay. [0]")] = None,
    link_kbytes_s: Annotated[
        float | None, Fault(help="Each sender's link carries so much, through one queue. [any amount]")
    ] = None,
    cpu_us: Annotated[float | None, Fault(help="A receiver is busy this long with each frame. [0]")] = None,
    buffer: Annotated[int | None, Fault(help="Frames that wait at a busy receiver; more are lost. [any]")] = None,
    latency: Annotated[Path | None, Fault(metavar="FILE", help="Round trips between hosts (Parquet).")] = None,
    crash: Annotated[float | None, Fault(help="Probability that a process crashes. [0]")] = None,
    brokers_stay: Annotated[bool | None, Fault("--brokers-stay", help="No broker leaves (004 s4).")] = None,
    crash_brokers: Annotated[
        bool | None, Fault("--crash-brokers", help="Only brokers crash, and none comes back (001 s3).")
    ] = None,
    restart: Annotated[float | None, Fault(help="Probability that a crashed one comes back, empty. [0.5]")] = None,
    partition: Annotated[str | None, Fault(help="'A,B|C,D@1000-2000' (ms); several with ';'.")] = None,
    churn: Annotated[str | None, Fault(help="'join=0.1,leave=0.1,move=0.2' per process and second.")] = None,
    grow: Annotated[float | None, Fault(help="Changes of filters per subscriber and second. [0]")] = None,
    perturb: Annotated[
        str | None, Fault(help="Who sleeps: one:0.3 (a share of its time), some:0.3 (of all), all:0.3. [nobody]")
    ] = None,
    nap_ms: Annotated[float | None, Fault(help="How long at a time. [20]")] = None,
    skew_ms: Annotated[float | None, Fault(help="Clocks are off by at most this. [0]")] = None,
    remember_ms: Annotated[
        float | None, Use(help="How long who left is remembered; 0: for ever, in every stamp. (home) [0]")
    ] = None,
    jump_ms: Annotated[float | None, Fault(help="Clocks leap once, by at most this. [0]")] = None,
    limit_s: Annotated[float | None, Fault(help="Stop a run that does not become quiet. (virtual time)")] = None,
    draw: Annotated[int | None, Many(metavar="I", help="Run scenario I of the sweep with this seed.")] = None,
    seeds: Annotated[
        int | None, Many(metavar="N", help="Run the same scenario with N seeds on all cores; a table of measures.")
    ] = None,
    sweep: Annotated[int | None, Many(metavar="N", help="Draw, run and judge N scenarios on all cores.")] = None,
    harsh: Annotated[
        bool | None, Many("--harsh", help="With --sweep or --draw: all come, go, move and crash all the time.")
    ] = None,
    leavers: Annotated[
        bool | None, Many("--leavers", help="With --sweep or --draw: senders leave, and are forgotten. (home)")
    ] = None,
    resume: Annotated[bool, Many("--resume", help="Go on with an interrupted sweep in DIR.")] = False,
) -> None:
    """Run a recipe on a virtual network that loses, delays and breaks; write the trace.

    One seed decides everything: the same command gives the same rows and the same digest on every machine. The trace
    in DIR can be judged by anyone: `antecede check DIR`.

    \b
    Examples:
    antecede simulate --recipe solicit --loss 0.1 \\
        --deadline-ms 100:300 --out runs/first
    antecede simulate --recipe graph --groups 'G1=A,B,C;G2=A,B,D' \\
                      --partition 'A,B|C,D@500-900' --out runs/split
    antecede simulate --recipe graph --workload history.parquet \\
        --loss 0.05 --out runs/real
    antecede simulate --scenario runs/first/scenario.json \\
        --loss 0.3 --out runs/worse
    antecede simulate --recipe graph --sweep 200 --out runs/sweep   (1: violation)
    antecede simulate --recipe home --sweep 200 --harsh --out runs/harsh
    antecede simulate --recipe home --sweep 200 --leavers --out runs/leavers
    antecede simulate --recipe graph --loss 0.1 --seeds 20 --out runs/measured
    """
    given = {name: value for name, value in locals().items() if value is not None}
    from antecede.sim.plugin import load
    from antecede.sim.scenario import find_recipe

    load(given.pop("plugin", ()))
    reading = _reading(reading, given)
    find_recipe(recipe or "solicit")
    if sweep is not None:
        _refuse_knobs(
            given,
            {"recipe", "reading", "seed", "out", "sweep", "harsh", "leavers", "table", "resume", "as_json"},
            "--sweep",
        )
        how = {"harsh": bool(harsh), "table": table or "", "leavers": bool(leavers)}
        _sweep(recipe or "solicit", reading or "repaired", seed, sweep, out, resume, as_json, how)
        return
    if resume:
        raise InputError("--resume goes with --sweep N: a single run is simply run again.")
    if draw is not None:
        _refuse_knobs(
            given,
            {"recipe", "reading", "seed", "out", "draw", "harsh", "leavers", "table", "as_json", "resume"},
            "--draw",
        )
        from antecede.sim.draw import draw as draw_scenario
        from antecede.sim.limits import SCENARIOS

        if not 0 <= draw < SCENARIOS:
            raise InputError(f"--draw is {draw:,}: scenarios of a sweep are counted from 0 to {SCENARIOS - 1:,}.")
        drawn = draw_scenario(
            seed,
            recipe or "solicit",
            draw,
            reading or "repaired",
            harsh=bool(harsh),
            table=table or "",
            leavers=bool(leavers),
        )
        _one(drawn, out, as_json)
        return
    if harsh or leavers:
        option = "--harsh" if harsh else "--leavers"
        raise InputError(f"{option} goes with --sweep N or --draw I: of a single run say what is to go wrong.")
    chosen = _scenario(given)
    _say_if_all(chosen)
    if seeds is not None:
        _many(chosen, seeds, out, as_json)
        return
    _one(chosen, out, as_json)


def _reading(reading: str | None, given: dict[str, Any]) -> str | None:
    """One repair undone is a reading of its own."""
    from antecede.core.recipes import WITHOUT

    repair = given.pop("without", None)
    if repair is None:
        return reading
    if reading not in (None, "repaired"):
        raise InputError(f"--without undoes one repair of the repaired reading: leave out --reading {reading}.")
    given["reading"] = WITHOUT + repair
    return WITHOUT + str(repair)


def _say_if_all(scenario: Scenario) -> None:
    """A local view that holds everybody changes nothing: better said than wondered about."""
    from antecede.sim.scenario import find_recipe

    flat = find_recipe(scenario.builds).flat
    others = scenario.brokers + (scenario.subscribers if flat else 0) - 1
    if scenario.view > 0 and scenario.view >= others:
        who = "members" if flat else "brokers"
        print(
            f"antecede: --view {scenario.view} has room for all {others} other {who}: no view is local here, so give "
            f"fewer than {others} or leave it out.",
            file=sys.stderr,
        )


def _refuse_knobs(given: dict[str, Any], allowed: set[str], option: str) -> None:
    extra = sorted(set(given) - allowed)
    if extra:
        raise InputError(f"{option} draws its scenarios: leave out --{extra[0].replace('_', '-')}.")


def _span(text: str, option: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise InputError(f"{option} is {text!r}: give LO:HI in milliseconds, e.g. 5:20.") from None


def _rates(churn: str) -> dict[str, float]:
    rates: dict[str, float] = {}
    for part in filter(None, (p.strip() for p in churn.split(","))):
        name, _, value = part.partition("=")
        try:
            rates[name] = float(value)
        except ValueError:
            name = ""
        if name not in ("join", "leave", "move"):
            raise InputError(f"--churn has {part!r}: write join=0.1,leave=0.1,move=0.2 (per process and second).")
    return rates


def _scenario(given: dict[str, Any]) -> Scenario:
    """The defaults or the file, with what was given on the command line over them."""
    from antecede.sim.scenario import Scenario, find_recipe

    base = Scenario.load(given["scenario"]) if "scenario" in given else None
    knobs = {k: v for k, v in given.items() if k in {f.name for f in dataclasses.fields(Scenario)}}
    if base is not None and given["seed"] == 0:
        del knobs["seed"]
    for name in ("workload", "latency"):
        if name in knobs:
            knobs[name] = str(knobs[name])
    if "delay_ms" in knobs:
        knobs["delay_ms"] = _span(knobs["delay_ms"], "--delay-ms")
    if "churn" in given:
        knobs.update(_rates(given["churn"]))
    if "deadline_ms" in knobs:
        text = knobs["deadline_ms"]
        knobs["deadline_ms"] = None if text == "none" else _span(text, "--deadline-ms")
    elif base is None and (kind := find_recipe(knobs.get("recipe", "solicit")).deadlines) not in ("none", "lifetime"):
        knobs["deadline_ms"] = (300.0, 300.0 if kind == "same" else 600.0)
    return dataclasses.replace(base, **knobs) if base is not None else Scenario(**knobs)


def _usable(out: Path) -> None:
    if out.is_file():
        raise InputError(f"{out} is a file: --out wants a directory.")
    if out.is_dir():
        foreign = sorted(entry.name for entry in out.iterdir() if entry.name not in OURS)
        if foreign:
            raise InputError(f"{out} holds {foreign[0]}, which is no part of a run: choose another --out.")


def _one(scenario: Scenario, out: Path | None, as_json: bool) -> None:
    from antecede.sim.plugin import plugin_options
    from antecede.sim.run import Run
    from antecede.sim.run import simulate as run_scenario
    from antecede.trace.check import check
    from antecede.trace.parquet import TraceWriter

    began = time.perf_counter()
    run: Run
    report = None
    with Progress("messages published", None if scenario.workload else scenario.count) as progress:
        if out is None:
            run = run_scenario(scenario, progress=progress.at)
        else:
            _usable(out)
            fresh = not out.exists()
            try:
                with TraceWriter(out) as writer:
                    run = run_scenario(scenario, writer.write, digest=True, progress=progress.at)
                    writer.close(run.body(), run.summary())
                (out / PICTURE).unlink(missing_ok=True)
            except BaseException:
                if fresh:  # what was not there before is not there after a failure
                    with contextlib.suppress(OSError):
                        out.rmdir()
                raise
        seconds = time.perf_counter() - began
        if scenario.count <= JUDGED and not (scenario.workload and scenario.messages is None):
            report = check(run.rows if out is None else out, scenario=run.body(), watch=progress.stage)
    check_it = f"antecede check{plugin_options()} {shlex.quote(str(out))}"
    sums: dict[str, dict[str, int]] = {}
    for kinds in run.totals.values():
        for kind, total in kinds.items():
            into = sums.setdefault(kind, dict.fromkeys(total, 0))
            for name, value in total.items():
                into[name] += value
    if as_json:
        body = {"run": scenario.run, "digest": run.digest(), "quiet": run.quiet, "events": run.events,
                "totals": sums, "notes": run.notes, "fates": report.fates if report else None,
                "verdicts": report.counts if report else None, "exempt": list(report.exempt) if report else None,
                "out": str(out) if out else None}  # fmt: skip
        print(json.dumps(body, indent=2, sort_keys=True))
        _end(report)
        return
    ended = "became quiet" if run.quiet else "was stopped at its limit"
    print(f"{scenario.run}: {run.events:,} events in {seconds:.1f} s; it {ended} at {run.end_us / 1e6:.2f} s.")
    for kind, total in sorted(sums.items()):
        frames, size, stamps = total["frames"], total["bytes"], total["control_bytes"]
        print(f"  {kind:<16} {frames:>9,} frames {size:>12,} bytes, {stamps:,} of stamps")
    for name, count in sorted(run.notes.items()):
        print(f"  {name}: {count:,}")
    if report is not None:
        _print_fates(report.pairs, report.fates, report.counts, report.exempt)
    else:
        print(f"  not judged: more than {JUDGED:,} messages, or a whole recorded history")
    print(f"digest {run.digest()}")
    if out is not None:
        print(f"written to {out}\n  judge it with: {check_it}\n  draw it with:  antecede show {shlex.quote(str(out))}")
    _end(report)


def _many(scenario: Scenario, count: int, out: Path | None, as_json: bool) -> None:
    from antecede.sim.limits import SCENARIOS
    from antecede.sim.metrics import SHOWN, means, measure_seeds, write_metrics
    from antecede.sim.scenario import find_recipe

    if not 1 <= count <= SCENARIOS:
        raise InputError(f"--seeds is {count:,}: it must be at least 1 and at most {SCENARIOS:,}.")
    if out is not None:
        _usable(out)
    scenario.fits(find_recipe(scenario.builds))
    with Progress("runs", count) as progress:
        rows = measure_seeds(scenario, count, lambda: progress.step(scenario.recipe))
    table = means(rows)
    if out is not None:
        write_metrics(rows, out)
    if as_json:
        print(json.dumps({"runs": rows, "means": table, "out": str(out) if out else None}, indent=2))
    else:
        what = (
            f"{count:,} runs, seeds {scenario.seed} to {scenario.seed + count - 1}. Mean and 95 % interval over seeds"
        )
        print(f"{scenario.recipe}, {scenario.reading}: {what if count > 1 else f'1 run, seed {scenario.seed}'}:")
        for name, (mean, half) in table.items():
            print(f"  {SHOWN[name]:<44} {mean:>14,.4g}" + (f" ± {half:.2g}" if half is not None else ""))
        if out is not None:
            print(f"written to {out / 'metrics.parquet'}: one row per run")
    if any(row["violations"] for row in rows):
        raise typer.Exit(1)


def _end(report: Report | None) -> None:
    """What was judged and is not clean is exit 1, of one run as of many."""
    if report is not None and not report.clean:
        raise typer.Exit(1)


def _print_fates(pairs: int, fates: dict[str, int], verdicts: dict[str, int], exempt: Sequence[str]) -> None:
    told = ", ".join(f"{name} {count:,}" for name, count in fates.items() if count)
    print("  " + fitted(f"{pairs:,} pairs: {told or 'nothing was to be delivered'}", indent="    ", used=2))
    found = ", ".join(f"{name} {count:,}" for name, count in verdicts.items() if count) or "clean"
    print(f"  verdict: {found}" + (f" (not judged: {', '.join(exempt)})" if exempt else ""))


def _sweep(
    recipe: str,
    reading: str,
    seed: int,
    count: int,
    out: Path | None,
    resume: bool,
    as_json: bool,
    how: dict[str, Any],
) -> None:
    from antecede.sim.draw import draw as draw_scenario
    from antecede.sim.limits import SCENARIOS
    from antecede.sim.scenario import find_recipe
    from antecede.sim.sweep import Sweep

    if not 1 <= count <= SCENARIOS:
        raise InputError(f"--sweep is {count:,}: it must be at least 1 and at most {SCENARIOS:,}.")
    if out is None:
        raise InputError("--sweep needs --out DIR, where its results are kept.")
    _usable(out)
    first = draw_scenario(seed, recipe, 0, reading, **how)
    first.fits(find_recipe(recipe))
    campaign = Sweep(out, recipe, reading, seed, count, **how)
    began = time.perf_counter()
    progress = Progress("scenarios", count)
    try:
        with progress:
            summary = campaign.run(resume, begun=progress.begin, progress=lambda judged: progress.step(recipe))
    except KeyboardInterrupt:
        done = f"{progress.done:,} of {count:,} scenarios are judged"
        print(f"Interrupted: {done}; go on with: {campaign.again(out)}", file=sys.stderr)
        raise
    seconds = time.perf_counter() - began
    if as_json:
        body = dataclasses.asdict(summary)
        body["failures"] = [{**dataclasses.asdict(f), "command": campaign.command(f)} for f in summary.failures]
        print(json.dumps({"recipe": recipe, "seconds": round(seconds, 3), **body}, indent=2, sort_keys=True))
    else:
        for failure in summary.failures:
            print(f"scenario {failure.index} (seed {failure.seed}): {failure.what}")
            print(f"  {campaign.command(failure)}")
        print(f"{recipe}: {summary.scenarios:,} scenarios, {summary.events:,} events in {seconds:.1f} s; "
              f"{summary.stopped:,} did not become quiet, {len(summary.failures):,} failed.")  # fmt: skip
        _print_fates(summary.pairs, summary.fates, summary.verdicts, summary.exempt)
    if summary.failures:
        raise typer.Exit(1)
