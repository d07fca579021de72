"""What a session that the user already has needs before antecede works in it: set where it may be, else refused.

    from antecede.spark import register
    register(spark)                                                  # any session; again costs nothing

Decided in this file: what is changed in a session that is not ours - the workers get this package, workers on this
machine for which nobody chose an interpreter run this one, the session knows the format `antecede`, and stateful
streams keep their state in RocksDB - and nothing else; what cannot be changed any more is one sentence with the line to
add before the session starts. `causal_order` and `fuse` see to it by themselves, so only who reads or writes
`format("antecede")` in a session of their own must call `register`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from antecede.errors import EnvironmentFault
from antecede.spark.sessions import check_packages, refuse_version
from antecede.spark.settings import STATE_STORE, cores, on_this_machine
from antecede.spark.ship import check_workers, is_connect, ship

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register", "see_to"]

_KNOWN: WeakSet[SparkSession] = WeakSet()
"""Sessions that have been seen to. Another session of the same context has its own formats and settings."""
_FORMATTED: WeakSet[SparkSession] = WeakSet()
"""Those that know the format."""
_WARNED: WeakSet[SparkSession] = WeakSet()

TOO_MANY = 8
"""Partitions of a stateful stream for each core of this machine, above which it is worth a warning."""


def register(spark: SparkSession, *, streams: bool = False, formats: bool = True) -> SparkSession:
    """Let antecede work in `spark`, any session, or say in one sentence what it lacks; the session itself is returned.

    `streams`: stateful streams must work too. Without it a session that does not let their setting be set passes.
    `formats`: the format `antecede` is made known. For that Spark starts one more Python process, which looks for the
    formats of others: a second that a job without our format need not spend.
    """
    if spark not in _KNOWN:
        check_packages()
        refuse_version(spark.version, "the running Spark")
        ship(spark)
        if is_connect(spark) or not on_this_machine(spark.sparkContext.master or ""):
            check_workers(spark)  # on this machine it is known what they run
        _KNOWN.add(spark)
    if formats and spark not in _FORMATTED:
        from antecede.spark.source import AntecedeSource

        with _active(spark):
            spark.dataSource.register(AntecedeSource)
        _FORMATTED.add(spark)
    _keep_state(spark, streams)
    if streams:
        _warn_of_partitions(spark)
    return spark


def see_to(spark: SparkSession, *, streams: bool) -> None:
    """What `causal_order` and `fuse` do by themselves: `register`, unless somebody has seen to the session before and
    left the format out."""
    register(spark, streams=streams, formats=streams or spark not in _KNOWN)


@contextmanager
def _active(spark: SparkSession) -> Iterator[None]:
    """Spark looks whether a format is known in whatever session is active: another one may know it already."""
    if is_connect(spark):
        yield
        return
    sessions: Any = spark.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession  # type: ignore[union-attr]
    before = sessions.getActiveSession()
    sessions.setActiveSession(spark._jsparkSession)
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def _keep_state(spark: SparkSession, needed: bool) -> None:
    """State in RocksDB, for the queries that start from now on; those that run, and old checkpoints, keep theirs."""
    name, value = STATE_STORE.name, STATE_STORE.value
    if spark.conf.get(name, None) == value:
        return
    try:
        spark.conf.set(name, value)
    except Exception as error:
        if needed:
            raise EnvironmentFault(
                f"stateful streams need {name}, which this Spark session does not let be set any more: "
                f'add .config("{name}", "{value}") to its builder'
            ) from error


def _warn_of_partitions(spark: SparkSession) -> None:
    """Spark's 200 partitions, meant for clusters, take a stateful stream minutes for each batch on a few cores."""
    if is_connect(spark) or spark in _WARNED:
        return
    master, name = spark.sparkContext.master or "", "spark.sql.shuffle.partitions"
    count = int(spark.conf.get(name, "0") or 0)
    if on_this_machine(master) and count > TOO_MANY * cores(master):
        _WARNED.add(spark)
        warnings.warn(
            f"a stateful stream runs Python and a state store for each of {count} partitions, in every batch: "
            f'spark.conf.set("{name}", {cores(master)}) before it first starts is quicker here',
            RuntimeWarning,
            stacklevel=4,
        )
