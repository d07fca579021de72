"""What `antecede simulate` prints, writes, leaves alone and refuses."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from antecede import cli
from antecede.core import recipes
from antecede.sim import plugin
from antecede.trace.parquet import read_rows
from tests.sim.test_sweep import fake

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def command(capsys: Capture) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = cli.main(["simulate", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_a_run_is_written_whole_and_can_be_repeated_from_its_scenario(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("--recipe", "solicit", "--messages", 20, "--loss", 0.1, "--json", "--out", tmp_path / "run")
    first = json.loads(out)
    assert code == 0 and sum(first["fates"].values()) == 20 * 9 and first["quiet"]
    assert sorted(f.name for f in (tmp_path / "run").iterdir()) == ["records.parquet", "scenario.json", "totals.json"]
    assert sum(1 for _ in read_rows(tmp_path / "run")) > 20 * 9
    _, out, _ = command("--scenario", tmp_path / "run" / "scenario.json", "--json")
    assert json.loads(out)["digest"] == first["digest"]
    _, out, _ = command("--scenario", tmp_path / "run" / "scenario.json", "--loss", 0.2, "--json")
    assert json.loads(out)["digest"] != first["digest"]


def test_what_people_read(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("--recipe", "cbcast", "--messages", 10, "--out", tmp_path / "run")
    assert code == 0 and "became quiet" in out and "verdict: clean" in out and f"antecede check {tmp_path}" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--recipe", "twice"], "ackcast, cbcast"),
        (["--recipe", "twice"], "; one of yours needs --plugin FILE."),
        (["--recipe", "solict"], "There is no recipe 'solict' (did you mean solicit?)."),
        (["--brokers", "99999999999"], "brokers is 99,999,999,999: at most 100,000 can be simulated."),
        (["--deadline-ms", "1e300:1e301"], "deadline_ms is 1e+301: at most 1,000,000,000 can be simulated."),
        (["--rate", "1e300"], "rate is 1e+300: at most 1,000,000 can be simulated."),
        (["--loss", "1.1"], "loss is 1.1: a probability lies between 0 and 1."),
        (["--recipe", "graph", "--groups", "G1=A,Z"], "puts Z into G1, but the brokers are A, B, C, D"),
        (["--churn", "join=x"], "write join=0.1"),
        (["--churn", "walk=0.1"], "write join=0.1"),
        (["--churn", "leave=-1"], "leave is -1"),
        (["--perturb", "few:0.3"], "write one:0.3"),
        (["--perturb", "all:1.5"], "write one:0.3"),
        (["--membership", "guess"], "told or swim"),
        (["--delay-ms", "fast"], "--delay-ms is 'fast': give LO:HI"),
        (["--recipe", "cbcast", "--deadline-ms", "10:20"], "has no deadlines: use --deadline-ms none"),
        (["--recipe", "dcco", "--deadline-ms", "none"], "needs deadlines"),
        (["--recipe", "colour", "--deadline-ms", "10:20"], "In recipe colour all messages live 300 ms (6 rounds)"),
        (["--recipe", "rounds", "--skew-ms", "60"], "Recipe rounds cannot tell rounds of 50 ms apart"),
        (["--recipe", "rounds", "--alpha", "0", "--hop-ms", "150"], "guard and last hop take 150 ms of them"),
        (["--recipe", "home", "--spread", "pull"], "Recipe 'home' has its own way to spread"),
        (["--recipe", "graph", "--spread", "loud"], "There is no way to spread called 'loud'"),
        (["--reading", "aloud"], "has no reading 'aloud'"),
        (["--turns"], "Recipe solicit has no rounds to take turns in: --turns goes with rounds and colour."),
        (["--view-below", "3"], "Recipe solicit does not gossip: --times, --view-below and --forward go with"),
        (
            ["--recipe", "graph", "--spread", "gossip", "--view-below", "3"],
            "--view-below and --forward go with lifetimes (rounds).",
        ),
        (["--recipe", "graph", "--forward"], "Recipe graph does not gossip"),
        (["--window", "3"], "Recipe solicit waits for no acknowledgements: --window goes with ackcast."),
        (["--seeds", "0"], "--seeds is 0: it must be at least 1"),
        (["--cpu-us", "-1"], "cpu_us is -1"),
        (["--without", "luck"], "Recipe 'solicit' has no repair 'luck' to undo; it has bound, checks"),
        (["--without", "bound", "--reading", "printed"], "leave out --reading printed"),
        (["--recipe", "rounds", "--deadline-ms", "100:300"], "a deadline cannot end later"),
        (["--resume"], "--resume goes with --sweep N"),
        (["--sweep", "3"], "--sweep needs --out DIR"),
        (["--sweep", "0", "--out", "x"], "--sweep is 0: it must be at least 1 and"),
        (["--sweep", "99999999999", "--out", "x"], "--sweep is 99,999,999,999: it must be at least 1 and at most"),
        (["--draw", "-1"], "--draw is -1: scenarios of a sweep are counted from 0 to 9,999,999."),
        (["--round-ms", "1e-300"], "round_ms is 1e-300: it must be at least 0.1."),
        (["--sweep", "3", "--loss", "0.1"], "--sweep draws its scenarios: leave out --loss."),
        (["--workload", "none.parquet"], "The workload none.parquet does not exist."),
        (["--latency", "none.parquet"], "The latency file none.parquet does not exist."),
        (["--scenario", "none.json"], "none.json cannot be read"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if "--sweep" not in arguments:
        arguments = [*arguments, "--out", "run"]
    code, out, err = command(*arguments)
    assert code == 2 and says in err and err.count("\n") == 1 and out == ""
    assert list(tmp_path.iterdir()) == []


def test_many_seeds_give_one_table(command: Any, tmp_path: Path) -> None:
    options = ("--recipe", "graph", "--deadline-ms", "none", "--messages", 10)
    code, out, _ = command(*options, "--seeds", 2, "--out", tmp_path / "many")
    assert code == 0 and "share of pairs delivered" in out and (tmp_path / "many" / "metrics.parquet").is_file()
    code, out, _ = command(*options, "--seeds", 2, "--json")
    body = json.loads(out)
    assert [row["seed"] for row in body["runs"]] == [0, 1] and body["means"]["reach"] == [1.0, 0.0]


def test_one_seed_gives_a_table_without_intervals(command: Any) -> None:
    options = ("--recipe", "graph", "--deadline-ms", "none", "--messages", 10, "--seed", 3, "--seeds", 1)
    _, out, _ = command(*options)
    assert "graph, repaired: 1 run, seed 3:\n" in out and "±" not in out and "inf" not in out
    _, out, _ = command(*options, "--json")
    assert json.loads(out, parse_constant=pytest.fail)["means"]["reach"] == [1.0, None]


def test_totals_say_who_slept_and_what_found_no_room(command: Any, tmp_path: Path) -> None:
    command("--messages", 30, "--perturb", "some:0.4", "--cpu-us", 4000, "--buffer", 2, "--out", tmp_path / "run")
    totals = json.loads((tmp_path / "run" / "totals.json").read_text("utf-8"))
    assert totals["naps_us"] and totals["overflowed"] and totals["processes"]


def test_one_repair_can_be_undone(command: Any) -> None:
    options = ("--recipe", "graph", "--messages", 60, "--loss", 0.2)
    code, out, _ = command(*options, "--without", "projection")
    assert code == 1 and "graph-without-projection-0" in out and "inversion" in out
    assert command(*options)[0] == 0


def test_a_directory_with_something_else_is_left_alone(command: Any, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    code, _, err = command("--out", tmp_path, "--messages", 5)
    assert code == 2 and "holds thesis.tex, which is no part of a run" in err
    assert [f.name for f in tmp_path.iterdir()] == ["thesis.tex"]
    code, _, err = command("--out", tmp_path / "thesis.tex", "--messages", 5)
    assert code == 2 and "is a file" in err


def test_a_run_that_was_drawn_is_replaced_and_its_picture_goes(command: Any, tmp_path: Path) -> None:
    given = ("--recipe", "pbcast", "--messages", 5, "--out", tmp_path / "run")
    assert command(*given)[0] == 0 and cli.main(["show", str(tmp_path / "run")]) == 0
    assert (tmp_path / "run" / "show.html").is_file()
    code, _, err = command(*given)
    assert (code, err) == (0, "") and not (tmp_path / "run" / "show.html").exists()


def test_help_names_the_recipe_that_runs_where_none_is_named(command: Any) -> None:
    assert "[solicit]" in " ".join(command("--help")[1].split())


def test_a_sweep_says_what_it_judged(command: Any, tmp_path: Path) -> None:
    arguments = ("--recipe", "dcco", "--out", tmp_path, "--json", "--sweep")
    code, out, _ = command(*arguments, 3)
    summary = json.loads(out)
    assert code == 0 and summary["scenarios"] == 3 and sum(summary["fates"].values()) == summary["pairs"] > 0
    code, _, err = command(*arguments, 4)
    assert code == 2 and "add --resume" in err
    code, out, _ = command(*arguments, 4, "--resume")
    assert code == 0 and json.loads(out)["scenarios"] == 4


def test_one_scenario_of_a_sweep_can_be_run_alone(command: Any) -> None:
    code, out, _ = command("--recipe", "dcco", "--seed", 7, "--draw", 2, "--json")
    assert code == 0 and json.loads(out)["events"] > 0


def test_a_single_run_with_a_violation_is_not_fine(command: Any, tmp_path: Path) -> None:
    broken = ("--reading", "printed", "--messages", 60, "--loss", 0.1, "--duplicate", 0.05, "--deadline-ms", "150:300")
    code, out, _ = command(*broken, "--out", tmp_path / "run")
    assert code == 1 and "verdict: inversion" in out and "written to" in out
    code, out, _ = command(*broken, "--json")
    assert code == 1 and json.loads(out)["verdicts"]["inversion"] > 0


def test_clean_says_what_was_not_looked_for(command: Any, tmp_path: Path) -> None:
    code, out, _ = command("--recipe", "colour", "--messages", 10)
    assert code == 0 and "verdict: clean (not judged: idle)" in out
    code, out, _ = command("--recipe", "colour-eager", "--sweep", 2, "--out", tmp_path)
    assert code == 0 and "verdict: clean (not judged: gap, idle, stuck, undelivered)" in out


PLUGIN = Path(__file__).parents[2] / "examples" / "plausible.py"


def test_what_is_to_be_run_next_names_the_plugin(command: Any, tmp_path: Path) -> None:
    """In a process of its own: a plugin stays loaded."""
    words = ["simulate", "--plugin", PLUGIN, "--recipe", "plausible-4", "--subscribers", 0, "--messages", 5]
    done = subprocess.run(
        [sys.executable, "-m", "antecede", *map(str, words), "--out", str(tmp_path / "run")],
        capture_output=True,
        text=True,
    )
    assert f"judge it with: antecede check --plugin {PLUGIN} {tmp_path}" in done.stdout, done.stderr


def test_a_view_of_everybody_is_said(command: Any) -> None:
    code, _, err = command("--recipe", "pull", "--messages", 5, "--view", 3)
    assert code == 0 and "--view 3 has room for all 3 other brokers" in err
    _, _, err = command("--recipe", "pull", "--messages", 5, "--view", 2)
    assert err == ""
    _, _, err = command("--recipe", "lpbcast-once", "--messages", 5, "--view", 3)
    assert err == "", "in a flat group subscribers are members too"


def test_an_interrupted_sweep_says_how_to_go_on(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    judged = []

    def judge(*given: Any, **how: Any) -> Any:
        if len(judged) == 2:
            raise KeyboardInterrupt
        judged.append(given)
        return fake(*given, **how)

    monkeypatch.setattr("antecede.sim.sweep.judge", judge)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    out = tmp_path / "a sweep"
    code, _, err = command("--recipe", "dcco", "--seed", 4, "--harsh", "--sweep", 7, "--out", out)
    again = f"antecede simulate --recipe dcco --seed 4 --harsh --sweep 7 --out '{out}' --resume"
    assert code == 130 and err == f"Interrupted: 2 of 7 scenarios are judged; go on with: {again}\n"
    monkeypatch.setattr("antecede.sim.sweep.judge", fake)
    code, shown, _ = command(*shlex.split(again)[2:], "--json")
    assert json.loads(shown)["scenarios"] == 7


def test_a_resumed_sweep_begins_where_it_was(command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("antecede.sim.sweep.judge", fake)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    command("--recipe", "dcco", "--sweep", 5, "--out", tmp_path)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setattr("antecede.cli.progress.PATIENCE_S", 0.0)
    _, _, err = command("--recipe", "dcco", "--sweep", 7, "--out", tmp_path, "--resume")
    assert "6 of 7 scenarios" in err and "1 of 7" not in err


def test_a_disk_that_is_full_names_the_path_and_leaves_nothing(tmp_path: Path) -> None:
    """A limit on the size of files stands for the full disk: the system refuses in the middle of the run."""
    script = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000)); "
        "from antecede.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    words = ["simulate", "--messages", "400", "--out", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert f"cannot write {tmp_path / 'run' / 'records.parquet'}: " in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_help_has_headings(command: Any) -> None:
    code, out, _ = command("--help")
    heads = [line for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert code == 0 and heads[:2] == ["What runs:", "Who takes part:"] and len(heads) == 8


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [
        ("1 / 0", 2, "the plugin odd.py, line 4: ZeroDivisionError: division by zero"),
        ("return type('Half', (), {'role': 'member'})()", 70, "a mistake of ours or of odd.py, AttributeError"),
        ("return 7", 2, "The make of recipe 'odd' returned something of type int: it must return a machine."),
    ],
)
def test_a_plugin_that_fails_is_named_with_its_line(
    fault: str, code: int, said: str, command: Callable[..., tuple[int, str, str]], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("ANTECEDE_TRACEBACK", raising=False)
    monkeypatch.setattr(plugin, "_loaded", {})
    (tmp_path / "odd.py").write_text(
        "from antecede.core.recipes import Recipe, register\n\n"
        f"def make(**given):\n    {fault}\n\n"
        "register(Recipe('odd', 'ours', 'vector', flat=True, make=make))\n",
        "utf-8",
    )
    try:
        given = ("--plugin", tmp_path / "odd.py", "--recipe", "odd", "--subscribers", 0, "--out", tmp_path / "run")
        ended, _, complaint = command(*given)
        assert ended == code and said in complaint
    finally:
        recipes.RECIPES.pop("odd", None)
        sys.modules.pop("antecede_plugin_odd", None)
