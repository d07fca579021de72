"""Filters match as in MQTT 5, section 4.7; what they share and cover is as if every topic were tried."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antecede.core.topics import EVERYTHING, covers, is_filter, matches, overlaps, selected, split_filter

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


LEVELS = ("a", "b", "", "$x")
ALL_TOPICS = ["/".join(names) for depth in range(1, 5) for names in product(LEVELS, repeat=depth)]
"""One level deeper than any filter below, and with a name (`b` or `$x`) that a filter may not have."""

FILTERS = st.one_of(
    st.just(EVERYTHING),
    st.builds(
        lambda before, last: "/".join([*before, *last]),
        st.lists(st.sampled_from(["a", "", "$x", "+"]), min_size=1, max_size=3),
        st.sampled_from([[], ["#"]]),
    ),
    st.just("#"),
).filter(lambda text: text.count("/") < 3)


def matched(filter: str) -> set[str]:
    return {topic for topic in ALL_TOPICS if matches(filter, topic)}


@given(FILTERS, FILTERS)
def test_two_filters_overlap_where_some_topic_is_matched_by_both(one: str, other: str) -> None:
    assert overlaps(one, other) == overlaps(other, one) == bool(matched(one) & matched(other))


@example("+/#", "#")
@example("#", "+/#")
@given(FILTERS, FILTERS)
def test_what_covers_a_filter_matches_all_that_it_matches(wide: str, narrow: str) -> None:
    if covers(wide, narrow):
        assert matched(narrow) <= matched(wide)
    elif wide != EVERYTHING and narrow != EVERYTHING:
        assert not matched(narrow) <= matched(wide), "and nothing else does"


@given(FILTERS)
def test_only_whole_levels_are_wildcards(filter: str) -> None:
    assert is_filter(filter) or not filter
    assert not is_filter(filter + "+") or filter.endswith("/") or not filter
    assert not is_filter(f"#/{filter}")


@given(st.sampled_from(["a", "a/#", "+/b", "#", "$#", "a/+"]), st.text())
def test_a_predicate_comes_off_as_it_was_put_on(filter: str, where: str) -> None:
    assert split_filter(selected(filter, where)) == (filter, where or None)
    assert is_filter(selected(filter, where))
    for topic in ("a", "a/b", "$SYS"):
        assert matches(selected(filter, where), topic) == matches(filter, topic)
