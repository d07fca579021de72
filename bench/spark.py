"""What the pipeline costs on Spark, beside what others take for less: every question, or one of them.

    python bench/spark.py                          # every question at the sizes of the claims: an hour on two cores
    python bench/spark.py order stream batch       # bench/spark_order.py: causal_order, streaming and batch
    python bench/spark.py audit rates --repeats 1  # bench/spark_audit.py: the audit
    python bench/spark.py order --help

Without arguments each question is asked in a process of its own, one after the other, so that none has the memory or
the warm JVM of another; what goes wrong in one does not keep the others from being asked.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOMS = {"order": HERE / "spark_order.py", "audit": HERE / "spark_audit.py"}
QUESTIONS = (
    ("order", "stream", "--repeats", "3"),
    ("order", "batch", "--repeats", "3"),
    ("order", "growth"),
    ("order", "giant", "--total", "10000000", "--memory", "3g"),
    ("order", "git"),
    ("audit", "plant"),
    ("audit", "rates", "--jvm-memory", "2g"),
    ("audit", "big"),
    ("audit", "big", "--receivers", "20"),
)


def main() -> int:
    room, *rest = sys.argv[1:] or [""]
    if room in ROOMS:
        return subprocess.run([sys.executable, str(ROOMS[room]), *rest], check=False).returncode
    if room:
        print(__doc__)
        return 0 if room in ("-h", "--help") else 2
    failed = 0
    for room, *rest in QUESTIONS:
        print(f"\n== {room} {' '.join(rest)}", flush=True)
        began_s = time.monotonic()
        failed |= subprocess.run([sys.executable, str(ROOMS[room]), *rest], check=False).returncode != 0
        print(f"({time.monotonic() - began_s:.0f} s)", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
