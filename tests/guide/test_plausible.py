"""The Order of docs/guide/new-order.md: it never inverts, it can be saved and explored, and the page shows its code."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from types import ModuleType
from typing import Any

import pytest

from antecede import wire
from antecede.cli import main
from antecede.core.frames import Data
from antecede.core.message import Envelope, Message, Publication, Stamp
from antecede.core.recipes import RECIPES
from antecede.errors import InputError
from antecede.sim import plugin
from antecede.sim.draw import draw
from antecede.sim.explore import explore
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.sim.small import Small
from antecede.sim.sweep import judge
from antecede.trace.check import EXEMPT, check
from tests.core.kit import machine
from tests.core.state.test_freeze import digest_with, leave_all, thaw_all
from tests.house import rules

FILE = rules.ROOT / "examples" / "plausible.py"
PAGE = rules.ROOT / "docs" / "guide" / "new-order.md"
SEED = 1999


@pytest.fixture(scope="module", autouse=True)
def module() -> Iterator[ModuleType]:
    """The file, loaded as a user would; afterwards nobody else sees its recipes."""
    recipes, exempt, loaded = dict(RECIPES), dict(EXEMPT), dict(plugin._loaded)
    plugin.load([FILE])
    yield sys.modules["antecede_plugin_plausible"]
    tables: list[tuple[dict[str, Any], dict[str, Any]]]
    tables = [(RECIPES, recipes), (EXEMPT, exempt), (plugin._loaded, loaded)]
    for table, before in tables:
        table.clear()
        table.update(before)
    del sys.modules["antecede_plugin_plausible"]


# -- the clock -----------------------------------------------------------------------------------------------------


def stamped(writer: Any, seq: int) -> Stamp:
    stamp: Stamp = writer.stamp(Message(writer.name, seq, ("G1",)), None)
    return stamp


def test_a_true_order_is_never_denied_and_a_concurrent_one_may_be_asserted(module: Any) -> None:
    a, b, c = (module.PlausibleWriter(name, 2) for name in "ABC")  # A and C share an entry
    first, alone = stamped(a, 1), stamped(c, 1)
    b.learn(Envelope(Message("A", 1, ("G1",)), first))
    second = stamped(b, 1)
    reader = module.PlausibleReader(module.Interest(("G1",)), 2)
    assert reader.precedes(first, second) and not reader.precedes(second, first)
    assert reader.precedes(alone, second), "concurrent, but its entry cannot be told from A's"
    assert second.needs == (("A", 1),), "what it waits for is named, so nobody waits for C"


def test_two_messages_of_one_entry_can_have_one_value(module: Any) -> None:
    """Why a count per entry cannot release anything: 1 has come, but which of the two?"""
    a, c = (module.PlausibleWriter(name, 2) for name in "AC")
    assert module.value_of(stamped(a, 1), 2) == module.value_of(stamped(c, 1), 2) == (":1", 1)


def test_a_stamp_survives_the_wire(module: Any) -> None:
    a, b = (module.PlausibleWriter(name, 2) for name in "AB")
    b.learn(Envelope(Message("A", 1, ("G1",)), stamped(a, 1)))
    sent = Envelope(Message("B", 1, ("G1",)), stamped(b, 1))
    frame: Any = wire.decode(wire.encode(Data((sent,))))
    back = frame.envelopes[0].stamp
    assert (back.own, back.needs, dict(back.covers)) == (sent.stamp.own, sent.stamp.needs, dict(sent.stamp.covers))


# -- the runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(26))
@pytest.mark.parametrize("entries", [2, 4, 8, 16])
def test_drawn_scenarios_with_all_faults_are_clean(entries: int, index: int) -> None:
    judged = judge(SEED, f"plausible-{entries}", "repaired", index)
    assert not judged.what, f"--recipe plausible-{entries} --seed {SEED} --draw {index}: {judged.what}"
    assert sum(judged.fates.values()) == judged.pairs


@pytest.mark.parametrize("index", range(8))
def test_with_an_entry_for_each_member_nothing_is_excused(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(EXEMPT, "plausible-16")
    drawn = draw(SEED, "plausible-16", index)
    run = simulate(replace(drawn, brokers=12, subscribers=0, groups="G1=A,B,C", crash=0.0, partition="", mix=""))
    report = check(run.rows, scenario=run.body())
    assert report.clean, report.findings[:3]


def test_without_its_floor_it_inverts(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.PlausibleReader, "overtaken", lambda reader, stamp: False)
    assert any(judge(SEED, "plausible-4", "repaired", index).verdicts.get("inversion") for index in range(60))


def test_a_clock_that_made_it_forget_names_would_invert(module: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves dropped because the clock says that they precede something: true causes are then not waited for."""
    take_in = module.PlausibleWriter._take_in
    stamps: dict[Any, Stamp] = {}

    def forget(writer: Any, stamp: Stamp) -> None:
        for mark in [m for m in writer._names if m in stamps and module.at_most(stamps[m], stamp.covers, 2)]:
            del writer._names[mark]
        stamps[stamp.own[0]] = stamp
        take_in(writer, stamp)

    monkeypatch.setattr(module.PlausibleWriter, "_take_in", forget)
    found = 0
    for index in range(20):
        stamps.clear()
        found += judge(SEED, "plausible-2", "repaired", index).verdicts.get("inversion", 0)
    assert found > 0


@pytest.mark.parametrize("index", range(4))
def test_saved_machines_go_on_as_if_nothing_had_happened(index: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = replace(draw(404, "plausible-4", index), messages=30)
    dice = Random(index)
    span_us = int(scenario.count / scenario.rate * 1_000_000) + 500_000
    moments_us = sorted(scenario.first_us + int(dice.random() * span_us) for _ in range(3))
    left, thawed = (digest_with(what, scenario, moments_us, monkeypatch) for what in (leave_all, thaw_all))
    assert thawed == left


def test_every_run_of_a_small_scenario_keeps_the_order() -> None:
    script = "A G1; B G1 within 50 after A:1; C G1 within 80"
    found = explore(Small(recipe="plausible-2", script=script, losses=1, deadline_ms=100.0))
    assert found.complete and not found.findings and found.judged > 50


def test_an_entry_for_each_is_as_good_as_the_vector(module: Any) -> None:
    few, many = (module.measure(f"plausible-{entries}", range(2)) for entries in (2, 16))
    vector = module.measure("solicit", range(2))
    assert many["needless %"] == vector["needless %"] == 0 < few["needless %"]
    assert few["bytes"] < vector["bytes"]


def test_a_member_offers_what_the_recipe_does() -> None:
    """Although `make` gives its Parts neither orders nor whether messages need deadlines."""
    one = machine("plausible-4", "A", "member", "G1")
    one.view({}, 0)
    one.start(0)
    for publication in (Publication(("G1",), deadline_us=90, order="none"), Publication(("G1",))):
        with pytest.raises(InputError):
            one.publish(publication, 0)
    assert one.publish(Publication(("G1",), deadline_us=90, order="fifo"), 0)[0].id == "A:1"


# -- the page ------------------------------------------------------------------------------------------------------


def test_the_page_shows_the_code_that_runs() -> None:
    shown = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    code = FILE.read_text("utf-8")
    order = code[code.index("# -- the clock") : code.index("# -- what it costs")]
    places = [order.find(block) for block in shown]
    assert -1 not in places, shown[places.index(-1)]
    assert places == sorted(places)
    left = order
    for block in shown:
        left = left.replace(block, "")
    assert not re.sub(r"^# -- .*$", "", left, flags=re.MULTILINE).strip(), "the page leaves some of the code out"


def commands() -> list[str]:
    return re.findall(r"^\$ antecede (.*plausible\.py.*)$", PAGE.read_text("utf-8"), flags=re.MULTILINE)


def test_the_page_names_commands() -> None:
    assert {command.split()[0] for command in commands()} == {"simulate", "check", "explore"}


@pytest.mark.parametrize("place", range(4))
def test_the_commands_of_the_page_run(place: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp() / "page"
    folder.mkdir(exist_ok=True)
    words = [word.replace("runs/", f"{folder}/") for word in shlex.split(commands()[place])]
    words = [str(FILE) if word == "examples/plausible.py" else word for word in words]
    assert main(words) == 0


def test_a_scenario_of_many_members_has_one_entry_each(module: Any) -> None:
    run = simulate(Scenario(recipe="plausible-16", brokers=16, subscribers=0, messages=20, deadline_ms=(300.0, 300.0)))
    names = {row[1] for row in run.rows}
    assert len({module.entry_of(name, 16) for name in names}) == len(names) == 16
