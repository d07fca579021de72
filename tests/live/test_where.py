"""Subscriptions by content through brokers: moves, changes, resuming, several inboxes, and nothing else sent."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench.where import PREDICATES, run

from antecede.errors import InputError
from antecede.live.testing import LocalCluster
from antecede.spark.audit_here import runs_here
from antecede.trace.check import check
from antecede.trace.parquet import read_rows
from tests.live.where_story import told


def test_every_match_comes_nothing_else_is_sent_and_the_oracle_agrees(tmp_path: Path) -> None:
    """The short form of bench/where.py: three brokers, loss, moves, and a broker killed."""
    outcome = run(tmp_path, 120, every=30)
    assert outcome.findings == [] and outcome.moves == 12
    for name in PREDICATES:
        assert set(outcome.taken[name]) == outcome.wanted(name) and len(outcome.taken[name]) == len(
            outcome.wanted(name)
        )
        assert set(outcome.arrived[name]) == outcome.wanted(name)
    assert len(outcome.wanted("warm")) == len(outcome.wanted("lit")) == 60
    assert all(outcome.bytes[name] < 2 / 3 * outcome.bytes["all"] for name in ("warm", "lit")), "half, and their frames"
    blind = [row._replace(where=None) for row in read_rows(tmp_path)]
    assert any(finding.verdict == "gap" for finding in check(blind).findings), "without predicates they would be gaps"


def test_predicates_change_while_subscribers_move_and_brokers_die(tmp_path: Path) -> None:
    """A random story; what each inbox took was selected by its predicate, and both judges find nothing."""
    assert told(2, tmp_path, messages=30)
    assert check(tmp_path).findings == []
    assert not any(runs_here(tmp_path).counts.values())


def test_two_inboxes_of_one_client_each_get_what_they_select() -> None:
    async def scenario(cluster: LocalCluster) -> tuple[list[str], list[str]]:
        async with (
            cluster.connect("ann") as ann,
            cluster.connect("bob") as bob,
            bob.subscribe("t", where="n > 1") as high,
            bob.subscribe("t", where="n < 3") as low,
        ):
            for n in range(5):
                await ann.publish("t", b"%d" % n, headers={"n": str(n)})
            return [(await high.get(30)).text for _ in range(3)], [(await low.get(30)).text for _ in range(3)]

    assert LocalCluster(brokers=2).run(scenario) == (["2", "3", "4"], ["0", "1", "2"])


def test_a_later_life_goes_on_with_its_predicate(tmp_path: Path) -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        async with cluster.connect("ann") as ann:
            async with cluster.connect("bob") as bob, bob.subscribe("t", where="n > 1") as inbox:
                for n in range(4):
                    await ann.publish("t", b"%d" % n, headers={"n": str(n)})
                taken = [(await inbox.get(30)).text]
                frontier = inbox.frontier
            for n in (0, 5):
                await ann.publish("t", b"%d" % n, headers={"n": str(n)})
            async with (
                cluster.connect("bob") as again,
                again.subscribe("t", where="n > 1", since=frontier) as inbox,
            ):
                return [*taken, *[(await inbox.get(30)).text for _ in range(2)]]

    assert LocalCluster(brokers=2, records=str(tmp_path)).run(scenario) == ["2", "3", "5"]
    assert check(tmp_path).clean


def test_a_predicate_that_cannot_be_read_is_refused_at_once() -> None:
    async def scenario(cluster: LocalCluster) -> None:
        async with cluster.connect("bob") as bob:
            with pytest.raises(InputError, match="ends at character 7"):
                bob.subscribe("t", where="temp >")

    LocalCluster().run(scenario)
