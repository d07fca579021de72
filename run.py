#!/usr/bin/env python3
"""The one command of a fresh checkout; needs nothing but Python 3.11.

python3 run.py               the point in one page while setting up, then every recipe under faults (`antecede demo`)
python3 run.py test [ARGS]   set up, then run the tests; ARGS go to pytest, its exit code is this one's
python3 run.py setup         set up only: afterwards .venv/bin/antecede works

Setting up makes `.venv` beside this file and installs exactly what locks/base.txt names. The second time it is there
already and costs nothing. Nothing outside the checkout is changed, and any working directory will do.
"""

# Syntax stays readable for Python 3.6, so that an old one reaches the sentence below and not a SyntaxError.
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "run.py: this is Python %d.%d and 3.11 or later is needed: use a newer one.\n" % sys.version_info[:2]
    )
    sys.exit(2)

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["Fault", "explain_pip", "main", "packages_stamp", "project_stamp", "setup"]

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = ROOT / "locks" / "base.txt"
PROJECT = ROOT / "pyproject.toml"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")

# Two stamps, each written last: a missing one means that step was cut short. The packages are started afresh then, or
# when the lock changed; a changed pyproject.toml costs only the second, quick step, which needs no network.
PACKAGES_STAMP = VENV / "packages.stamp"
PROJECT_STAMP = VENV / "project.stamp"

# Settings of the caller that would send packages or imports somewhere other than `.venv`.
MISLEADING = ("PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON")


class Fault(Exception):
    """Setting up cannot go on; the sentence says why and what to do."""


def digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def packages_stamp(lock: bytes, version: str, root: str) -> str:
    """What the installed packages depend on. The place counts: scripts in a virtual environment name their own path."""
    return digest(lock, version.encode(), root.encode())


def project_stamp(packages: str, pyproject: bytes) -> str:
    return digest(packages.encode(), pyproject)


def read_stamp(path: Path) -> str:
    try:
        return path.read_text("ascii")
    except (OSError, UnicodeDecodeError):
        return ""


def clean_environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: value for name, value in environment.items() if name not in MISLEADING}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def explain_pip(output: str) -> str:
    """One sentence for what pip said at length."""
    errors = [line.strip() for line in output.splitlines() if line.strip().upper().startswith("ERROR")]
    last = errors[-1][len("ERROR") :].lstrip(": ") if errors else (output.strip().splitlines() or ["no message"])[-1]
    if "No space left" in output:
        return f"the disk is full: free about 3 GB under {ROOT} and run this again."
    if "DO NOT MATCH THE HASHES" in output:
        return "a downloaded package is not the one locks/base.txt names: check the package source pip is set to use."
    unreachable = ("No matching distribution", "Could not find a version", "Connection", "Max retries", "timed out")
    if any(sign in output for sign in unreachable):
        return f"packages cannot be fetched ({last}): check the network or pip's settings, then run this again."
    return f"pip failed ({last}): run this again, and if it stays, remove .venv first."


def pip_install(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "install", "--quiet", *arguments]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=clean_environment(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        close_fds=False,
    )
    if done.returncode:
        raise Fault(explain_pip(done.stdout))


def check_python() -> None:
    """Debian and Ubuntu ship a Python that cannot make virtual environments until a package is added."""
    if any(importlib.util.find_spec(name) is None for name in ("venv", "ensurepip")):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise Fault(f"this Python cannot make virtual environments: sudo apt install python{version}-venv")


def remove_venv() -> None:
    if VENV.is_symlink() or VENV.is_file():
        VENV.unlink()
    elif VENV.exists():
        shutil.rmtree(VENV)


def install_packages() -> None:
    check_python()
    remove_venv()
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)],
        env=clean_environment(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        close_fds=False,
    )
    if made.returncode:
        reason = (made.stdout.strip().splitlines() or ["no message"])[-1]
        raise Fault(f"a virtual environment cannot be made in {VENV} ({reason}).")
    pip_install("--require-hashes", "-r", str(LOCK))


def install_project() -> None:
    # The build backend is in the lock, so this step fetches nothing.
    pip_install("--no-deps", "--no-build-isolation", "--no-index", "-e", str(ROOT))


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Two runs at once would remove each other's packages: the second waits here (where the system has `flock`).

    The lock is handed down to pip, so that it also outlives a run that was killed while its pip was not.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    with Path(__file__).open("rb") as me:
        os.set_inheritable(me.fileno(), True)
        try:
            fcntl.flock(me, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Waiting for another run.py that is setting up ...", file=sys.stderr, flush=True)
            fcntl.flock(me, fcntl.LOCK_EX)
        yield


def setup() -> None:
    """Make `.venv` what the lock and pyproject.toml say; does nothing when it is already."""
    try:
        packages = packages_stamp(LOCK.read_bytes(), sys.version, str(ROOT))
        project = project_stamp(packages, PROJECT.read_bytes())
    except OSError as error:
        raise Fault(f"{error.filename} cannot be read ({error.strerror}): is the checkout complete?") from None
    with alone():
        if not PYTHON.exists() or read_stamp(PACKAGES_STAMP) != packages:
            print("Setting up .venv (once: 700 MB to fetch, 1.6 GB on disk) ...", file=sys.stderr, flush=True)
            install_packages()
            PACKAGES_STAMP.write_text(packages, "ascii")
        if read_stamp(PROJECT_STAMP) != project:
            install_project()
            PROJECT_STAMP.write_text(project, "ascii")


def run(*command: str) -> int:
    """Run an installed program to its end; one ended by a signal gives 128 + its number, as in a shell."""
    code = subprocess.run(command, cwd=ROOT, env=clean_environment(os.environ)).returncode
    return code if code >= 0 else 128 - code


def open_page() -> "subprocess.Popen[bytes]":
    """The page that says what this is for. It needs this Python only, so nobody waits for packages to see it."""
    environment = {**clean_environment(os.environ), "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen([sys.executable, "-m", "antecede.sim.opening"], env=environment)


def say_how_long(page: "subprocess.Popen[bytes]", done: threading.Event) -> None:
    """After the page, until packages are there: that they are being fetched, and to a person for how long already."""
    began = time.monotonic()
    page.wait()
    watched = sys.stderr.isatty()
    if not done.wait(1.0):
        print("\nStill fetching packages; the rest follows by itself.", file=sys.stderr, flush=True)
    while not done.wait(1.0):
        if watched:
            print(f"\r{time.monotonic() - began:.0f} s ", end="", file=sys.stderr, flush=True)
    if watched:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def run_main_job() -> int:
    """Set up behind the page; then the demo, in which the page is not shown again."""
    page, done = open_page(), threading.Event()
    watch = threading.Thread(target=say_how_long, args=(page, done), daemon=True)
    watch.start()
    try:
        setup()
    finally:
        shown = page.wait()
        done.set()
        watch.join()
    return run(str(BIN / "antecede"), "demo", "--no-opening") or shown


def run_tests(options: list[str]) -> int:
    """All tests, shared by two processes beside each other: one begins with those on Spark, and whoever is free takes
    the next of the others (tests/sharing.py). What the first has to say comes at the end. Whoever names tests or gives
    words gets one plain run."""
    pytest = [str(PYTHON), "-m", "pytest"]
    if (os.cpu_count() or 1) < 2 or any(not option.startswith("-") for option in options):
        return run(*pytest, *options)
    with tempfile.TemporaryDirectory() as marks, tempfile.TemporaryFile() as said:
        share = [*pytest, "-p", "tests.sharing", f"--share={marks}"]  # two words would move pytest's root there
        command = [*share, "--with-spark", "-p", "no:cacheprovider", *options]
        beside = subprocess.Popen(
            command, cwd=ROOT, env=clean_environment(os.environ), stdout=said, stderr=subprocess.STDOUT
        )
        try:
            code = run(*share, *options)
            print("Waiting for the tests beside these ...", file=sys.stderr, flush=True)
            other = beside.wait()
        finally:
            if beside.poll() is None:
                beside.terminate()
                beside.wait()
        said.seek(0)
        print(said.read().decode("utf-8", "replace"), end="", flush=True)
    return code or (other if other >= 0 else 128 - other)


def main(arguments: list[str]) -> int:
    job, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if job in ("-h", "--help", "help"):
        print(__doc__)
        return 0
    if job not in ("", "setup", "test") or (job == "setup" and rest):
        print(f"run.py: no such job: {' '.join(arguments)!r}; `python3 run.py --help` lists them.", file=sys.stderr)
        return 2
    try:
        if not job:
            return run_main_job()
        setup()
    except Fault as fault:
        print(f"run.py: {fault}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"run.py: {error}: free or unlock it, then run this again.", file=sys.stderr)
        return 2
    if job == "setup":
        print(f"Ready: {BIN / 'antecede'} --help")
        return 0
    return run_tests(rest)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
