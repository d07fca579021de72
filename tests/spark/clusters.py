"""Real Spark clusters on this machine: a standalone master with workers, and a Connect server, all on loopback.

Used by the tests and by bench/cluster.py. Everything is started from the pip package and ended by its process id.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

import antecede
from antecede.spark.java import find_java
from antecede.spark.settings import QUICK_JAVA
from tests.spark.killing import kill_family

HOME = Path(pyspark.__file__).parent
SOURCE = Path(antecede.__file__).parents[1]
JOB = Path(__file__).with_name("cluster_job.py")
PATIENCE_S = 600


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    """That of a machine of its own: without our PYTHONPATH, so that what reaches the workers was sent to them."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYSPARK_PYTHON")}
    java = {"JAVA_HOME": str(find_java().home), "JAVA_TOOL_OPTIONS": QUICK_JAVA}  # masters, workers, executors too
    return {**kept, **java, "SPARK_HOME": str(HOME), "SPARK_LOCAL_IP": "127.0.0.1", **more}


def wait_for(what: str, ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not ready():
        if process.poll() is not None or time.monotonic() > limit:
            raise RuntimeError(f"{what} did not start: {log.read_text()[-2000:]}")
        time.sleep(0.05)


@contextmanager
def running(words: list[str], log: Path, env: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours, and at the end nothing of it."""
    with log.open("wb") as out:
        process = subprocess.Popen(words, env=env, cwd=log.parent, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        kill_family(process.pid)
        process.wait()


@contextmanager
def standalone(folder: Path, workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a master, and its workers: one core and one gigabyte each."""
    port, launcher = free_port(), str(HOME / "bin" / "spark-class")
    address = f"spark://127.0.0.1:{port}"
    env = environment(SPARK_DAEMON_MEMORY="256m", SPARK_MASTER_OPTS="-Dspark.master.rest.enabled=false")
    words = [launcher, "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port)]
    log = folder / "master.log"
    with running([*words, "--webui-port", "0"], log, env) as master:
        wait_for("the master", lambda: "New state: ALIVE" in log.read_text(), master, log)
        processes: list[subprocess.Popen[bytes]] = []
        with workers_at(address, folder, workers, env, processes):
            wait_for("a worker", lambda: log.read_text().count("Registering worker") >= workers, master, log)
            yield address, processes


@contextmanager
def workers_at(
    address: str, folder: Path, count: int, env: dict[str, str], started: list[subprocess.Popen[bytes]]
) -> Iterator[None]:
    if not count:
        yield
        return
    words = [str(HOME / "bin" / "spark-class"), "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1"]
    words += [
        "--cores",
        "1",
        "--memory",
        "1g",
        "--webui-port",
        "0",
        "--work-dir",
        str(folder / f"work{count}"),
        address,
    ]
    with running(words, folder / f"worker{count}.log", env) as worker:
        started.append(worker)
        with workers_at(address, folder, count - 1, env, started):
            yield


@contextmanager
def connect_server(folder: Path, python: str = sys.executable) -> Iterator[str]:
    """The address of a Spark Connect server whose workers run `python`, with the state store that Spark itself sets.

    It has antecede itself: Spark does not send files to the process that plans a streaming source.
    """
    port, log = free_port(), folder / "connect.log"
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",  # it binds all addresses otherwise
        "spark.connect.grpc.binding.port": str(port),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    words = [str(HOME / "bin" / "spark-submit"), "--master", "local[2]"]
    words += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer"]
    words += [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]

    def answers() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    with running([*words, "spark-internal"], log, environment(PYSPARK_PYTHON=python, PYTHONPATH=str(SOURCE))) as server:
        wait_for("the Connect server", answers, server, log)
        yield f"sc://127.0.0.1:{port}"


def start_job(master: str, job: str, place: Path, log: Path, python: str = sys.executable) -> subprocess.Popen[bytes]:
    """`job` (MODULE:FUNCTION) on `master`, in a process of its own; the workers run `python`."""
    env = environment(PYSPARK_PYTHON=python, ANTECEDE_SOURCE=str(SOURCE))
    with log.open("wb") as errors:
        words = [sys.executable, str(JOB), master, job, str(place)]
        return subprocess.Popen(words, env=env, cwd=place, stdout=subprocess.PIPE, stderr=errors)


def result_of(process: subprocess.Popen[bytes], log: Path) -> dict[str, Any]:
    """What the job said."""
    try:
        said, _ = process.communicate(timeout=PATIENCE_S)
        if process.returncode != 0:
            raise RuntimeError(log.read_text()[-3000:])
        answer: dict[str, Any] = json.loads(said.decode().strip().splitlines()[-1])
        return answer
    finally:
        kill_family(process.pid)
        process.wait()


def run_job(master: str, job: str, place: Path, python: str = sys.executable) -> dict[str, Any]:
    place.mkdir(parents=True, exist_ok=True)
    return result_of(start_job(master, job, place, place / "job.log", python), place / "job.log")


def kill_worker_during(
    address: str, worker: subprocess.Popen[bytes], job: str, place: Path, python: str = sys.executable
) -> dict[str, Any]:
    """The job, and SIGKILL for one worker with all it started once the first batch of a table in `place` counts."""
    place.mkdir(parents=True, exist_ok=True)
    log = place / "job.log"
    process = start_job(address, job, place, log, python)
    try:
        wait_for("the job", lambda: any(place.glob("**/_manifest/*.json")), process, log)
        kill_family(worker.pid)
        worker.wait()
    except BaseException:
        kill_family(process.pid)
        process.communicate()
        raise
    return result_of(process, log)


def other_interpreter(folder: Path, packages: bool = True) -> Path:
    """An interpreter under another path, without antecede; with what it needs, or bare."""
    import pyarrow

    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    # Lines of a .pth add folders, but the .pth files in those are not read: an editable antecede stays out.
    if packages:
        (site / "others.pth").write_text(f"{Path(pyarrow.__file__).parents[1]}\n")
    return folder / "bin" / "python"
