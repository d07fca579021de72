"""A whole pipeline: source -> order -> fuse -> audit -> tables; batch here, continuous in `streams`.

    from antecede.spark import run_pipeline
    report = run_pipeline("CONFIG.toml")

Decided in this file: the stages and what each is made from, that each is a step from DataFrame to DataFrame written as
one table, that a stage which is finished is not repeated (`stamps`), and what the report says. Nothing is lost and
nothing is silent: rows in = rows out of the order stage + rows in quarantine, or the report says that it is not so.

Tables below the output, each with its manifest (`sink`): `ordered` every row with its fate, `fused` one row per cut and
interest, `findings` what the audit found, `quarantine` what could not be read, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from antecede.spark import steps
from antecede.spark.adopting import register
from antecede.spark.again import STAGES, keys_of, last_report, output_of, whole_key
from antecede.spark.bad import bad_files
from antecede.spark.config import Pipeline, config_from, load_config
from antecede.spark.intake import QUARANTINE, damaged, faulty, read_rows, sound
from antecede.spark.jobs import Far, following, page_of
from antecede.spark.manifest import clean
from antecede.spark.outcome import DAMAGED, ROWS_IN, Report, Stage
from antecede.spark.sessions import session
from antecede.spark.sink import read, table_rows, write
from antecede.spark.stamps import Ledger, Stamp
from antecede.spark.tables.careful import careful
from antecede.spark.tables.files import is_small

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["STAGES", "Report", "Stage", "Work", "run_pipeline"]

Told = Callable[[str, Far], None]
"""Called while a stage runs: its name, and how far Spark is with it."""


def run_pipeline(
    config: Pipeline | Mapping[str, Any] | str | Path,
    *,
    spark: SparkSession | None = None,
    clock: Callable[[], float] | None = None,
    told: Told | None = None,
) -> Report:
    """Run a pipeline, or what is left of it, and say what came of it.

    `config`: a file, its contents as plain values, or a `Pipeline`. `spark`: your own session. `clock`: something like
    `time.perf_counter`, if the report is to tell seconds. `told` is called when a stage begins and as tasks finish.
    Where nothing has changed since it was last run, the report of that run is returned, and Spark is not started.
    """
    if isinstance(config, str | Path):
        config = load_config(config)
    elif not isinstance(config, Pipeline):
        config = config_from(dict(config))
    root = output_of(config)
    done = last_report(config)
    if done is not None:
        return done
    if spark is None:
        small = not config.mode.continuous and is_small(config.source.paths)
        spark = session(config.spark.master, app="antecede pipeline", settings=config.spark.settings, small=small)
    else:
        register(spark)
    work = Work(spark, config, root, clock, told)
    with careful(spark):
        if config.mode.continuous:
            from antecede.spark.streams import run_continuous

            return run_continuous(work)
        return work.batch()


class Work:
    """One run of a pipeline."""

    def __init__(
        self,
        spark: SparkSession,
        config: Pipeline,
        root: Path,
        clock: Callable[[], float] | None,
        told: Told | None,
    ) -> None:
        self.spark, self.config, self.root, self.clock, self.told = spark, config, root, clock, told
        self.ledger = Ledger(root)
        self.key = whole_key(config)
        self.bad: list[tuple[str, str]] = []
        self._rows: DataFrame | None = None
        self._left_out = self.bad

    # -- batch -----------------------------------------------------------------------------------------------------

    def batch(self) -> Report:
        config = self.config
        keys = keys_of(config)
        stages = [self.stage("quarantine", keys, self._quarantine), self.stage("ordered", keys, self._ordered)]
        if self._rows is not None:
            self._rows.unpersist()
        if config.fuse is not None:
            stages.append(self.stage("fused", keys, self._fused))
        if config.audit.wanted:
            stages.append(self.stage("findings", keys, self.findings))
        rows_in = stages[0].counts.get(ROWS_IN, 0)
        return self.report(rows_in, stages)

    def report(
        self,
        rows_in: int,
        stages: list[Stage],
        held: int = 0,
        unread: int = 0,
        *,
        oldest_held_us: int | None = None,
        whole: bool = True,
    ) -> Report:
        """`whole`: all that was there when it began has been done, so that it need not be done again."""
        report = Report(str(self.root), rows_in, tuple(stages), held, unread, oldest_held_us)
        self.ledger.save(report=report.to_json(), key=self.key if whole else None)
        return report

    def stage(self, name: str, keys: Mapping[str, str], make: Callable[[], Mapping[str, int]]) -> Stage:
        """Do a stage, unless it is done."""
        done = self.ledger.done(name, keys[name])
        if done is not None:
            return Stage(name, done.rows, done.counts, done.seconds, repeated=False)
        begun = self.clock() if self.clock else None
        with self.watched(name):
            counts = self._with_care(make)
        rows = sum(table_rows(self.root / name).values())
        seconds = self.clock() - begun if self.clock and begun is not None else None
        self.ledger.put(Stamp(name, keys[name], rows, counts, seconds))
        return Stage(name, rows, counts, seconds)

    def _with_care(self, make: Callable[[], Mapping[str, int]]) -> Mapping[str, int]:
        """If a file turns out to be damaged inside, leave it out and try again, once."""
        try:
            return make()
        except Exception as error:
            known = {file for file, _ in self.bad}
            more = [] if "FAILED_READ_FILE" not in str(error) else damaged(self.spark, self.config, thorough=True)
            if all(file in known for file, _ in more):
                raise
            self.bad = more
            self._quarantine()
            return make()

    @contextmanager
    def watched(self, name: str) -> Iterator[None]:
        """Tell of tasks as they finish; on Spark's own page the jobs carry the name of the stage."""
        told, context = self.told, getattr(self.spark, "_sc", None)
        if told is None:
            yield
            return
        told(name, Far(page=page_of(self.spark)))
        if context is not None:
            context.setJobGroup(f"antecede pipeline {name}", f"antecede pipeline: {name}", interruptOnCancel=True)
        try:
            with following(self.spark, lambda far: told(name, far)):
                yield
        finally:
            if context is not None:
                context.setLocalProperty("spark.jobGroup.id", None)
                context.setLocalProperty("spark.job.description", None)

    # -- the stages ------------------------------------------------------------------------------------------------

    def rows(self) -> DataFrame:
        """What is read. Views of runs are kept, since two stages need them and they cost more than to keep."""
        if self._rows is None or self._left_out != self.bad:
            self._rows, self._left_out = read_rows(self.spark, self.config, [file for file, _ in self.bad]), self.bad
            if self.config.source.kind == "run":
                self._rows = self._rows.persist()
        return self._rows

    def write(self, name: str, df: DataFrame, partition_by: tuple[str, ...] = ()) -> None:
        write(df, self.root / name, partition_by=partition_by, overwrite=True)
        clean(self.root / name, idle=True)

    def counts(self, name: str, *columns: str) -> dict[str, int]:
        """Rows of a table by the values of some columns: a handful."""
        grouped = read(self.spark, self.root / name).groupBy(*columns).count().orderBy(*columns)
        return {" ".join(map(str, row[:-1])): row[-1] for row in grouped.collect()}

    def _quarantine(self) -> dict[str, int]:
        from pyspark.sql import Observation

        if not self.bad:
            self.bad = damaged(self.spark, self.config)
        seen = Observation("rows in")
        rows = faulty(self.rows().observe(seen, F.count(F.lit(1)).alias("rows")))
        self.write("quarantine", rows)
        rows_in = int(seen.get["rows"])
        notes = [*self.bad, *((bad.file, bad.reason) for bad in bad_files(self.root / "damaged"))]
        if notes:
            files = [(file, reason, None) for file, reason in notes]
            write(self.spark.createDataFrame(files, QUARANTINE), self.root / "quarantine")
        return {ROWS_IN: rows_in, DAMAGED: len(notes)} | self.counts("quarantine", "reason")

    def _ordered(self) -> dict[str, int]:
        self.write("ordered", sound(self.rows()).transform(steps.order(self.config)), self.config.output.partition_by)
        return self.counts("ordered", "fate")

    def _fused(self) -> dict[str, int]:
        self.write("fused", read(self.spark, self.root / "ordered").transform(steps.fused(self.config)))
        return self.counts("fused", "interest")

    def findings(self) -> dict[str, int]:
        self.write("findings", steps.findings(self.spark, self.config, self.root))
        return self.counts("findings", "of", "verdict")
