"""`python -m antecede` is the command."""

from __future__ import annotations

import subprocess
import sys


def test_it_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "antecede", "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("antecede ")
    done = subprocess.run([sys.executable, "-m", "antecede", "nonsense"], capture_output=True, text=True)
    assert done.returncode == 2 and "Usage: antecede" in done.stderr
