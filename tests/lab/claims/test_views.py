"""The rule of `views`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Table
from antecede.lab.claims.views import GLOBAL, LOCAL, WAYS, rule


def table(plain: dict[int, float], local: dict[int, float]) -> Table:
    """Bytes by brokers; gossip over global views costs as much more as it does over local ones where there are few."""
    loads = {GLOBAL: plain, LOCAL: local} | {
        w: {n: 3 * plain[n] for n in plain} for w in WAYS if w not in (GLOBAL, LOCAL)
    }
    return [{"views": way, "brokers": n, "load": load, "load_low": load - 5, "load_high": load + 5, "digest_bytes": 1.0}
            for way in WAYS for n, load in loads[way].items()]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table({6: 100, 48: 500}, {6: 80, 48: 90})).word == "holds"
    later = rule(table({6: 100, 24: 200, 48: 500}, {6: 300, 24: 310, 48: 320}))
    assert later.word == "holds only if" and "more than 24 brokers" in later.why
    assert rule(table({6: 100, 48: 500}, {6: 600, 48: 610})).word == "undecided", "growth alone decides nothing"
    assert rule(table({6: 100, 48: 150}, {6: 80, 48: 90})).word == "does not hold"
    assert rule(table({6: 100, 24: 150}, {6: 80, 24: 90})).word == "undecided"


def test_less_than_the_intervals_tell_apart_is_no_less() -> None:
    assert rule(table({6: 100, 48: 500}, {6: 600, 48: 495})).word == "undecided"
