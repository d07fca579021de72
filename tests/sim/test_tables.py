"""Tables of entries in the simulator: what is drawn fits, and what is written is read or refused in one sentence."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from antecede.core.entries import EACH, Entries
from antecede.errors import InputError
from antecede.sim.draw import draw
from antecede.sim.layout import lay_out
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.sim.sweep import Judged, Sweep, judge
from antecede.sim.tables import DRAWN, draw_table, draw_topics, filters_for, parse_table
from antecede.trace.check import check
from tests.sim.echo import HOME

SEED = 51
CHUNKS = [range(first, first + 6) for first in range(0, 24, 6)]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_drawn_fits(seed: int) -> None:
    dice = Random(seed)
    table = draw_table(dice, ["A", "B", "C"])
    topics = draw_topics(dice, table)
    assert topics and all(table.of((topic,)) for topic in topics)
    table_entries = {entry for topic in topics for entry in table.of((topic,))}
    assert len(table_entries) == len(table.table), "each entry has a topic"
    for name in "ABC":
        carried = table.carried_by(name)
        filters = filters_for(table, carried, topics)
        assert bool(filters) == bool(carried) and table.carrying({name: carried}, filters) == [name]
        table.check_filters(filters)


def test_a_table_is_read_as_it_is_written_or_refused() -> None:
    table = parse_table("room/#=A,B; +/door=C;$#", ["A", "B", "C"])
    assert table.table == {"$#": (), "+/door": ("C",), "room/#": ("A", "B")}
    for text, says in (("a=X", "lets X carry a, but"), ("a=A;a=B", "has a twice"), ("a/#/b=A", "is no filter")):
        with pytest.raises(InputError, match=says):
            parse_table(text, ["A", "B"])
    with pytest.raises(InputError, match="leave out --groups"):
        simulate(Scenario(recipe="home", table="a=A", groups="G1=A"))
    with pytest.raises(InputError, match="goes with --recipe home"):
        simulate(Scenario(recipe="graph", table="a=A"))


def test_streams_are_entries_and_rows_speak_of_topics_and_filters() -> None:
    scenario = Scenario(recipe="home", table="room/#;+/b=A,B", messages=30, choice="one", seed=3)
    layout = lay_out(scenario, HOME)
    assert isinstance(layout.table, Entries) and set(layout.groups) == {"0", "1"}
    rows = simulate(scenario).rows
    published = {topic for row in rows if row[5] == "publish" for topic in row[7]}
    assert published <= set(layout.topics) and len(published) > 1
    joined = {filter for row in rows if row[5] == "join" for filter in row[7]}
    assert {"room/#", "+/b"} <= joined and not joined & {"0", "1"}
    assert check(rows, scenario=scenario.to_body()).clean
    assert lay_out(Scenario(recipe="home"), HOME).table is EACH


@pytest.mark.parametrize("chunk", CHUNKS, ids=lambda chunk: f"from-{chunk.start:02}")
def test_drawn_scenarios_over_drawn_tables_are_clean(chunk: range) -> None:
    """Overlapping entries, wildcards, loss, moves, growth and crashes; more of them: `--sweep 300 --table drawn`."""
    for index in chunk:
        judged = judge(SEED, "home", "repaired", index, table=DRAWN)
        where = f"antecede simulate --recipe home --seed {SEED} --table {DRAWN} --draw {index}"
        assert not judged.what, f"{judged.what}; {where}"


def test_a_sweep_over_tables_says_how_to_replay_and_is_no_other_sweep(tmp_path: Path) -> None:
    sweep = Sweep(tmp_path, "home", "repaired", SEED, 1, table="a/#=A;b")
    assert " --table 'a/#=A;b' --draw 3 " in sweep.command(Judged(3, 1))
    Sweep(tmp_path, "home", "repaired", SEED, 1, table=DRAWN).run(workers=1)
    with pytest.raises(InputError, match="is a sweep with table drawn, not a/#=A;b"):
        sweep.run(resume=True, workers=1)
    with pytest.raises(InputError, match="already holds a sweep"):
        Sweep(tmp_path, "home", "repaired", SEED, 1).run(workers=1)
    with pytest.raises(InputError, match="is a sweep with table drawn, not "):
        Sweep(tmp_path, "home", "repaired", SEED, 1).run(resume=True, workers=1)


def test_a_draw_with_a_table_is_the_same_draw() -> None:
    plain, tabled = draw(SEED, "home", 4), draw(SEED, "home", 4, table=DRAWN)
    assert plain.seed == tabled.seed and plain.table == "" and tabled.table == DRAWN
