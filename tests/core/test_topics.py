"""Filters match as in MQTT 5, section 4.7."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.topics import matches

levels = st.lists(st.sampled_from(["a", "b", "", "c"]), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("filter", "topic", "expected"),
    [
        ("G1", "G1", True),
        ("G1", "G10", False),
        ("G1", "G1/x", False),
        ("sport/tennis/player1/#", "sport/tennis/player1", True),  # 4.7.1.2
        ("sport/tennis/player1/#", "sport/tennis/player1/ranking", True),
        ("sport/tennis/player1/#", "sport/tennis/player10", False),
        ("#", "a/b/c", True),
        ("sport/tennis/+", "sport/tennis/player1", True),  # 4.7.1.3
        ("sport/tennis/+", "sport/tennis/player1/ranking", False),
        ("sport/+", "sport", False),
        ("sport/+", "sport/", True),
        ("+/+", "/finance", True),
        ("/+", "/finance", True),
        ("+", "/finance", False),
        ("a/#/b", "a/x/b", False),  # not a valid filter: matches nothing
        ("#", "$SYS/monitor", False),  # 4.7.2
        ("+/monitor", "$SYS/monitor", False),
        ("$SYS/#", "$SYS/monitor", True),
        ("", "a", False),
    ],
)
def test_the_standard(filter: str, topic: str, expected: bool) -> None:
    assert matches(filter, topic) is expected


@given(levels)
def test_a_plain_name_matches_itself_and_plus_any_level(names: list[str]) -> None:
    topic = "/".join(names)
    assert matches(topic, topic)
    assert matches("/".join("+" for _ in names), topic)
    assert matches("#", topic)


@given(levels, levels)
def test_plain_names_match_nothing_else(a: list[str], b: list[str]) -> None:
    assert matches("/".join(a), "/".join(b)) == (a == b)
