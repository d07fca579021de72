"""Clients of `home` whose applications read at their own pace: PROTOCOLS s1 (late and overflow from the application's
own queue), s3.6 (a client that lost its memory takes a new incarnation), judged by the oracle.

A queue is the application's doing: what waits there is held although nothing keeps it, so `idle` is not looked for.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from antecede.core.effects import Dropped
from antecede.core.message import Publication
from antecede.core.order.numbered import WINDOW
from antecede.trace.check import check
from antecede.trace.record import Row
from antecede.trace.report import Report
from antecede.wire import restore, save
from tests.papers.rig import MS, Rig
from tests.papers.test_home import home


def judged(rig: Rig) -> Report:
    """Let everything come to rest; the oracle must have found nothing."""
    rig.run_until_quiet()
    for process in rig.processes.values():
        if process.alive:
            rig.records.note(process, "end", rig.now_us, reason="quiet")
    report = check(rig.records.rows, scenario={"recipe": "home"}, idle=False)
    assert not report.findings, "\n".join(f"{f.verdict} at {f.process}: {f.text}" for f in report.findings)
    assert report.clean and sum(report.fates.values()) == report.pairs
    return report


def opened(rig: Rig, client: str, queue: str = "inbox", filters: str = "G1", **how: Any) -> None:
    how = {"size": 10, "policy": "drop_oldest", **how}
    rig.machine(client).application.open(queue, tuple(filters.split()), **how)


def taken(rig: Rig, client: str, queue: str = "inbox", limit: int = 10_000) -> list[str]:
    messages, effects = rig.machine(client).application.hand_over(queue, limit, rig.now_us)
    rig._told(rig.processes[client], effects)
    return [message.id for message in messages]


# -- the hand-over -------------------------------------------------------------------------------------------------


def test_an_answer_follows_only_what_was_handed_over() -> None:
    rig = home(clients="c@H d@N")
    opened(rig, "d")
    m1 = rig.publish("c")
    rig.settle()
    assert taken(rig, "d") == [m1]
    m2 = rig.publish("c")
    rig.settle()
    answer = rig.publish("d")
    rig.settle()
    assert taken(rig, "d") == [m2] and rig.delivered("c") == [answer]
    assert judged(rig).fates["delivered"] == 9


def test_what_is_left_too_long_is_late_and_that_is_not_the_protocols_doing() -> None:
    rig = home(clients="c@H d@N")
    opened(rig, "d")
    m1, m2 = rig.publish("c", deadline_ms=100), rig.publish("c")
    rig.settle()
    rig.advance(101)
    assert rig.discarded("d") == [(m1, "late")] and taken(rig, "d") == [m2]
    assert judged(rig).fates_by_role["subscriber"] == {**_none(), "late": 1, "delivered": 1}


def test_a_full_queue_overflows_at_its_client_alone() -> None:
    rig = home(clients="c@H d@N e@N")
    opened(rig, "d", size=2)
    ids = [rig.publish("c") for _ in range(5)]
    rig.settle()
    assert taken(rig, "d") == ids[3:] and rig.delivered("e") == ids
    assert judged(rig).fates_by_role["subscriber"] == {**_none(), "overflow": 3, "delivered": 7}


def test_own_messages_that_were_asked_for_are_no_duplicates() -> None:
    rig = home(clients="c@H d@N")
    opened(rig, "c", own=True)
    m1 = rig.publish("c")
    rig.settle()
    answer = rig.publish("d")
    rig.settle()
    assert taken(rig, "c") == [m1, answer]
    assert [(r.message, r.reason) for r in rig.rows("c", "deliver")] == [(m1, "own"), (answer, "causes")]
    judged(rig)


# -- bounds --------------------------------------------------------------------------------------------------------


def _none() -> dict[str, int]:
    return dict.fromkeys(("delivered", "superseded", "late", "overflow", "expired", "departed", "pending", "lost"), 0)


@pytest.mark.parametrize(("how", "messages"), [("away", 5000), ("block", 2000)])
def test_who_does_not_read_costs_its_home_so_much_and_others_nothing(how: str, messages: int) -> None:
    """`slow` hears nothing any more, or its application reads nothing."""
    backlog, grace_ms = 300, 200
    rig = home(
        clients="p@N slow@H d@H e@N", backlog=backlog, round_us=20 * MS, retry_us=10 * MS, grace_us=grace_ms * MS,
        memory_us=400 * MS,
    )  # fmt: skip
    if how == "block":
        opened(rig, "slow", size=20, policy="block")
    else:
        back = rig.lose("H", "slow")
    kept, waiting, ids = [], 0, []
    for n in range(messages):
        ids.append(rig.publish("p"))
        if n % 10 == 9:
            rig.settle()
            rig.advance(10)
            rig.settle()
            kept.append([len(rig.machine(name).store) for name in ("H", "N")])
            waiting = max(waiting, len(rig.machine("H").logs["slow"].entries))
    most = backlog + 2 * grace_ms + 100  # a message per ms; what settles is looked at every now and then
    assert waiting == backlog and max(max(each) for each in kept[100:]) <= most
    assert max(kept[-1]) <= most, "and it is flat to the end"
    assert rig.delivered("d") == rig.delivered("e") == ids
    shed = [r.message for r in rig.rows("H", "discard") if r.reason == "overflow" and r.peer == "slow"]
    assert len(shed) == messages - backlog - (20 if how == "block" else 0) and rig.rows("N", "discard") == []
    had: list[str] = []
    if how == "away":
        back()
        rig.advance(30)
        rig.settle()
    else:
        while batch := taken(rig, "slow"):
            had += batch
            rig.advance(30)
            rig.settle()
        assert had[: 20 + WINDOW] == ids[: 20 + WINDOW], "what had come before its home shed it is not lost"
    report = judged(rig)
    assert rig.delivered("slow")[-backlog:] == ids[-backlog:] and rig.delivered("slow") == sorted(
        rig.delivered("slow"), key=ids.index
    )
    fates = report.fates_by_role["subscriber"]
    lost = messages - len(rig.delivered("slow"))
    assert fates == {**_none(), "delivered": 3 * messages - lost, "overflow": lost}
    assert (
        rig.machine("slow").behind() == messages
        and rig.machine("slow").application.frontier().marks["p@G1"] == messages
    )


def test_bytes_are_bounded_too() -> None:
    rig = home(clients="p@N slow@H", backlog_bytes=10_000, round_us=20 * MS)
    rig.lose("H", "slow")
    for _ in range(60):
        message, effects = rig.machine("p").publish(Publication(("G1",), b"x" * 744), rig.now_us)
        rig.records.note(rig.processes["p"], "publish", rig.now_us, message=message.id, groups=("G1",))
        rig._told(rig.processes["p"], effects)
        rig.settle()
    log = rig.machine("H").logs["slow"]
    assert len(log.entries) == 10 and log.bytes == 10_000 and log.low == 50


def test_what_was_on_its_way_when_its_home_let_go_of_it_overflows_where_it_comes() -> None:
    rig = home(clients="p@N slow@H", backlog=1, round_us=20 * MS)
    m1, m2 = rig.publish("p"), rig.publish("p")
    rig.spread(but=("slow",))
    rig.advance(25)
    rig.deliver("H", "slow", "top")
    rig.deliver("H", "slow", m1)
    assert rig.discarded("slow") == [(m1, "overflow")]
    rig.settle()
    assert rig.delivered("slow") == [m2]
    assert judged(rig).fates_by_role["subscriber"] == {**_none(), "delivered": 1, "overflow": 1}


# -- a later life --------------------------------------------------------------------------------------------------


def reborn(rig: Rig, old: str, name: str, at: str, saved: bytes | None, **how: Any) -> None:
    """A new process in the place of one that crashed, at the frontier that was saved."""
    before = rig.processes[old]
    process = rig.spawn(name, before.role, before.groups)
    rig.records.note(process, "restart", rig.now_us)
    rig.tell(without=old, also=process)
    if saved is not None:
        process.machine.application.resume(restore(saved))
    if how:
        opened(rig, name, **how)
    rig._told(process, process.machine.start(rig.now_us, joining=True))
    rig.subscribe(name, " ".join(process.groups), at)


def test_a_later_life_gets_what_its_frontier_does_not_cover_and_nothing_else() -> None:
    rig = home(clients="c@H d@N")
    opened(rig, "d")
    ids = [rig.publish("c") for _ in range(4)]
    rig.settle()
    assert taken(rig, "d", limit=2) == ids[:2]
    saved = save(rig.machine("d").application.frontier())
    assert taken(rig, "d", limit=1) == ids[2:3]
    rig.crash("d")
    reborn(rig, "d", "d.1", "H", saved)
    rig.settle()
    assert rig.delivered("d.1") == ids[2:]
    answer = rig.publish("d.1")
    rig.settle()
    assert rig.delivered("c") == [answer]
    judged(rig)


def test_where_its_new_home_lags_behind_the_frontier_it_is_not_sent_what_it_had() -> None:
    rig = home(clients="c@H d@N")
    m1 = rig.publish("c")
    rig.spread(but=("H",))  # to nobody but its own home
    rig.settle()
    found = rig.lose("H", "N")
    m2 = rig.publish("c")
    rig.spread()
    assert rig.delivered("d") == [m1]
    rig.move("d", "H")
    rig.settle()
    assert rig.delivered("d") == [m1, m2]
    saved = save(rig.machine("d").application.frontier())
    rig.crash("d")
    reborn(rig, "d", "d.1", "N", saved)
    rig.settle()
    found()
    m3 = rig.publish("c")
    rig.settle()
    assert rig.delivered("d.1") == [m3] and rig.delivered("N") == [m1, m2, m3]
    judged(rig)


# -- anything at any time ------------------------------------------------------------------------------------------


def drawn(seed: int) -> list[Row]:
    """Clients with all kinds of queues on a network that loses, that move, crash and come back at a saved frontier."""
    dice = Random(seed)
    deadlines = dice.random() < 0.6
    rig = Rig(
        "home",
        brokers={"H": "G1 G2", "N": "G1 G2", "K": "G1 G2"},
        subscribers={name: ("G1 G2", at) for name, at in (("a", "H"), ("b", "N"), ("c", "K"))},
        begin=False,
        round_us=40 * MS, retry_us=20 * MS, trip_us=5 * MS, grace_us=800 * MS, guard_us=8 * MS, hop_us=10 * MS,
        backlog=dice.choice((8, 30, 10_000)), deadlines=deadlines,
    )  # fmt: skip
    life = dict.fromkeys("abc", 0)
    names = {one: one for one in "abc"}
    queues: dict[str, list[str]] = {}
    saved: dict[str, tuple[bytes, int]] = {}
    handed: dict[str, list[str]] = {}

    def furnish(name: str) -> None:
        queues[name] = []
        kind = dice.randrange(4)
        wishes = {0: [], 1: ["G1 G2"], 2: ["G1", "G2"], 3: ["G1", "G1 G2"]}[kind]
        for number, filters in enumerate(wishes):
            queue = f"q{number}"
            opened(
                rig, name, queue, filters, size=dice.choice((1, 3, 50)), own=dice.random() < 0.3,
                policy=dice.choice(("drop_oldest", "drop_newest", "block")),
            )  # fmt: skip
            queues[name].append(queue)

    for process in rig.processes.values():
        rig._told(process, process.machine.view(rig.view, 0))
    for process in rig.processes.values():
        rig._told(process, process.machine.start(0))
    for name, at in zip("abc", "HNK", strict=True):
        furnish(name)
        rig.subscribe(name, "G1 G2", at)
    rig.settle()
    loss = dice.choice((0.0, 0.1, 0.3))

    def read(name: str) -> None:
        for queue in queues[name]:
            if dice.random() < 0.7:
                got = taken(rig, name, queue, limit=dice.choice((1, 2, 100)))
                handed.setdefault(f"{name}/{queue}", []).extend(got)

    for _ in range(120):
        who = dice.choice("abc")
        name, act = names[who], dice.random()
        if act < 0.4:
            within = dice.choice((None, 60, 200, 600)) if deadlines else None
            rig.publish(name, dice.choice(("G1", "G2", "G1 G2")), deadline_ms=within)
        elif act < 0.65:
            read(name)
        elif act < 0.7:
            rig.move(name, dice.choice("HNK"))
        elif act < 0.74:
            saved[who] = (save(rig.machine(name).application.frontier()), len(rig.delivered(name)))
        elif act < 0.78 and life[who] < 3:
            life[who] += 1
            rig.crash(name)
            names[who] = f"{who}.{life[who]}"
            kept = saved.pop(who, None)
            reborn(rig, name, names[who], dice.choice("HNK"), None if kept is None else kept[0])
            rig.processes[names[who]].groups = ("G1", "G2")
            furnish(names[who])
        else:
            for _ in range(dice.randrange(12)):
                if rig.flights:
                    at = dice.randrange(len(rig.flights)) if dice.random() < 0.3 else 0
                    flight = rig.flights.pop(at)
                    if dice.random() >= loss:
                        rig._arrive(flight)
            rig.advance(dice.choice((0.3, 2, 15)))
    for _ in range(60):
        for who in "abc":
            for queue in queues[names[who]]:
                handed.setdefault(f"{names[who]}/{queue}", []).extend(taken(rig, names[who], queue))
        while rig.flights:
            rig._arrive(rig.flights.pop(0))
        rig.advance(20)
    for who in "abc":
        queues[names[who]].clear()
        for queue in list(rig.machine(names[who]).application.handover.queues):
            rig._told(rig.processes[names[who]], rig.machine(names[who]).application.close(queue, rig.now_us))
    judged(rig)
    for got in handed.values():
        assert len(got) == len(set(got)), "an inbox is handed a message once"
    return [Row._make(row) for row in rig.records.rows]


@pytest.mark.parametrize("seed", range(25))
def test_queues_of_all_kinds_crashes_and_later_lives(seed: int) -> None:
    drawn(seed)


def test_every_fate_of_a_queue_is_told() -> None:
    rig = home(clients="c@H d@N")
    opened(rig, "d", size=1)
    rig.publish("c")
    rig.publish("c")
    fates = []
    while rig.flights:
        flight = rig.flights.pop(0)
        effects = rig.machine(flight.to).receive(flight.frame, flight.sender, rig.now_us)
        fates += [(e.queue, e.message, e.reason) for e in effects if isinstance(e, Dropped)]
        rig._told(rig.processes[flight.to], effects)
    assert fates == [("inbox", "c:1", "overflow")]
