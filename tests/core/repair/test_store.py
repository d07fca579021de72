"""What is kept to answer requests, for how long, and what is found again."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.effects import Effect
from antecede.core.interest import Interest
from antecede.core.message import Envelope
from antecede.core.repair.store import Store
from tests.core.kit import flat, grouped, told


def made(grace_us: int = 100, slack_us: int = 0) -> tuple[Store, list[Effect]]:
    out: list[Effect] = []
    return Store(out, grace_us=grace_us, slack_us=slack_us), out


def ids(envelopes: Any) -> list[str]:
    return [e.message.id for e in envelopes]


def test_ranges_are_open_below_and_closed_above() -> None:
    store, _ = made()
    for n in (1, 2, 3, 5):
        store.add(flat(f"A:{n}"))
    assert ids(store.find([("A", 1, 3)])) == ["A:2", "A:3"]
    assert ids(store.find([("A", 0, 1000)])) == ["A:1", "A:2", "A:3", "A:5"]
    assert ids(store.find([("A", 3, 4), ("B", 0, 9)])) == []
    store.add(flat("A:200"))
    assert ids(store.find([("A", 5, 199)])) == [] and ids(store.find([("A", 3, 200)])) == ["A:5", "A:200"]


def test_streams_in_the_order_asked_each_message_once() -> None:
    store, _ = made()
    store.add(grouped("A:2", "G2", "G1"))
    store.add(grouped("A:1", "G1"))
    assert ids(store.find([("A@G2", 0, 9), ("A@G1", 0, 9)])) == ["A:2", "A:1"]


def test_kept_until_the_deadline_and_the_slack_then_only_as_a_header() -> None:
    store, out = made(slack_us=5)
    store.add(flat("A:1", deadline_us=100))
    store.add(flat("B:1"))
    assert store.next_expiry() == 105
    store.collect(105)
    assert len(store) == 2 and not out
    store.collect(106)
    assert told(out) == ["collect A:1"] and list(store.by_id) == ["B:1"]
    assert ids(store.find([("A", 0, 1)])) == [] and ids(store.find_headers([("A", 0, 1)])) == ["A:1"]
    assert store.next_expiry() is None and "A" not in store.index


def test_two_of_one_name_are_let_go_of_once() -> None:
    """Somebody else took a name that was given."""
    store, out = made()
    for one in (first := grouped("A:1", "G1"), second := grouped("A:1", "G2", deadline_us=9)):
        store.add(one)
    for one in (first, second):
        store.let_go(one)
    assert told(out) == ["collect A:1"] and not store.by_id and not store.index and not any(store.tops.values())
    assert store.lasting == 0


def test_headers_stay_for_the_grace() -> None:
    store, _ = made(grace_us=100)
    store.add(flat("A:1", deadline_us=10))
    store.collect(50)
    store.add_header(flat("C:1"), 60)
    store.collect(149)
    assert ids(store.find_headers([("A", 0, 9), ("C", 0, 9)])) == ["A:1", "C:1"]
    store.collect(150)
    assert ids(store.find_headers([("A", 0, 9), ("C", 0, 9)])) == ["C:1"]
    store.collect(160)
    assert not store.headers


def test_tops_follow_what_is_kept_and_the_version_what_came() -> None:
    store, _ = made()
    store.add(grouped("A:3", "G1", "G2", deadline_us=20))
    store.add(grouped("A:1", "G1"))
    assert store.tops == {"G1": {"A@G1": 3}, "G2": {"A@G2": 3}} and store.version == 2
    store.collect(21)
    assert store.tops == {"G1": {"A@G1": 1}, "G2": {}} and store.version == 2


def test_what_is_offered_follows_what_is_kept() -> None:
    store, _ = made()
    one, both = Interest(("G1",)), Interest(("G1", "G2"))
    store.add(grouped("A:3", "G1", "G2", deadline_us=20))
    assert store.offers(one) == {"A@G1": 3} and store.offers(both) == {"A@G1": 3, "A@G2": 3}
    store.add(grouped("B:1", "G2"))
    assert store.offers(one) == {"A@G1": 3} and store.offers(both) == {"A@G1": 3, "A@G2": 3, "B@G2": 1}
    store.collect(21)
    assert store.offers(one) == {} and store.offers(both) == {"B@G2": 1}


def test_headers_are_listed_in_the_order_in_which_they_expired() -> None:
    store, _ = made(grace_us=100)
    for n, deadline_us in ((1, 30), (2, 10)):
        store.add(flat(f"A:{n}", deadline_us=deadline_us))
    store.collect(40)
    assert ids(store.kept_headers()) == ["A:2", "A:1"]
    store.collect(140)
    assert store.kept_headers() == []


class Counting(dict[int, Envelope]):
    looks = 0

    def __getitem__(self, n: int) -> Envelope:
        self.looks += 1
        return super().__getitem__(n)


def test_however_often_ranges_repeat_or_overlap_what_is_kept_is_looked_through_once() -> None:
    store, _ = made()
    for n in range(1, 101):
        store.add(flat(f"A:{n}"))
    for ranges, found in (
        ([("A", 0, 10**12)] * 50, 100),
        ([("A", 0, 10**12 + k) for k in range(50)], 100),
        ([("A", k, 10**12) for k in range(50, 0, -1)], 99),
        ([("A", 10, 20)] * 50, 10),
    ):
        here = store.index["A"] = Counting(store.index["A"])
        assert len(ids(store.find(ranges))) == here.looks == found


HIGH = st.integers(0, 12) | st.just(1000)
STEPS = st.lists(
    st.tuples(st.sampled_from("ABC"), st.integers(1, 12), st.none() | st.integers(0, 60), st.integers(0, 9)),
    max_size=30,
)


@settings(max_examples=200)
@given(STEPS, st.integers(0, 5), st.lists(st.tuples(st.sampled_from("ABC"), st.integers(0, 12), HIGH)))
def test_agrees_with_a_dict(steps, slack_us, ranges) -> None:
    store, out = made(grace_us=20, slack_us=slack_us)
    kept: dict[tuple[str, int], Envelope] = {}
    headers: dict[tuple[str, int], int] = {}
    now_us = 0
    for sender, n, deadline_us, wait_us in steps:
        now_us += wait_us
        if (sender, n) not in kept and (sender, n) not in headers:
            envelope = flat(f"{sender}:{n}", deadline_us=deadline_us)
            kept[sender, n] = envelope
            store.add(envelope)
        store.collect(now_us)
        for mark, envelope in list(kept.items()):
            deadline = envelope.message.deadline_us
            if deadline is not None and now_us > deadline + slack_us:
                del kept[mark]
                headers[mark] = now_us
        assert {f"collect {s}:{n}" for (s, n), at in headers.items() if at == now_us} >= set(told(out))
        out.clear()
        assert set(store.by_id) == {f"{s}:{n}" for s, n in kept}
        assert store.tops.get("", {}) == {s: max(k for t, k in kept if t == s) for s, _ in kept}
        fresh = {mark for mark, at in headers.items() if now_us < at + 20}
        for found, have in ((store.find, set(kept)), (store.find_headers, fresh)):
            expected = []
            for stream, low, high in ranges:
                expected += [f"{s}:{n}" for s, n in sorted(have) if s == stream and low < n <= high]
            assert ids(found(ranges)) == list(dict.fromkeys(expected))


def test_what_has_no_deadline_is_counted_while_it_is_kept() -> None:
    store, out = made()
    lasting = flat("A:1")
    for envelope in (lasting, lasting, flat("A:2", deadline_us=5)):
        store.add(envelope)
    assert store.lasting == 1
    store.let_go(lasting)
    assert store.lasting == 0 and told(out) == ["collect A:1"]


def test_headers_of_what_everybody_had_are_kept_where_somebody_may_ask() -> None:
    store, _ = made()
    store.add_gone(flat("A:1", payload=b"x"), 10)
    assert not store.gone
    store.memory_us = 100
    store.add_gone(flat("A:1", payload=b"x"), 10)
    store.add_gone(flat("A:2"), 50)
    assert store.gone["A:1"][0].message.payload == b""
    store.forget_gone(109)
    assert list(store.gone) == ["A:1", "A:2"]
    store.forget_gone(110)
    assert list(store.gone) == ["A:2"]
