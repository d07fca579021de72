"""Every Spark setting that antecede chooses, with its reason; what the caller sets wins over all of them.

Decided in this file: which masters are on this machine (all of Spark then stays on the loopback address), which of the
settings a session of the user's own must have too, and nothing is set without a sentence that says why.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple

__all__ = ["QUICK_JAVA", "SETTINGS", "STATE_STORE", "Setting", "cores", "on_this_machine", "settings_for"]

LOOPBACK = "127.0.0.1"

QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a Java that lives for a minute: it compiles lightly. Half of what Spark computes in its first half minute
is compiling for speed that comes later; a long job needs that speed."""


class Setting(NamedTuple):
    name: str
    value: str
    where: Literal["everywhere", "loopback", "here"]
    """`here`: for masters on this machine; `loopback`: for those, and for clusters at a loopback address."""
    reason: str
    yours: Literal["register sets it", "before it starts", "as you like"] = "as you like"
    """In a session that the user has: what `register` sees to, what must be said before it starts, what is theirs."""


STATE_STORE = Setting(
    "spark.sql.streaming.stateStore.providerClass",
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "everywhere",
    "stateful streams (transformWithState) work on no other, and state may outgrow the Java heap",
    "register sets it",
)

SETTINGS: tuple[Setting, ...] = (
    Setting("spark.ui.enabled", "false", "everywhere",
            "the web page opens a port and costs a second; who wants it sets true"),
    Setting("spark.ui.showConsoleProgress", "false", "everywhere",
            "our commands draw their own progress, and two bars on one line are none"),
    Setting("spark.log.level", "FATAL", "everywhere",
            "a failure reaches Python as an exception; Spark's log would print it twice more; set WARN to look inside"),
    Setting("spark.sql.execution.arrow.pyspark.enabled", "true", "everywhere",
            "rows cross between Java and Python in Arrow batches, ten times quicker than one by one"),
    STATE_STORE,
    Setting("spark.sql.session.timeZone", "UTC", "everywhere",
            "times are microseconds since the epoch; what is shown must not depend on the machine"),
    Setting("spark.python.authenticate.socketTimeout", "120s", "everywhere",
            "on a busy machine a Python worker takes longer than Spark's 15 s to start and call back",
            "before it starts"),
    Setting("spark.driver.host", LOOPBACK, "loopback",
            "the machine's own name may resolve to an address that others reach, or to none"),
    Setting("spark.driver.bindAddress", LOOPBACK, "loopback",
            "nothing listens beyond this machine unless the caller says so"),
    Setting("spark.driver.memory", "2g", "here",
            "driver and tasks share one Java; below this, sorts of a few million rows spill"),
    Setting("spark.sql.shuffle.partitions", "{cores}", "here",
            "a task costs about 30 ms whatever it does; Spark's 200 are meant for clusters"),
    Setting("spark.default.parallelism", "{cores}", "here",
            "as above"),
)  # fmt: skip


def on_this_machine(master: str) -> bool:
    """Whether everything that runs under `master` runs here: `local`, `local[4]`, `local-cluster[2,1,1024]`."""
    return re.fullmatch(r"local(\[.*\])?|local-cluster\[.*\]", master.strip()) is not None


def at_loopback(master: str) -> bool:
    """Whether `master` is a cluster whose master listens on a loopback address, so that all of it is here."""
    return re.match(r"spark://(127(\.\d+){3}|localhost|\[::1\])(:|$)", master.strip()) is not None


def cores(master: str) -> int:
    """How many tasks run at once under a master on this machine."""
    affinity = getattr(os, "sched_getaffinity", None)
    machine = len(affinity(0)) if affinity else os.cpu_count() or 1
    cluster = re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,.*\]", master.strip())
    if cluster:
        return int(cluster[1]) * int(cluster[2])
    threads = re.fullmatch(r"local(?:\[\s*(\*|\d+)\s*(?:,.*)?\])?", master.strip())
    if threads is None or threads[1] is None:
        return 1
    return machine if threads[1] == "*" else max(1, int(threads[1]))


def settings_for(
    master: str, app: str, given: Mapping[str, object] | None = None, *, small: bool = False
) -> dict[str, str]:
    """All settings of a session on `master`: the table, then what was given. `small`: so is all it will work on."""
    here = on_this_machine(master)
    places = {"everywhere", *(("loopback", "here") if here else ("loopback",) if at_loopback(master) else ())}
    chosen = {"spark.master": master, "spark.app.name": app}
    for setting in SETTINGS:
        if setting.where in places:
            chosen[setting.name] = setting.value.format(cores=cores(master)) if here else setting.value
    if small and here:
        chosen["spark.driver.extraJavaOptions"] = QUICK_JAVA
    for name, value in (given or {}).items():
        chosen[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return chosen
