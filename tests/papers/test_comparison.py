"""`solicit` against `dcco` on the same seeds (000, 002): where solicitation helps, and where it cannot."""

from __future__ import annotations

import pytest
from bench.comparison import share, undelivered

SEEDS = range(40)


def both(round_trips: float, loss: float = 0.1) -> tuple[float, float]:
    """Shares of undelivered pairs: `solicit`, `dcco`. Every run is judged by the oracle on the way."""
    ours, theirs = ([undelivered(r, round_trips, loss, seed) for seed in SEEDS] for r in ("solicit", "dcco"))
    return share(ours), share(theirs)


@pytest.mark.parametrize("round_trips", [3.0, 5.0])
def test_with_deadlines_of_several_round_trips_at_most_half_stays_undelivered(round_trips: float) -> None:
    ours, theirs = both(round_trips)
    assert theirs > 0.08  # what dcco loses is lost: there was something to gain
    assert ours <= theirs / 2


def test_with_deadlines_of_one_round_trip_it_does_not_help() -> None:
    # To notice takes half a round trip, to ask and be answered another one: the deadline has passed by then.
    ours, theirs = both(1.0)
    assert ours > 0.85 * theirs


def test_without_loss_nothing_stays_undelivered() -> None:
    assert both(1.0, loss=0.0) == (0.0, 0.0)
