"""Short forms of the campaigns in bench/: real processes, real sockets, faults on purpose, and the records judged."""

from __future__ import annotations

from pathlib import Path

from bench.campaign import FAULTS, campaign
from bench.campaign_kills import FAULTS as LOSS
from bench.campaign_kills import campaign as kills
from bench.fleet import CLIENTS, TABLE, Fleet, topic_of, wanted

from antecede.core.entries import Entries


def test_twelve_processes_on_a_bad_network_deliver_everything_in_order(tmp_path: Path) -> None:
    assert campaign(Fleet(tmp_path, faults=FAULTS), 2_000, None) == []


def test_a_client_is_owed_what_others_publish_and_its_filters_match() -> None:
    owed = wanted("c2", ("alerts/#",), dict.fromkeys(CLIENTS, 8))
    ids = [one.split(":") for one in owed]
    assert owed and all(topic_of(sender, int(number)).startswith("alerts/") for sender, number in ids)
    assert "c2" not in {sender for sender, _ in ids}


def test_every_client_finds_a_broker_and_most_topics_fall_under_several_entries() -> None:
    table = Entries(TABLE)
    brokers = {name: table.carried_by(name) for name in "ABCD"}
    assert all(table.carrying(brokers, filters) for filters in CLIENTS.values())
    assert len({tuple(one) for one in brokers.values()}) == 4


def test_brokers_and_clients_are_killed_and_nothing_is_missed_or_comes_again(tmp_path: Path) -> None:
    assert kills(Fleet(tmp_path, faults=LOSS), 3, seed=1) == []
