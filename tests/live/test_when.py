"""Deadlines and durations: what is meant, and one sentence for what cannot be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from antecede.errors import InputError
from antecede.live.when import deadline_of, parse_duration


def test_within_and_deadline_are_moments_of_the_clusters_clock() -> None:
    assert deadline_of(None, None, 7) is None
    assert deadline_of(0.5, None, 1_000_000) == 1_500_000
    found = deadline_of(None, datetime.now(UTC) + timedelta(seconds=10), 0)  # a clock that knows nothing of the wall
    assert found is not None and 9_000_000 < found <= 10_000_000


@pytest.mark.parametrize(
    ("within", "deadline", "words"),
    [
        (0.5, datetime.now(UTC), "not both"),
        (0, None, "above 0"),
        (-1.0, None, "above 0"),
        (True, None, "above 0"),
        ("1s", None, "number of seconds"),
        (float("nan"), None, "above 0"),
        (None, datetime.now(UTC) - timedelta(seconds=1), "has passed"),
        (None, datetime(2030, 1, 1), "time zone"),  # noqa: DTZ001
        (None, 17.0, "is a datetime"),
    ],
)
def test_mistakes_get_one_sentence(within: float | None, deadline: datetime | None, words: str) -> None:
    with pytest.raises(InputError, match=words):
        deadline_of(within, deadline, 0)


def test_durations() -> None:
    assert [parse_duration(t) for t in ("500ms", "2s", "1.5", "2 m", "1h")] == [0.5, 2.0, 1.5, 120.0, 3600.0]
    for bad in ("", "fast", "1x", "-1s"):
        with pytest.raises(InputError, match="no duration"):
            parse_duration(bad)
