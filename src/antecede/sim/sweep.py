"""Many drawn scenarios, each simulated and judged by the oracle, on all cores.

Decided here: a failed scenario is a row and never stops the others; results are appended to `sweep.jsonl` as they
come, so that a sweep that was interrupted goes on where it was; every failure is a command that replays it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shlex
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path

import antecede
from antecede.errors import InputError
from antecede.sim.draw import draw
from antecede.sim.found import UNHEARD
from antecede.sim.plugin import load, loaded, plugin_options, told
from antecede.sim.run import RESTLESS, simulate
from antecede.trace.check import EXEMPT, check
from antecede.trace.report import FATES, VERDICTS
from antecede.trace.writing import writing

__all__ = ["Judged", "Summary", "Sweep", "judge"]

FORMAT = 1
CHUNK = 5
"""Scenarios per task. Raising it costs what is repeated after an interruption, lowering it task overhead."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One scenario of a sweep and what became of it."""

    index: int
    seed: int
    events: int = 0
    pairs: int = 0
    quiet: bool = True
    fates: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    what: str = ""
    """The first finding, or the exception; empty: clean."""


@dataclass(slots=True)
class Summary:
    scenarios: int = 0
    events: int = 0
    pairs: int = 0
    stopped: int = 0
    """Runs that did not become quiet before their limit: somebody waited for a broker, and none was left for it."""
    fates: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FATES, 0))
    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    failures: list[Judged] = field(default_factory=list)
    exempt: tuple[str, ...] = ()
    """Verdicts that were not judged: the recipe does not promise them."""

    def add(self, judged: Judged) -> None:
        self.scenarios += 1
        self.events += judged.events
        self.pairs += judged.pairs
        self.stopped += not judged.quiet
        for name, count in judged.fates.items():
            self.fates[name] = self.fates.get(name, 0) + count
        for name, count in judged.verdicts.items():
            self.verdicts[name] = self.verdicts.get(name, 0) + count
        if judged.what:
            self.failures.append(judged)


def judge(
    seed: int, recipe: str, reading: str, index: int, *, harsh: bool = False, table: str = "", leavers: bool = False
) -> Judged:
    """Simulate and check one scenario; whatever goes wrong becomes its row."""
    scenario = draw(seed, recipe, index, reading, harsh=harsh, table=table, leavers=leavers)
    try:
        run = simulate(scenario)
        report = check(run.rows, scenario=run.body())
    except Exception as error:  # a bug in a machine must not hide what the other scenarios show
        return Judged(index, scenario.seed, what=told(error))
    what = ""
    if report.findings:
        first = report.findings[0]
        what = f"{first.verdict} at {first.process}: {first.text}"
    elif not report.clean:
        what = f"records of {', '.join(report.unknown_tails)} stop without an end"
    elif sum(report.fates.values()) != report.pairs:
        what = f"{report.pairs} pairs but {sum(report.fates.values())} fates"
    elif run.notes.get(UNHEARD):
        what = "somebody did not listen to one that was there to the end"
    elif run.notes.get(RESTLESS):
        what = "it did not become quiet, although there was a broker for everybody"
    verdicts = {name: count for name, count in report.counts.items() if count}
    fates = {name: count for name, count in report.fates.items() if count}
    return Judged(index, scenario.seed, run.events, report.pairs, run.quiet, fates, verdicts, what)


def _judge_all(
    seed: int, recipe: str, reading: str, harsh: bool, table: str, leavers: bool, indices: Sequence[int]
) -> list[Judged]:
    return [judge(seed, recipe, reading, index, harsh=harsh, table=table, leavers=leavers) for index in indices]


def begin_worker(plugins: Sequence[Path]) -> None:
    """In a worker: the recipes of this process, and a sweep that is killed leaves nobody behind."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interruption is for the sweep, which says what it means
    load(plugins)
    end_with_parent()


def end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class Sweep:
    """`count` scenarios of one recipe; results lie in `directory/sweep.jsonl`."""

    def __init__(
        self,
        directory: Path,
        recipe: str,
        reading: str,
        seed: int,
        count: int,
        *,
        harsh: bool = False,
        table: str = "",
        leavers: bool = False,
    ) -> None:
        self.recipe, self.reading, self.seed, self.count, self.harsh = recipe, reading, seed, count, harsh
        self.table, self.leavers = table, leavers
        self.path = directory / "sweep.jsonl"
        self.head = {"format": FORMAT, "antecede": antecede.__version__, "recipe": recipe, "reading": reading,
                     "seed": seed, "harsh": harsh, "table": table}  # fmt: skip
        if leavers:
            self.head["leavers"] = True

    def command(self, judged: Judged) -> str:
        """What replays one scenario."""
        name = f"{self.recipe}-{self.seed}-{judged.index}{'-harsh' * self.harsh}{'-leavers' * self.leavers}"
        run = f"{self._words()} --draw {judged.index} --out runs/{name}"
        return f"{run} && antecede check{plugin_options()} runs/{name}"

    def again(self, out: Path) -> str:
        """What goes on with this sweep after an interruption."""
        return f"{self._words()} --sweep {self.count} --out {shlex.quote(str(out))} --resume"

    def _words(self) -> str:
        """What decides all its scenarios, as a command."""
        reading = "" if self.reading == "repaired" else f" --reading {self.reading}"
        harsh = " --harsh" * self.harsh + " --leavers" * self.leavers
        table = f" --table {shlex.quote(self.table)}" if self.table else ""
        return f"antecede simulate{plugin_options()} --recipe {self.recipe}{reading} --seed {self.seed}{harsh}{table}"

    def run(
        self,
        resume: bool = False,
        workers: int | None = None,
        progress: Callable[[Judged], None] | None = None,
        begun: Callable[[int], None] | None = None,
    ) -> Summary:
        """Everything that is not yet in the file; then what all of it adds up to. `begun` is told how many are there
        already, `progress` is told each other one."""
        done = self._resume() if resume and self.path.exists() else self._begin()
        summary = Summary(exempt=tuple(sorted(EXEMPT.get(self.recipe, ()))))
        for judged in done.values():
            summary.add(judged)
        left = [index for index in range(self.count) if index not in done]
        if begun is not None:
            begun(summary.scenarios)
        with self.path.open("a", encoding="utf-8") as file:
            for judged in self._judged(left, workers or os.cpu_count() or 1):
                with writing(self.path):
                    file.write(json.dumps(asdict(judged), sort_keys=True) + "\n")
                    file.flush()
                summary.add(judged)
                if progress is not None:
                    progress(judged)
        summary.failures.sort(key=lambda judged: judged.index)
        return summary

    def _judged(self, left: list[int], workers: int) -> Iterator[Judged]:
        if workers == 1 or len(left) <= CHUNK:
            for index in left:
                yield judge(
                    self.seed,
                    self.recipe,
                    self.reading,
                    index,
                    harsh=self.harsh,
                    table=self.table,
                    leavers=self.leavers,
                )
            return
        # `spawn`: the same on every system, and nothing of this process leaks into the runs.
        context = multiprocessing.get_context("spawn")
        chunks = iter([left[i : i + CHUNK] for i in range(0, len(left), CHUNK)])
        with ProcessPoolExecutor(workers, mp_context=context, initializer=begin_worker, initargs=(loaded(),)) as pool:
            waiting: set[Future[list[Judged]]] = set()
            try:
                while True:
                    while len(waiting) < 2 * workers and (chunk := next(chunks, None)) is not None:
                        how = (self.seed, self.recipe, self.reading, self.harsh, self.table, self.leavers)
                        waiting.add(pool.submit(_judge_all, *how, chunk))
                    if not waiting:
                        return
                    finished, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in finished:
                        yield from future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> dict[int, Judged]:
        if self.path.exists():
            raise InputError(f"{self.path} already holds a sweep: add --resume to go on, or choose another --out.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.head, sort_keys=True) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}.") from None
        return {}

    def _resume(self) -> dict[int, Judged]:
        """What is already judged; a last line that was torn by an interruption is dropped."""
        lines = self.path.read_text(encoding="utf-8").split("\n")
        whole, torn = lines[:-1], lines[-1]
        try:
            head, *rows = [json.loads(line) for line in whole]
            done = {row["index"]: Judged(**row) for row in rows}
        except (ValueError, TypeError, KeyError):
            raise InputError(f"{self.path} is not a sweep: choose another --out.") from None
        for name, value in self.head.items():
            if head.get(name, "") != value:
                raise InputError(
                    f"{self.path} is a sweep with {name} {head.get(name)}, not {value}: choose another --out."
                )
        if torn:
            self.path.write_text("".join(line + "\n" for line in whole), encoding="utf-8")
        return {index: judged for index, judged in done.items() if index < self.count}
