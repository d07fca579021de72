"""What one cell measures, by name: each function takes knobs and a seed and gives one row of plain values.

Decided here: what is read from a run. Knobs are those of the model that is run, under the same names; a row holds
counts and means, never lists, but for curves by round, which are lists of equal meaning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from antecede.sim.causes import Chains, run_chains
from antecede.sim.epidemic import Epidemic, broadcast

__all__ = ["causes", "spread"]

Row = dict[str, Any]

CURVE = 24
"""Rounds of a curve."""


def spread(knobs: Mapping[str, Any], seed: int) -> Row:
    """One broadcast of the vectorised simulator. `label` and other words of the design are left alone."""
    known = {name: value for name, value in knobs.items() if name in Epidemic.__dataclass_fields__}
    outcome = broadcast(Epidemic(**known), seed)
    return {
        "correct": outcome.correct,
        "reached": outcome.reached[-1],
        "to_most": outcome.rounds_to(0.99),
        "to_all": outcome.rounds_to(),
        "rounds_run": len(outcome.reached) - 1,
        "copies": sum(outcome.copies),
        "requests": sum(outcome.requests),
        "crossings": sum(outcome.crossings),
        "curve": [outcome.share(r) for r in range(CURVE)],
    }


def causes(knobs: Mapping[str, Any], seed: int) -> Row:
    """One run of chains of causes over gossip."""
    known = {name: value for name, value in knobs.items() if name in Chains.__dataclass_fields__}
    result = run_chains(Chains(**known), seed)
    return {
        "arrived": result.arrived,
        "delivered": result.delivered,
        "delay_rounds": result.rounds,
        "follows": result.causes,
        "pulls": result.pulls,
    }
