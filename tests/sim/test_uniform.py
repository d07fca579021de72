"""What one round draws, against what can be worked out."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from antecede.sim import uniform
from antecede.sim.epidemic import Epidemic, broadcast


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(uniform)
    assert tried and not failed


def test_hits_have_the_mean_of_their_parts() -> None:
    chance = uniform.hit_probabilities(100, 30, 4, 0.9)
    assert chance.sum() == pytest.approx(1)
    assert chance @ np.arange(5) == pytest.approx(4 * 30 / 100 * 0.9)


def test_who_sends_to_everybody_reaches_everybody() -> None:
    assert broadcast(Epidemic(10, fanout=9), 1).reached == (1, 10)


def test_counts_are_those_of_the_senders() -> None:
    outcome = broadcast(Epidemic(500, fanout=3, loss=0.1, forwards=1), 4)
    new = np.diff(outcome.reached)
    assert outcome.copies[1] == 3
    assert outcome.copies[2:] == tuple(3 * int(count) for count in new[:-1])


def test_brokers_alone_send_and_are_asked() -> None:
    pushed = broadcast(Epidemic(50, fanout=2, brokers=4, relay=False, rounds=5), 1)
    assert pushed.copies == (0, 8, 8, 8, 8, 8) and pushed.reached[0] == 0
    asked = broadcast(Epidemic(50, "pull", fanout=1, brokers=4, relay=False), 1)
    assert asked.reached == (0, 50) and asked.requests == (0, 50) and asked.copies == (0, 50)


def test_whoever_has_crashed_is_not_waited_for() -> None:
    outcome = broadcast(Epidemic(1000, fanout=4, crash=0.3), 2)
    assert 600 < outcome.correct < 800 and outcome.reached[-1] == outcome.correct
