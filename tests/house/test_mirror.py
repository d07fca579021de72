"""Tests mirror the source: the tests of core/deadline/inbox.py are in tests/core/deadline/test_inbox.py."""

from __future__ import annotations

from pathlib import Path

from tests.house import rules

# Modules whose tests are elsewhere, each with the reason. Keep it short.
ELSEWHERE: dict[str, str] = {}


def without_tests(source: Path, tests: Path, elsewhere: dict[str, str]) -> list[str]:
    found = []
    for path in rules.modules(source):
        name = path.relative_to(source / "antecede").as_posix()
        if name not in elsewhere and rules.has_logic(path) and not rules.mirrored(path, source, tests).is_file():
            found.append(f"{name}: no {rules.mirrored(path, source, tests).relative_to(tests.parent)}")
    return found


def test_every_module_with_logic_has_its_test_module() -> None:
    missing = without_tests(rules.SOURCE, rules.ROOT / "tests", ELSEWHERE)
    assert not missing, "\n" + "\n".join(missing)


def test_exemptions_are_of_modules_that_exist_and_say_why() -> None:
    for name, reason in ELSEWHERE.items():
        assert (rules.SOURCE / "antecede" / name).is_file() and len(reason) > 20


def test_a_planted_module_without_tests_is_found(tmp_path: Path) -> None:
    package = tmp_path / "src" / "antecede" / "core"
    package.mkdir(parents=True)
    (package / "new.py").write_text("def f():\n    return 1\n", "utf-8")
    (package / "seam.py").write_text("def f():\n    '''Declared only.'''\n    ...\n", "utf-8")
    (package / "__init__.py").write_text("def g():\n    return 1\n", "utf-8")
    tests = tmp_path / "tests"
    assert without_tests(tmp_path / "src", tests, {}) == [
        "core/__init__.py: no tests/core/test_core.py",
        "core/new.py: no tests/core/test_new.py",
    ]
    (tests / "core").mkdir(parents=True)
    (tests / "core" / "test_new.py").touch()
    assert without_tests(tmp_path / "src", tests, {"core/__init__.py": "planted"}) == []
