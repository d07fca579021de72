"""A cell's row says what its run did."""

from __future__ import annotations

from antecede.lab import cells
from antecede.sim.causes import Chains, run_chains
from antecede.sim.epidemic import Epidemic, broadcast


def test_a_broadcast_is_counted() -> None:
    row = cells.spread({"subscribers": 80, "fanout": 3, "loss": 0.05, "label": "a word of the design"}, 4)
    outcome = broadcast(Epidemic(80, fanout=3, loss=0.05), 4)
    assert row["to_all"] == outcome.rounds_to() and row["copies"] == sum(outcome.copies)
    assert row["curve"][0] == 1 / 80 and row["curve"][-1] == 1.0 and len(row["curve"]) == cells.CURVE


def test_chains_are_counted() -> None:
    row = cells.causes({"subscribers": 30, "publishers": 2, "generations": 3}, 4)
    assert row["delivered"] == run_chains(Chains(subscribers=30, publishers=2, generations=3), 4).delivered


COUNTED = ("inversions", "gaps", "undelivered", "idle", "other")
SMALL = {"brokers": 3, "subscribers": 0, "messages": 12, "loss": 0.1, "delay_ms": [8.0, 12.0]}


def test_an_event_driven_run_is_judged_and_counted() -> None:
    row = cells.events({**SMALL, "recipe": "solicit", "deadline_ms": [100.0, 100.0], "round_trips": 5.0}, 3)
    fates = sum(share for name, share in row.items() if name.startswith("fate_"))
    assert row["pairs"] == 24 and abs(fates - 1) < 1e-9
    assert row["undelivered"] == 1 - row["fate_delivered"] and row["p50_ms"] <= row["p95_ms"] <= 100
    assert 0 < row["most_kept"] <= 12 and row["found_inversion"] == 0
    assert row["stamp_to_subscriber"] is None and row["stamp_to_member"] > 0


def test_both_tiers_are_weighed() -> None:
    row = cells.events({"recipe": "graph", "brokers": 3, "subscribers": 2, "messages": 10}, 3)
    assert row["stamp_to_broker"] > 0 and row["stamp_to_subscriber"] > 0


def test_two_recipes_are_compared_over_what_both_deliver() -> None:
    row = cells.paired({**SMALL, "ours": "solicit", "theirs": "dcco", "deadline_ms": [100.0, 100.0]}, 3)
    assert 0 < row["both"] <= row["either"] == 24 and row["both"] <= row["theirs_delivered"]
    assert row["ours_p95_ms"] <= row["theirs_p95_ms"] + 20


def test_what_it_costs_to_know_each_other_is_paid_by_those_who_are_there() -> None:
    knobs = {"recipe": "dcco", "brokers": 4, "subscribers": 4, "messages": 20, "deadline_ms": [100.0, 100.0]}
    told, found = (cells.managed({**knobs, "membership": how}, 3) for how in ("told", "swim"))
    assert told["members_seen"] == found["members_seen"] == 8 and told["managing_bytes"] == 0 < told["control_bytes"]
    assert 0 < found["managing_bytes"] < found["control_bytes"] and found["managing_frames"] == found["control_frames"]
    seconds = found["member_seconds"] / 8
    assert 0.2 < seconds < 2
    left = cells.managed({**knobs, "membership": "swim", "leave": 1.0, "messages": 60}, 3)
    stayed = cells.managed({**knobs, "membership": "swim", "messages": 60}, 3)
    assert left["member_seconds"] < stayed["member_seconds"]


def test_a_drawn_scenario_is_a_row() -> None:
    row = cells.drawn({"recipe": "graph"}, 5)
    assert row["pairs"] > 0 and row["inversions"] == 0 and row["what"] == ""
    printed = [cells.drawn({"recipe": "graph", "reading": "printed-a"}, seed) for seed in range(4)]
    assert any(one["idle"] for one in printed), "what is held for nothing has a column of its own"
    assert all(not one["what"] or sum(one[name] for name in COUNTED) for one in printed), "no finding is left out"


def test_a_point_of_a_model_is_its_knobs() -> None:
    assert cells.nothing({"n": 5}, 1) == {}
