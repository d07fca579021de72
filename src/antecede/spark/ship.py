"""How antecede reaches Spark's workers, and what they must have themselves.

Decided in this file: the package travels as one zip, made from the files that run here, so that workers never run
another version; where workers on this machine find those very files already, nothing travels. What it needs beside
itself holds compiled code, cannot travel that way, and must be installed for the interpreter of the workers: one look
at it, and one sentence says what is missing where. Workers on this machine whose interpreter nobody has chosen run the
one that runs here; Spark would take any `python3` on the PATH.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import antecede
from antecede.errors import EnvironmentFault
from antecede.spark.faults import plain_faults
from antecede.spark.settings import on_this_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["NEEDED", "Look", "check_workers", "choose_python", "is_connect", "look_at", "package_zip", "ship"]

NEEDED = ("msgspec", "numpy", "pandas", "pyarrow")
"""What a worker must have installed."""

CHOICE = "PYSPARK_PYTHON"
"""The variable by which a user says what workers run; PySpark reads it when a session starts."""

# As text, so that an interpreter without antecede can run it: as a program, and inside a function that travels.
LOOK = f"""
import importlib.util, json, sys
found = importlib.util.find_spec("antecede")
missing = [name for name in {NEEDED!r} if importlib.util.find_spec(name) is None]
said = json.dumps([sys.executable, list(sys.version_info[:2]), missing, found and found.origin])
"""


_SHIPPED: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()
"""Contexts, and sessions of Connect, that have been seen to; whether the package had to travel."""


class Look(NamedTuple):
    """What an interpreter says of itself."""

    python: str
    version: tuple[int, int]
    missing: list[str]
    antecede: str | None
    """Where it finds this package."""

    @classmethod
    def told(cls, text: str) -> Look:
        python, (major, minor), missing, found = json.loads(text)
        return cls(python, (major, minor), missing, found)

    @property
    def lack(self) -> str | None:
        """Why it cannot serve, as the end of a sentence about it."""
        here = sys.version_info[:2]
        if self.version != here:
            return "is Python {}.{}, not {}.{} as here".format(*self.version, *here)
        return f"lacks {', '.join(self.missing)}" if self.missing else None


def is_connect(spark: SparkSession) -> bool:
    """Whether `spark` talks to a Spark Connect server."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def package_files() -> Iterator[tuple[str, bytes]]:
    root = Path(antecede.__file__).parent
    if not root.is_dir():
        raise EnvironmentFault(f"antecede cannot be sent to the workers from {root}: install it unpacked")
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield str(Path("antecede") / path.relative_to(root)), path.read_bytes()


def package_zip(directory: str | Path) -> Path:
    """The package as a zip in `directory`; equal files give an equal zip under an equal name."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in package_files():
            archive.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    content = buffer.getvalue()
    path = Path(directory) / f"antecede-{antecede.__version__}-{hashlib.sha256(content).hexdigest()[:12]}.zip"
    path.write_bytes(content)
    return path


def look_at(python: str) -> Look | None:
    """What a fresh `python` with the environment of this process has; None where it does not run."""
    try:
        # -P: the working directory, which `-c` would search, is not searched by a worker.
        words = [python, "-P", "-c", f"{LOOK}print(said)"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Look.told(done.stdout) if done.returncode == 0 else None


def choose_python(spark: SparkSession) -> Look | None:
    """See to it that workers on this machine run an interpreter that can; None where they run elsewhere."""
    if is_connect(spark) or not on_this_machine(spark.sparkContext.master or ""):
        return None
    context: Any = spark.sparkContext
    said = look_at(context.pythonExec)
    lack = "does not run, or is older than 3.11" if said is None else said.lack
    if lack is None:
        return said
    if CHOICE in os.environ:
        raise EnvironmentFault(
            f"Spark's workers run {context.pythonExec} ({CHOICE}), which {lack}: "
            f"install antecede[spark] for it, or set {CHOICE}={sys.executable} before the session starts"
        )
    context.pythonExec = sys.executable  # what it runs is looked up here whenever a function is sent to the workers
    return look_at(sys.executable)


def ship(spark: SparkSession) -> bool:
    """See to it that the workers of `spark` can run this antecede; True where it had to travel. Again costs nothing."""
    place: Any = spark if is_connect(spark) else spark.sparkContext
    if place not in _SHIPPED:
        _SHIPPED[place] = _to_server(spark) if is_connect(spark) else _to_workers(spark)
    return _SHIPPED[place]


def _to_server(spark: SparkSession) -> bool:
    with tempfile.TemporaryDirectory() as directory:
        spark.addArtifacts(str(package_zip(directory)), pyfile=True)
    return True


def _to_workers(spark: SparkSession) -> bool:
    from pyspark import SparkFiles

    context: Any = spark.sparkContext
    here = choose_python(spark)
    if here is not None and here.antecede and Path(here.antecede).resolve() == Path(antecede.__file__).resolve():
        return False
    directory = tempfile.mkdtemp(prefix="antecede-zip-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)  # not sooner: executors fetch it when they start
    made = package_zip(directory)
    context.addPyFile(str(made))
    # Stateful operators are first tried in a process on the driver that gets no files; it gets this path, as others do.
    known = context.environment.get("PYTHONPATH")
    context.environment["PYTHONPATH"] = os.pathsep.join((str(made), known) if known else (str(made),))
    # Spark plans a streaming source in a process on the driver that looks for files in this folder of its own, into
    # which it never puts any.
    planners = Path(SparkFiles.getRootDirectory()) / "streaming_job"
    planners.mkdir(exist_ok=True)
    shutil.copy(made, planners)
    return True


def check_workers(spark: SparkSession) -> Look:
    """What one worker says of itself; a sentence where it lacks something."""
    from pyspark.sql import functions

    code, cure = LOOK, f"install antecede[spark] for it, or set {CHOICE} to an interpreter that has it"

    # Inside, so that it travels by value: a worker without antecede must be able to run it.
    def look(_: Any) -> str:
        known: dict[str, Any] = {}
        exec(code, known)
        return str(known["said"])

    ask = functions.udf(look, "string", useArrow=False)  # an Arrow one would need pyarrow to say that it is missing
    with plain_faults():
        said = Look.told(spark.range(0, 1, 1, 1).select(ask("id")).collect()[0][0])
    if said.lack is not None:
        raise EnvironmentFault(f"Spark's workers run {said.python}, which {said.lack}: {cure}")
    if said.antecede is None:
        raise EnvironmentFault(f"Spark's workers run {said.python}, which did not get antecede: {cure}")
    return said
