"""A Spark session that antecede can work with: the one the user has, or one built here.

Decided in this file: a session that is already there is used, and what it lacks is set or refused in `adopting`; else
one is built on `local[*]`, with the settings of `settings.py`, on the Java of `java.py`, and its start is quiet. Which
versions of Spark are supported, and that anything missing is said in one sentence before Spark can say it in a hundred
lines: a master at which nobody listens, before a Java is started that would wait a minute for it.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import re
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

from antecede.errors import EnvironmentFault, InputError
from antecede.spark.java import find_java
from antecede.spark.settings import LOOPBACK, on_this_machine, settings_for

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SUPPORTED", "TESTED", "check_packages", "opened", "refuse_version", "session", "supported", "warm_up"]

SUPPORTED = ((4, 0), (5, 0))
"""Versions of Spark from the first, below the second."""

TESTED = "4.3"
"""What the tests run on. Others within SUPPORTED offer the same interfaces; limits on batches need 4.2."""

CURE = "pip install 'antecede[spark]'"

ANSWER_S = 10
"""How long a master may take to accept a connection."""

# What Java and Spark print before their log level holds, and Python workers in spite of it. Everything else passes.
NOISE = re.compile(
    r"WARNING: Using incubator modules|Using Spark's default log4j profile|Setting default log level to|"
    r"To adjust logging level use|Setting Spark log level to|.* WARN (NativeCodeLoader|Utils): |"
    r"WARNING: (A|Use) .*(sun\.misc\.Unsafe|--enable-native-access|restricted method|terminally deprecated)|"
    r"WARNING: package \S+ not in |"
    r"WARNING: (sun\.misc\.Unsafe|java\.lang\.System::load|Please consider reporting|Restricted methods)|"
    r"(Starting )?Streaming TransformWithState\w* Python worker"
)


def version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def supported(version: str) -> bool:
    """Whether this antecede works with that version of Spark."""
    least, beyond = SUPPORTED
    return least <= numbers(version) < beyond


def check_packages(version_of: Callable[[str], str | None] = version_of) -> None:
    """Refuse, in one sentence, to begin without what Spark needs in this interpreter."""
    missing = [name for name in ("pyspark", "pandas", "protobuf") if version_of(name) is None]
    if missing:
        raise EnvironmentFault(f"Spark needs {', '.join(missing)}, which {sys.executable} does not have: {CURE}")
    refuse_version(version_of("pyspark") or "0", "pyspark")
    if numbers(version_of("pandas") or "0") >= (3, 0):
        raise EnvironmentFault(
            f"Spark does not support pandas {version_of('pandas')} yet: pip install 'pandas>=2.2,<3'"
        )


def refuse_version(version: str, what: str) -> None:
    if not supported(version):
        (a, b), (c, d) = SUPPORTED
        raise EnvironmentFault(
            f"{what} is version {version}; antecede supports {a}.{b} or later, below {c}.{d} (tested on {TESTED}): "
            f"pip install 'pyspark>={a}.{b},<{c}'"
        )


def session(
    master: str | None = None,
    *,
    app: str = "antecede",
    settings: Mapping[str, object] | None = None,
    small: bool = False,
) -> SparkSession:
    """The Spark session to work with.

    A session that is running already is used, and gets what antecede needs (`adopting.register`); then `master` and
    `settings` may say only what holds in it. Else one is built: on `local[*]`, or on `master` (`local[4]`, `yarn`,
    `spark://host:7077`, ..., or `sc://host:15002` for Spark Connect).
    `settings` are Spark's, by name, and win over those of `antecede.spark.settings`. `small`: what it will work on is
    small, so that a Java started for it had better begin soon than become quick later.
    """
    from antecede.spark.adopting import register

    return register(opened(master, app, settings or {}, small))


def opened(master: str | None, app: str, settings: Mapping[str, object], small: bool) -> SparkSession:
    """The session, not yet seen to by `register`."""
    check_packages()
    spark = running()
    if spark is not None:
        agrees(spark, master, settings)
        return spark
    remote = master if master is not None and master.startswith("sc://") else None
    if remote is not None or (master is None and "SPARK_REMOTE" in os.environ):
        return connected(remote, settings)
    return started(master, app, settings, small)


def warm_up(spark: SparkSession) -> None:
    """Start the Python workers and load what every job needs, so that a clock started after this times the job."""
    spark.range(4).mapInArrow(lambda batches: batches, "id bigint").groupBy("id").count().collect()


def running() -> SparkSession | None:
    """The session the user has, of either kind."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        # In a thread of its own no session is active, yet there is one: the builder returns it.
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    connect = sys.modules.get("pyspark.sql.connect.session")  # not loaded: none can be running
    return connect.SparkSession.getActiveSession() if connect is not None else None


def agrees(spark: SparkSession, master: str | None, settings: Mapping[str, object]) -> None:
    """Nothing the caller asked for is passed over silently: what the running session does not have is refused."""
    cure = "stop it first, or leave this out"
    has = spark.conf.get("spark.master", None)
    if master is not None and has is not None and master != has:
        raise InputError(f"a Spark session on {has} is running, so none can be started on {master}: {cure}")
    for name, value in settings.items():
        wanted = str(value).lower() if isinstance(value, bool) else str(value)
        if spark.conf.get(name, None) != wanted:
            raise InputError(f"the running Spark session has {name}={spark.conf.get(name, None)}, not {wanted}: {cure}")


def connected(url: str | None, settings: Mapping[str, object]) -> SparkSession:
    from pyspark.sql import SparkSession

    if version_of("grpcio") is None:
        raise EnvironmentFault("Spark Connect needs grpcio, which is not installed: pip install 'pyspark[connect]'")
    url = url or os.environ["SPARK_REMOTE"]
    builder = SparkSession.builder.remote(url)
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    try:
        spark = builder.getOrCreate()
        spark.version  # noqa: B018 - the first word that goes over the wire
    except Exception as error:
        raise EnvironmentFault(f"no Spark Connect server answers at {url}: {first_line(error)}") from error
    return spark


def started(master: str | None, app: str, given: Mapping[str, object], small: bool = False) -> SparkSession:
    from pyspark import SparkConf, SparkContext
    from pyspark.sql import SparkSession

    # Left unset, workers take any `python3` on the PATH, which has no pyarrow, and die without a word.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    chosen = master or "local[*]"
    refuse_silence(chosen)
    try:
        if "PYSPARK_GATEWAY_PORT" in os.environ:
            conf = submitted(master, app, given)
        else:
            wanted = settings_for(chosen, app, given, small=small)
            conf = SparkConf(loadDefaults=False).setAll(list(wanted.items()))
            if SparkContext._gateway is None:
                if on_this_machine(chosen):
                    os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)  # executors of local-cluster know no other way
                SparkContext._ensure_initialized(gateway=launched(conf))
        SparkContext(conf=conf)
        spark = SparkSession.builder.getOrCreate()
        atexit.register(spark.stop)  # else its workers complain at the end that nobody listens any more
        return spark
    except EnvironmentFault:
        raise
    except Exception as error:
        raise EnvironmentFault(f"Spark did not start on {chosen}: {first_line(error)}") from error


def refuse_silence(master: str) -> None:
    """A standalone master at which nobody listens; Spark itself would try for a minute and then end the session."""
    if not master.startswith("spark://"):
        return
    said = []
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.strip().rpartition(":")
        if not host or not port.isdigit():
            raise InputError(f"{master} is no address of a Spark master: give spark://HOST:PORT")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_S).close()
            return
        except (OSError, OverflowError) as error:
            said.append(f"{place} ({getattr(error, 'strerror', None) or error})")
    raise EnvironmentFault(
        f"no Spark master answers at {', '.join(said)}: start it (sbin/start-master.sh), correct the address, or leave "
        "it out to run on this machine"
    )


def submitted(master: str | None, app: str, given: Mapping[str, object]) -> Any:
    """Started by spark-submit: what its command line and defaults say holds; ours fills the gaps."""
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()
    conf = SparkConf()
    said = dict(conf.getAll())
    for name, value in settings_for(master or said.get("spark.master", "local[*]"), app, given).items():
        if name not in said or name in given or (name == "spark.master" and master is not None):
            conf.set(name, value)
    return conf


def launched(conf: Any) -> Any:
    """A Java for Spark, its first words filtered; those of a Java that dies at once are in the sentence."""
    from pyspark import java_gateway

    launch_gateway: Any = java_gateway.launch_gateway

    os.environ["JAVA_HOME"] = str(find_java().home)
    reading, writing = os.pipe()
    last: list[str] = []
    pump = threading.Thread(target=forward, args=(os.fdopen(reading, "r", errors="replace"), last), daemon=True)
    pump.start()
    try:
        try:
            return launch_gateway(conf, {"stderr": writing})
        finally:
            os.close(writing)  # Java has its own; ours would keep the pump waiting for ever
    except Exception as error:
        pump.join(5)
        raise EnvironmentFault(f"Java did not start Spark: {' '.join(last[-1:]) or first_line(error)}") from error


def forward(lines: IO[str], last: list[str]) -> None:
    """What Java says, without its noise, until it ends."""
    with lines:
        noise = False
        for line in lines:
            noise = NOISE.match(line) is not None or (noise and not line.strip())  # and the blank line after it
            if not noise:
                del last[:-20]
                last.append(line.strip())
                sys.stderr.write(line)
                sys.stderr.flush()


def first_line(error: BaseException) -> str:
    """What an exception of Spark's says, without the Java behind it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = next((line for line in lines if not line.startswith("An error occurred while calling")), "no message")
    return re.sub(r"^:?\s*(?:[a-z]+(?:\.[a-z0-9_]+)+\.\w+:\s*)+", "", told)[:300]
