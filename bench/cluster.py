"""The same job on every kind of master, and with a worker killed while it runs: equal results, or exit 1.

    python bench/cluster.py --job tests.spark.cluster_job:pipeline   # every stage of the pipeline
    python bench/cluster.py --job tests.spark.cluster_job:sweep --on local,standalone   # the lab's cells, 1 and 8 parts
    python bench/cluster.py [--job MODULE:FUNCTION] [--on local,local-cluster,standalone,killed,connect]

The job is a function of a session and a folder that returns something JSON can say; without one it is `stream` of
tests/spark/cluster_job.py (source, a transformation, a stateful operator, sink; three batches). Standalone is a real
master with two worker processes; the workers run an interpreter that has no antecede. `killed` is standalone, and one
worker with all it started gets SIGKILL when the first batch counts. Everything stays on loopback. Where there are
workers, the executors that each started are counted. A result that says `same: false` anywhere counts as not equal.
Takes about three minutes on an idle machine.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.spark.clusters import connect_server, kill_worker_during, other_interpreter, run_job, standalone

KINDS = ("local", "local-cluster", "standalone", "killed", "connect")


def run(kind: str, job: str, place: Path, python: str) -> dict[str, Any]:
    place.mkdir()
    if kind == "local":
        return run_job("local[2]", job, place / "job")
    if kind == "local-cluster":
        return run_job("local-cluster[2,1,1024]", job, place / "job")
    if kind == "connect":
        with connect_server(place, python) as address:
            return run_job(address, job, place / "job")
    with standalone(place) as (address, workers):
        if kind == "killed":
            return kill_worker_during(address, workers[0], job, place / "job", python)
        return run_job(address, job, place / "job", python)


def executors(place: Path) -> str:
    """How many each worker of a standalone cluster started: it keeps a folder for every one."""
    counts = [len(list(work.glob("app-*/*"))) for work in sorted(place.glob("work[0-9]*")) if work.is_dir()]
    return f"  executors {' + '.join(map(str, counts))}" if counts else ""


def agrees(answer: Any) -> bool:
    """Whether a result, and every part of it, is the same with itself."""
    if not isinstance(answer, dict):
        return True
    return answer.get("same") is not False and all(map(agrees, answer.values()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--job", default="tests.spark.cluster_job:stream")
    parser.add_argument("--on", default=",".join(KINDS), help=f"some of {','.join(KINDS)}")
    options = parser.parse_args()
    answers: list[dict[str, Any]] = []
    print(f"{'master':<14} {'s':>5}  result")
    with tempfile.TemporaryDirectory(prefix="antecede-cluster-") as directory:
        python = str(other_interpreter(Path(directory) / "other"))
        for kind in options.on.split(","):
            begun = time.monotonic()
            answer = run(kind, options.job, Path(directory) / kind, python)
            worker = answer.pop("worker")
            answers.append(answer)
            took, ran = time.monotonic() - begun, executors(Path(directory) / kind)
            print(f"{kind:<14} {took:>5.0f}  {answer}  antecede from {worker['antecede']}{ran}", flush=True)
    same = all(answer == answers[0] and agrees(answer) for answer in answers)
    print("equal" if same else "NOT EQUAL")
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
