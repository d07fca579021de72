"""The same job on every kind of master, and with a worker killed while it runs: equal results, or exit 1.

    python bench/cluster.py --job tests.spark.cluster_job:pipeline   # every stage of the pipeline
    python bench/cluster.py [--job MODULE:FUNCTION] [--on local,local-cluster,standalone,killed,connect]

The job is a function of a session and a folder that returns something JSON can say; without one it is `stream` of
tests/spark/cluster_job.py (source, a transformation, a stateful operator, sink; three batches). Standalone is a real
master with two worker processes; the workers run an interpreter that has no antecede. `killed` is standalone, and one
worker with all it started gets SIGKILL when the first batch counts. Everything stays on loopback. Takes about three
minutes on an idle machine.
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
            print(
                f"{kind:<14} {time.monotonic() - begun:>5.0f}  {answer}  antecede from {worker['antecede']}", flush=True
            )
    same = all(answer == answers[0] for answer in answers)
    print("equal" if same else "NOT EQUAL")
    raise SystemExit(0 if same else 1)


if __name__ == "__main__":
    main()
