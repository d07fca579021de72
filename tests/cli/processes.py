"""`antecede` as real processes, ended by their own handles."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["antecede", "cluster", "running"]

COMMAND = [sys.executable, "-c", "import sys; from antecede.cli import main; sys.exit(main())"]


def antecede(*arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=timeout)


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=20)
        except (subprocess.TimeoutExpired, ValueError):
            process.kill()
            process.wait()


@contextmanager
def cluster(count: int, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    with running("cluster", str(count), "--json", *arguments) as process:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
