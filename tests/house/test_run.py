"""run.py: what makes it set up again, what it says when it cannot, and that it turns old Pythons away in a sentence."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import run
from tests.house import rules


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A pretended checkout; what would be installed is written down instead."""
    done: list[str] = []
    venv = tmp_path / ".venv"
    for name, path in {
        "ROOT": tmp_path,
        "VENV": venv,
        "LOCK": tmp_path / "lock.txt",
        "PROJECT": tmp_path / "pyproject.toml",
        "PYTHON": venv / "python",
        "PACKAGES_STAMP": venv / "packages.stamp",
        "PROJECT_STAMP": venv / "project.stamp",
    }.items():
        monkeypatch.setattr(run, name, path)
    run.LOCK.write_text("a==1\n")
    run.PROJECT.write_text("[project]\n")

    def packages() -> None:
        run.remove_venv()
        venv.mkdir()
        run.PYTHON.touch()
        done.append("packages")

    monkeypatch.setattr(run, "install_packages", packages)
    monkeypatch.setattr(run, "install_project", lambda: done.append("project"))
    return done


def test_the_second_time_nothing_is_done(checkout: list[str]) -> None:
    run.setup()
    assert checkout == ["packages", "project"]
    run.setup()
    assert checkout == ["packages", "project"]


def test_a_changed_lock_starts_afresh_and_a_changed_project_does_not(checkout: list[str]) -> None:
    run.setup()
    run.PROJECT.write_text("[project]\nname = 'b'\n")
    run.setup()
    assert checkout == ["packages", "project", "project"]
    run.LOCK.write_text("a==2\n")
    run.setup()
    assert checkout == ["packages", "project", "project", "packages", "project"]


def test_a_half_made_environment_is_made_again(checkout: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    run.VENV.mkdir()
    (run.VENV / "left over").touch()

    def cut_short() -> None:
        raise run.Fault("no network")

    with monkeypatch.context() as patch:
        patch.setattr(run, "install_project", cut_short)
        with pytest.raises(run.Fault):
            run.setup()
    run.setup()
    assert checkout == ["packages", "project"] and not (run.VENV / "left over").exists()
    run.PYTHON.unlink()  # the Python it was made with has been removed
    run.setup()
    assert checkout == ["packages", "project"] * 2


def test_a_second_run_waits_for_the_first_and_for_what_it_left_behind(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fcntl")
    with run.alone():
        left = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False)
    try:
        waiting = threading.Thread(target=lambda: run.alone().__enter__(), daemon=True)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    finally:
        left.communicate(b"\n")
    waiting.join(10)
    assert not waiting.is_alive() and "Waiting for another run.py" in capsys.readouterr().err


def test_stamps_depend_on_lock_python_and_place() -> None:
    stamps = {
        run.packages_stamp(*given)
        for given in [(b"a", "3.11", "/x"), (b"b", "3.11", "/x"), (b"a", "3.12", "/x"), (b"a", "3.11", "/y")]
    }
    assert len(stamps) == 4


def test_an_incomplete_checkout_is_said(checkout: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    run.LOCK.unlink()
    assert run.main(["setup"]) == 2
    assert "is the checkout complete?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("output", "words"),
    [
        (
            "WARNING: Retrying\nERROR: Could not find a version that satisfies the requirement msgspec==0.22.0",
            "cannot be fetched",
        ),
        ("ERROR: No matching distribution found for numpy==9", "cannot be fetched"),
        (
            "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE.",
            "not the one locks/base.txt names",
        ),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "disk is full"),
        ("ERROR: something new", "pip failed (something new)"),
        ("", "pip failed (no message)"),
    ],
)
def test_what_pip_says_becomes_one_sentence(output: str, words: str) -> None:
    said = run.explain_pip(output)
    assert words in said and "\n" not in said


def test_a_python_without_venv_gets_the_apt_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None if name == "ensurepip" else object())
    with pytest.raises(run.Fault, match=r"sudo apt install python3\.\d+-venv"):
        run.check_python()


def test_settings_that_lead_elsewhere_are_dropped() -> None:
    kept = run.clean_environment({"PYTHONPATH": "/elsewhere", "PIP_USER": "1", "PIP_INDEX_URL": "kept", "PATH": "/bin"})
    assert "PYTHONPATH" not in kept and "PIP_USER" not in kept
    assert kept["PIP_INDEX_URL"] == "kept" and kept["PATH"] == "/bin"


def test_unknown_jobs_are_refused_and_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run.main(["tset"]) == 2
    assert "no such job: 'tset'" in capsys.readouterr().err
    assert run.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert all(line in shown for line in ("python3 run.py test", "python3 run.py setup", ".venv"))


def test_exit_codes_pass_through() -> None:
    assert run.run(sys.executable, "-c", "raise SystemExit(7)") == 7
    assert run.run(sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)") == 137


def test_only_the_standard_library_and_syntax_that_an_old_python_can_read() -> None:
    source = (rules.ROOT / "run.py").read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    assert {name.split(".")[0] for name, _ in rules.imports(tree)} <= sys.stdlib_module_names
    before = [node for node in tree.body if node.lineno < source[: source.index("sys.version_info")].count("\n") + 1]
    assert all(isinstance(node, ast.Expr | ast.Import) for node in before), (
        "something runs before the version is checked"
    )


def test_ci_runs_the_tests() -> None:
    script = rules.ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111 and "python3 run.py test" in script.read_text("utf-8")
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0


@pytest.mark.parametrize(
    ("options", "runs"), [([], 2), (["-ra", "--durations=10"], 2), (["tests/core"], 1), (["-k", "x"], 1)]
)
def test_two_processes_share_the_tests_unless_some_are_named(
    options: list[str], runs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    fake = tmp_path / "python"
    fake.write_text('#!/bin/sh\necho "ran $*"\ncase "$*" in *--with-spark*) exit 3;; esac\n', "utf-8")
    fake.chmod(0o755)
    monkeypatch.setattr(run, "PYTHON", fake)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert run.run_tests(options) == (3 if runs == 2 else 0), "the one that failed decides"
    said = [line.split() for line in capfd.readouterr().out.splitlines() if line.startswith("ran")]
    assert len(said) == runs and all(set(options) <= set(line) for line in said)
    if runs == 2:
        one, other = (next(word for word in line if word.startswith("--share=")) for line in said)
        assert one == other and "--with-spark" not in said[0] and "--with-spark" in said[1]


SHARED = """
import pytest
@pytest.fixture(scope="session")
def spark(): return "the one session"
def test_quick(): pass
@pytest.mark.slow
def test_slow(): pass
@pytest.mark.parametrize("n", range(3))
def test_on_spark(spark, n): pass
@pytest.mark.parametrize("engine", ["local", "spark"])
def test_either(engine): assert engine == "local"
"""


def test_every_test_is_run_by_one_process_and_those_on_spark_by_the_same(tmp_path: Path) -> None:
    """As tests/sharing.py says: Spark first, then what is slow; nothing twice, and what fails is told."""
    (tmp_path / "test_shared.py").write_text(SHARED, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = slow\n", "utf-8")
    (tmp_path / "marks").mkdir()

    def ran(*options: str) -> tuple[int, list[str]]:
        words = ["-p", "tests.sharing", "--share=marks", "-p", "no:cacheprovider", "-v", *options]
        environment = {**os.environ, "PYTHONPATH": str(rules.ROOT)}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        return done.returncode, re.findall(r"::test_(\S+) (?:PASSED|FAILED)", done.stdout)

    assert ran("-k", "quick") == (0, ["quick"])
    spark = ["on_spark[0]", "on_spark[1]", "on_spark[2]", "either[spark]"]
    assert ran("--with-spark", "-k", "spark or slow") == (1, [*spark, "slow"])
    assert ran() == (0, ["either[local]"])
    assert ran("--with-spark") == (0, [])


def test_the_page_comes_first_and_the_demo_does_not_repeat_it(
    checkout: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(run, "run", lambda *command: asked.append(command) or 0)
    monkeypatch.setattr(run, "open_page", lambda: subprocess.Popen([sys.executable, "-c", "print('the point')"]))
    assert run.main([]) == 0 and checkout == ["packages", "project"]
    assert run.main([]) == 0 and checkout == ["packages", "project"], "also when packages are there already"
    assert capfd.readouterr().out == "the point\n" * 2
    assert [command[-2:] for command in asked] == [("demo", "--no-opening")] * 2


def test_the_page_is_the_real_one_and_needs_no_packages(capfd: pytest.CaptureFixture[str]) -> None:
    assert run.open_page().wait() == 0
    assert "Look at Eve, lines 5 and 9" in capfd.readouterr().out


def test_what_fails_behind_the_page_is_said_after_it(
    checkout: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def no_network() -> None:
        raise run.Fault("packages cannot be fetched.")

    monkeypatch.setattr(run, "install_packages", no_network)
    slow = "import time; time.sleep(0.3); print('the point')"
    monkeypatch.setattr(run, "open_page", lambda: subprocess.Popen([sys.executable, "-c", slow]))
    assert run.main([]) == 2
    shown = capfd.readouterr()
    assert shown.out == "the point\n" and shown.err.endswith("run.py: packages cannot be fetched.\n")


def test_whoever_waits_after_the_page_is_told_why(
    checkout: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    done = threading.Event()
    page = subprocess.Popen([sys.executable, "-c", ""])
    threading.Timer(1.5, done.set).start()
    run.say_how_long(page, done)
    assert "Still fetching packages" in capfd.readouterr().err
    run.say_how_long(page, done)
    assert capfd.readouterr().err == ""
