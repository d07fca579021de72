"""A snapshot of a full store goes in pages: each is asked for until it came, and a busy donor is not asked anew."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.begin import pages
from antecede.core.begin.pages import Incoming, Outgoing, pages_of, whole_of
from antecede.core.effects import Send
from antecede.core.frames import PageRequest, Snapshot, SnapshotPage, SnapshotRequest
from antecede.core.message import Publication
from antecede.sim.sweep import judge
from tests.core.begin.test_joining import brokers
from tests.core.kit import grouped, told, view_of


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    monkeypatch.setattr(pages, "WINDOW", 2)


def snapshot(count: int, headers: int = 0) -> Snapshot:
    envelopes = tuple(grouped(f"B:{n}", "G1") for n in range(1, count + headers + 1))
    return Snapshot({"B@G1": 3}, ("B:3",), envelopes[headers:], envelopes[:headers], dropped={"C@G1": 1})


def sent(effects: Any, kind: type) -> list[tuple[tuple[str, ...], Any]]:
    return [(e.to, e.frame) for e in effects if isinstance(e, Send) and isinstance(e.frame, kind)]


def test_a_small_snapshot_is_one_frame() -> None:
    assert len(pages_of(snapshot(2, 2))) == 1
    assert not Outgoing().cut("A", snapshot(2, 2), 9)


@pytest.mark.parametrize("count,headers", [(3, 0), (0, 3), (5, 4), (2, 3)])
def test_pages_put_together_are_the_snapshot(count: int, headers: int) -> None:
    whole = snapshot(count, headers)
    some = pages_of(whole)
    back = whole_of(some)
    assert len(some) > 1 and all(len(page.envelopes) <= 2 and len(page.headers) <= 2 for page in some)
    assert (back.past, back.cut, back.dropped) == (whole.past, whole.cut, whole.dropped)
    assert (back.envelopes, back.headers) == (whole.envelopes, whole.headers)


def test_large_payloads_make_small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 100)
    monkeypatch.setattr(pages, "PAGE_BYTES", 10)
    some = tuple(grouped(f"B:{n}", "G1") for n in range(1, 5))
    for envelope in some:
        envelope.message.payload = bytes(6)
    assert [len(page.envelopes) for page in pages_of(Snapshot({}, (), some))] == [1, 1, 1, 1]


def test_the_next_pages_are_asked_for_when_those_on_their_way_have_come_and_a_lost_one_again() -> None:
    out, incoming = Outgoing(), Incoming()
    assert out.cut("A", snapshot(9), 100)
    first = out.pages("A", None, 0)
    assert [page.index for page in first] == [0, 1] and first[0].count == 5
    assert incoming.take(first[0], "B", 5) is None and incoming.take(first[1], "B", 5) == 2
    second = out.pages("A", first[0].number, 2)
    assert incoming.take(second[1], "B", 8) is None, "page 2 was lost"
    assert incoming.patience_us(10) == 10 + 2 * 3, "the answer took 3"
    assert list(incoming.ask_again(24)) == [("B", first[0].number, 2)] and incoming.patience_us(10) == 20 + 2 * 3
    third = out.pages("A", first[0].number, 2)
    assert incoming.take(third[0], "B", 28) == 4 and incoming.patience_us(10) == 10 + 2 * 4
    assert incoming.complete("B") is None
    last = out.pages("A", first[0].number, 4)
    assert incoming.take(last[0], "B", 30) == 5, "it has them all, and says so"
    assert out.pages("A", first[0].number, 5) == [] and not out.is_giving("A", 0)
    whole = incoming.complete("B")
    assert whole is not None and [e.message.seq for e in whole.envelopes] == list(range(1, 10))


def test_losses_do_not_make_a_newcomer_wait_longer_and_longer() -> None:
    out, incoming = Outgoing(), Incoming()
    assert out.cut("A", snapshot(40), 100)
    incoming.take(out.pages("A", None, 0)[0], "B", 0)
    now_us = 0
    for _ in range(6):  # every request is lost once, and an answer takes 3
        for _ in range(2):
            now_us += incoming.patience_us(10)
            ((_, number, first),) = incoming.ask_again(now_us)
        for page in out.pages("A", number, first):
            incoming.take(page, "B", now_us + 3)
        assert incoming.patience_us(10) == 10 + 2 * 3


def test_pages_of_an_older_snapshot_are_not_mixed_with_those_of_a_newer_one() -> None:
    incoming = Incoming()
    old, new = (SnapshotPage(n, 0, 2, snapshot(n)) for n in (1, 2))
    incoming.take(old, "B", 0)
    incoming.take(new, "B", 0)
    assert incoming.take(SnapshotPage(1, 1, 2, snapshot(1)), "B", 0) is None and incoming.complete("B") is None
    assert incoming.take(SnapshotPage(2, 1, 2, snapshot(1)), "B", 0) == 2 and incoming.complete("B") is not None


def full(fresh: str = "A") -> dict[str, Any]:
    everybody = brokers("cbcast", {"A": "G1", "B": "G1", "C": "G1"}, fresh)
    for name in "BC":
        for _ in range(5):
            _, effects = everybody[name].publish(Publication(("G1",)), 0)
            for to, frame in [(to, e.frame) for e in effects if isinstance(e, Send) for to in e.to]:
                if to != "A":
                    everybody[to].receive(frame, name, 0)
    return everybody


def test_a_donor_cuts_once_however_often_it_is_asked_and_the_newcomer_asks_nobody_else_meanwhile() -> None:
    everybody = full()
    a, b = everybody["A"], everybody["B"]
    assert told(a.start(0, joining=True)) == ["snapshot-request to B"]
    some = sent(b.receive(SnapshotRequest(whole=True), "A", 1), SnapshotPage)
    again = sent(b.receive(SnapshotRequest(whole=True), "A", 2), SnapshotPage)
    assert [frame.number for _, frame in some + again] == [1, 1, 1, 1]
    a.receive(some[0][1], "B", 3)
    assert told(a.wake(13)) == ["page-request to B"] and a.next_wake() == 13 + 2 * 10
    late = sent(b.receive(SnapshotRequest(whole=True), "A", 10**9), SnapshotPage)
    assert late[0][1].number == 2, "pages that were cut long ago are not given again"


def test_a_newcomer_begins_when_all_pages_are_there() -> None:
    everybody = full()
    a, b = everybody["A"], everybody["B"]
    a.start(0, joining=True)
    waiting = sent(b.receive(SnapshotRequest(whole=True), "A", 1), SnapshotPage)
    said: list[str] = []
    while waiting:
        assert not a.joined
        effects = a.receive(waiting.pop(0)[1], "B", 2)
        said += [one for one in told(effects) if "page" not in one]
        for _, frame in sent(effects, PageRequest):
            waiting += sent(b.receive(frame, "A", 3), SnapshotPage)
    assert a.joined and len([one for one in said if one.startswith("deliver")]) == 10


def test_what_a_donor_gave_before_it_fell_silent_is_not_lost() -> None:
    everybody = full()
    a, b, c = everybody["A"], everybody["B"], everybody["C"]
    a.start(0, joining=True)
    page = sent(b.receive(SnapshotRequest(whole=True), "A", 1), SnapshotPage)[0][1]
    a.receive(page, "B", 2)
    a.view(view_of({"A": "G1", "C": "G1"}), 3)  # B crashed
    assert told(a.wake(12)) == ["snapshot-request to C"]
    snapshot = Snapshot({}, ())
    assert told(a.receive(snapshot, "C", 13))[1:] == ["deliver B:1 causes", "deliver B:2 causes"]
    assert c.joined


def test_a_donor_that_fell_silent_and_then_left_is_given_up_once() -> None:
    everybody = full()
    a, b = everybody["A"], everybody["B"]
    a.start(0, joining=True)
    page = sent(b.receive(SnapshotRequest(whole=True), "A", 1), SnapshotPage)[0][1]
    a.receive(page, "B", 2)
    asked = 0
    while asked < pages.TRIES:
        asked += told(a.wake(a.next_wake() or 0)).count("page-request to B")
    due_us = a.next_wake() or 0
    a.view(view_of({"A": "G1", "C": "G1"}), due_us - 1)  # B crashed
    assert told(a.wake(due_us)) == ["snapshot-request to C"]
    assert told(a.receive(Snapshot({}, ()), "C", due_us + 1))[1:] == ["deliver B:1 causes", "deliver B:2 causes"]


def test_a_second_donor_of_the_same_groups_is_not_asked_for_more_and_what_it_gave_is_kept() -> None:
    everybody = full()
    a = everybody["A"]
    a.start(0, joining=True)
    first, second = (
        sent(everybody[name].receive(SnapshotRequest(whole=True), "A", 1), SnapshotPage)[0][1] for name in "BC"
    )
    assert told(a.receive(first, "B", 2)) == []
    assert told(a.receive(second, "C", 2)) == []
    a.view(view_of({"A": "G1", "C": "G1"}), 3)  # B crashed
    a.wake(12)
    said = told(a.receive(Snapshot({}, ()), "C", 13))[1:]
    assert [one for one in said if "B:1" in one] == ["deliver B:1 causes", "discard B:1 duplicate"]


@pytest.mark.parametrize("recipe", ["home", "home-plain", "cbcast", "rounds"])
def test_drawn_runs_with_small_pages_keep_every_promise(recipe: str) -> None:
    seed = 9_300
    wrong = [one for index in range(12) if (one := judge(seed, recipe, "repaired", index)).what]
    assert not wrong, f"with PAGE and WINDOW 2: antecede simulate --recipe {recipe} --seed {seed} --draw N: {wrong}"
