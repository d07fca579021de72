"""Chains of causes: what arrives is not yet deliverable; asking for causes mends it."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from antecede.errors import InputError
from antecede.sim.causes import Chains, deliverable, run_chains


def test_a_message_waits_for_everything_it_follows() -> None:
    follows = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0]], dtype=bool)
    have = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 0]], dtype=bool)
    assert deliverable(have, follows).astype(int).tolist() == [[1, 0, 0], [1, 1, 1], [0, 0, 0]]


def test_forwarding_once_delivers_far_less_than_it_brings() -> None:
    """Independent runs of the same setting: 0.931 arrive, 0.609 can be delivered, 0.992 where causes are asked for."""
    plain = [run_chains(Chains(), 1, i) for i in range(12)]
    asked = [run_chains(Chains(pull=True), 1, i) for i in range(12)]
    assert statistics.fmean(d.arrived for d in plain) == pytest.approx(0.931, abs=0.01)
    assert statistics.fmean(d.delivered for d in plain) == pytest.approx(0.609, abs=0.06)
    assert statistics.fmean(d.delivered for d in asked) == pytest.approx(0.992, abs=0.005)


def test_without_loss_and_limit_everything_is_delivered() -> None:
    result = run_chains(Chains(subscribers=30, loss=0.0, forwards=0, publishers=2, generations=4), 1)
    assert result.arrived == result.delivered == 1 and result.pulls == 0


def test_a_group_smaller_than_its_fanout_is_refused() -> None:
    with pytest.raises(InputError, match="fan-out"):
        Chains(subscribers=3, fanout=3, publishers=1)
