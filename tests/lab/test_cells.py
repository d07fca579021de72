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
