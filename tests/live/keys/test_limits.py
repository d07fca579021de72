"""Limits of a client, and the bucket that keeps a rate."""

from __future__ import annotations

import pytest

from antecede.errors import InputError
from antecede.live.keys.limits import BURST_S, Bucket, Limits


def test_a_bucket_lets_a_burst_through_and_then_its_rate() -> None:
    bucket, now_s, taken = Bucket(1000), 0.0, 0
    while now_s < 10:
        wait_s = bucket.take(50, now_s)
        taken += 50
        now_s += wait_s or 0.001
    assert 10 * 1000 <= taken <= (10 + BURST_S) * 1000 + 100
    assert bucket.take(1, now_s + 100) == 0, "who was quiet may burst again"


def test_limits_that_let_nobody_in_are_refused() -> None:
    for wrong in ({"rate": 0}, {"connections": -1}, {"size": 10**6}):
        with pytest.raises(InputError):
            Limits(**wrong)
