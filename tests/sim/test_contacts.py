"""Who knows whom: views of different others, sites, and what cannot be reached."""

from __future__ import annotations

import doctest
import statistics

import numpy as np

from antecede.sim import contacts
from antecede.sim.epidemic import Epidemic, broadcast
from antecede.sim.kernels import generator


def test_the_examples_in_the_docstrings_hold() -> None:
    failed, tried = doctest.testmod(contacts)
    assert tried and not failed


def test_a_view_holds_different_others() -> None:
    views = contacts.draw_views(generator(1), 40, 6)
    for who, view in enumerate(views.tolist()):
        assert len(set(view)) == 6 and who not in view and max(view) < 40


def test_small_static_views_leave_somebody_out_for_good() -> None:
    """Independent runs of the same setting (n = 125, F = 3, l = 4) reached all in 0.11 of 1,000 runs."""
    outcomes = [broadcast(Epidemic(125, fanout=3, loss=0.05, crash=0.01, view=4), 8, i) for i in range(150)]
    complete = sum(o.rounds_to() is not None for o in outcomes) / len(outcomes)
    assert 0.03 < complete < 0.25
    assert statistics.fmean(o.reached[-1] / o.correct for o in outcomes) > 0.96


def test_preferring_the_own_site_saves_crossings_and_takes_longer() -> None:
    def mean(near: float) -> tuple[float, float]:
        runs = [broadcast(Epidemic(120, loss=0.05, near=near, sites=4), 3, i) for i in range(40)]
        share = sum(sum(o.crossings) for o in runs) / sum(sum(o.copies) for o in runs)
        return share, statistics.fmean(o.rounds_to() or 0 for o in runs)

    (even, soon), (rare, late) = mean(0.0), mean(0.9)
    assert abs(even - 90 / 119) < 0.03 and rare < 0.12 and late > soon


def test_targets_of_a_site_are_others_and_differ() -> None:
    senders = np.arange(12)
    epidemic = Epidemic(12, fanout=2, near=1.0, sites=3)
    targets = contacts._near_targets(generator(5), senders, epidemic)
    assert (contacts.site_of(targets, 12, 3) == contacts.site_of(senders, 12, 3)[:, None]).all()
    assert (targets != senders[:, None]).all() and (targets[:, 0] != targets[:, 1]).all()
