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
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import antecede

__all__ = ["Finding", "compare_with_lock", "examine", "java_major", "read_pins"]

NEEDED = ("msgspec", "typer", "rich", "numpy", "pyarrow")
SPARK = ("pyspark", "pandas", "protobuf")
SPARK_USES = "only the Spark commands need it, and none is built yet"
TESTED = ((3, 11), (3, 12), (3, 13))
LEAST_JAVA = 17
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


def java_major(banner: str) -> int | None:
    """The major version in what `java -version` says: 8 for "1.8.0_402", 17 for "17.0.15"."""
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found[1]) if found else None


def check_java() -> Finding:
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    cure = f"install a Java {LEAST_JAVA} or later (Debian: sudo apt install openjdk-17-jre-headless); {SPARK_USES}"
    if java is None:
        return Finding("java", "warn", "none found", cure)
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as error:
        blamed = "unset JAVA_HOME or point it at a Java" if home else cure
        return Finding("java", "warn", f"{java} does not run ({error.__class__.__name__})", blamed)
    major = java_major(done.stderr + done.stdout)
    if major is None or major < LEAST_JAVA:
        return Finding("java", "warn", f"{java} is version {major or 'unknown'}", cure)
    return Finding("java", "ok", f"{major} at {java}; {SPARK_USES}")


def check_spark() -> Finding:
    versions = {name: installed(name) for name in SPARK}
    missing = [name for name, version in versions.items() if version is None]
    if len(missing) == len(SPARK) or versions["pyspark"] is None:
        return Finding("spark", "warn", "not installed", f"pip install 'antecede[spark]' (0.5 GB); {SPARK_USES}")
    if missing:
        return Finding("spark", "warn", f"{', '.join(missing)} missing beside pyspark", "pip install 'antecede[spark]'")
    if int((versions["pandas"] or "0").split(".")[0]) >= 3:
        return Finding("spark", "warn", "pandas 3 is not supported by pyspark", "pip install 'pandas>=2.2,<3'")
    return Finding("spark", "ok", f"pyspark {versions['pyspark']}")


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
