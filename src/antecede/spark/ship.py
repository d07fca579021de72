"""How antecede reaches Spark's workers, and what they must have themselves.

Decided in this file: the package travels as one zip, made from the files that run here, so that workers never run
another version; where workers on this machine find those very files already, nothing travels. What it needs beside
itself holds compiled code, cannot travel that way, and must be installed for the interpreter of the workers: one task
looks, and one sentence says what is missing where.
"""

from __future__ import annotations

import atexit
import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import antecede
from antecede.errors import EnvironmentFault
from antecede.spark.settings import on_this_machine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["NEEDED", "check_workers", "is_connect", "package_zip", "ship"]

NEEDED = ("msgspec", "numpy", "pandas", "pyarrow")
"""What a worker must have installed."""


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


def found_by(python: str) -> Path | None:
    """Where a fresh `python` with the environment of this process finds antecede."""
    code = "import antecede; print(antecede.__file__)"
    try:
        # -P: the working directory, which `-c` would search, is not searched by a worker.
        done = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Path(done.stdout.strip()).resolve() if done.returncode == 0 else None


def ship(spark: SparkSession) -> bool:
    """See to it that the workers of `spark` run this antecede; True where it had to travel. Again costs little."""
    if is_connect(spark):
        with tempfile.TemporaryDirectory() as directory:
            spark.addArtifacts(str(package_zip(directory)), pyfile=True)
        return True
    from pyspark import SparkFiles

    context: Any = spark.sparkContext
    if any(Path(name).name.startswith("antecede-") for name in context._python_includes):
        return True
    if on_this_machine(context.master) and found_by(context.pythonExec) == Path(antecede.__file__).resolve():
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


def check_workers(spark: SparkSession) -> dict[str, Any]:
    """What one worker says of itself (`python`, `antecede`); a sentence where it lacks something."""
    from pyspark.sql import functions

    needed, cure = NEEDED, "install antecede[spark] for it, or set PYSPARK_PYTHON to an interpreter that has it"

    # Inside, so that it travels by value: a worker without antecede must be able to run it.
    def look(_: Any) -> str:
        import importlib.util
        import json
        import sys

        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        found = importlib.util.find_spec("antecede")
        return json.dumps(
            {"python": sys.executable, "missing": missing, "antecede": found.origin if found is not None else None}
        )

    ask = functions.udf(look, "string", useArrow=False)  # an Arrow one would need pyarrow to say that it is missing
    said: dict[str, Any] = json.loads(spark.range(0, 1, 1, 1).select(ask("id")).collect()[0][0])
    if said["missing"]:
        raise EnvironmentFault(
            f"Spark's workers run {said['python']}, which lacks {', '.join(said['missing'])}: {cure}"
        )
    if said["antecede"] is None:
        raise EnvironmentFault(f"Spark's workers run {said['python']}, which did not get antecede: {cure}")
    return said
