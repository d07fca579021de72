"""A sweep survives bad scenarios and interruptions, and names what failed as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.sim import sweep as module
from antecede.sim.sweep import Judged, Sweep, judge


def fake(
    seed: int, recipe: str, reading: str, index: int, *, harsh: bool = False, table: str = "", leavers: bool = False
) -> Judged:
    if index == 3:
        return Judged(index, 33, 5, 2, True, {"delivered": 1, "lost": 1}, {"gap": 1}, "gap at B: delivered without")
    return Judged(index, index, 10, 2, index != 1, {"delivered": 2})


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Sweep:
    monkeypatch.setattr(module, "judge", fake)
    return Sweep(tmp_path / "out", "solicit", "repaired", 9, 8)


def test_everything_adds_up(swept: Sweep) -> None:
    met: list[int] = []
    summary = swept.run(workers=1, progress=lambda judged: met.append(judged.index))
    assert met == list(range(8))
    assert (summary.scenarios, summary.pairs, summary.events, summary.stopped) == (8, 16, 75, 1)
    assert summary.fates["delivered"] == 15 and summary.fates["lost"] == 1 and summary.verdicts["gap"] == 1
    (failed,) = summary.failures
    assert swept.command(failed).startswith("antecede simulate --recipe solicit --seed 9 --draw 3 --out ")


def test_a_harsh_one_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    drawn: list[bool] = []
    monkeypatch.setattr(module, "judge", lambda *given, harsh, table, leavers: drawn.append(harsh) or fake(*given))
    sweep = Sweep(tmp_path / "out", "solicit", "repaired", 9, 4, harsh=True)
    (failed,) = sweep.run(workers=1).failures
    assert drawn == [True] * 4 and " --seed 9 --harsh --draw 3 " in sweep.command(failed)
    with pytest.raises(InputError, match="a sweep with harsh True, not False"):
        Sweep(tmp_path / "out", "solicit", "repaired", 9, 4).run(resume=True, workers=1)


def test_it_goes_on_where_it_was(swept: Sweep) -> None:
    whole = swept.run(workers=1)
    lines = swept.path.read_text().splitlines(keepends=True)
    swept.path.write_text("".join(lines[:4]) + lines[4][:20])  # killed in the middle of a line
    met: list[int] = []
    again = swept.run(resume=True, workers=1, progress=lambda judged: met.append(judged.index))
    assert met == [3, 4, 5, 6, 7] and again == whole
    assert [json.loads(line).get("index") for line in swept.path.read_text().splitlines()] == [None, *range(8)]


def test_it_does_not_write_over_another_sweep(swept: Sweep) -> None:
    swept.run(workers=1)
    with pytest.raises(InputError, match="add --resume"):
        swept.run(workers=1)
    other = Sweep(swept.path.parent, "solicit", "repaired", 10, 8)
    with pytest.raises(InputError, match="a sweep with seed 9, not 10"):
        other.run(resume=True, workers=1)
    swept.path.write_text("nonsense\n")
    with pytest.raises(InputError, match="is not a sweep"):
        swept.run(resume=True, workers=1)


def test_a_scenario_that_breaks_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(scenario: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(module, "simulate", broken)
    assert judge(1, "solicit", "repaired", 0).what == "ZeroDivisionError: oh"


def test_on_several_cores_it_is_the_same(tmp_path: Path) -> None:
    alone = Sweep(tmp_path / "one", "dcco", "repaired", 1, 7).run(workers=1)
    together = Sweep(tmp_path / "two", "dcco", "repaired", 1, 7).run(workers=2)
    assert alone == together and alone.pairs > 0


def test_a_sweep_that_is_killed_leaves_no_workers_behind(tmp_path: Path) -> None:
    script = tmp_path / "pool.py"
    script.write_text(
        "import multiprocessing, os, time\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from antecede.sim.sweep import end_with_parent\n"
        "if __name__ == '__main__':\n"
        "    context = multiprocessing.get_context('spawn')\n"
        "    with ProcessPoolExecutor(1, mp_context=context, initializer=end_with_parent) as pool:\n"
        "        print(pool.submit(os.getpid).result(), flush=True)\n"
        "        time.sleep(60)\n",
        encoding="ascii",
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        parent.kill()
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    raise AssertionError(f"worker {worker} outlives its sweep")


def test_a_run_that_goes_on_for_no_reason_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.sim.run.PATIENCE_US", 0)
    judged = judge(1, "solicit", "repaired", 3)
    assert not judged.quiet and judged.what.startswith("it did not become quiet")


def test_what_replays_and_what_goes_on_name_the_plugin(swept: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.sim.plugin._loaded", {"x": Path("/my own/x.py")})
    (failed,) = swept.run(workers=1).failures
    simulated, checked = swept.command(failed).split(" && ")
    assert simulated.startswith("antecede simulate --plugin '/my own/x.py' --recipe solicit")
    assert checked.startswith("antecede check --plugin '/my own/x.py' runs/")
    assert "--plugin '/my own/x.py'" in swept.again(Path("out"))


def test_it_says_how_many_are_there_already(swept: Sweep) -> None:
    begun: list[int] = []
    swept.run(workers=1, begun=begun.append)
    swept.count = 10
    swept.run(resume=True, workers=1, begun=begun.append)
    assert begun == [0, 8]
