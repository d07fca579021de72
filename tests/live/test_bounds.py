"""A subscriber that stops reading costs its home a bounded number of messages; the rest is `overflow`, for it alone."""

from __future__ import annotations

from dataclasses import replace

from antecede.core.order.numbered import WINDOW
from antecede.live.inbox import Fate
from antecede.live.testing import LocalCluster
from antecede.live.timing import SETTINGS

BACKLOG, BATCH = 400, 100
"""More than half a window and a batch: so much a client that reads may not have acknowledged yet."""


def test_what_a_blocked_reader_leaves_waiting_is_bounded_and_counted() -> None:
    total = 15 * BATCH

    fates: list[Fate] = []

    async def scenario(cluster: LocalCluster) -> None:
        async with (
            cluster.connect("pub", at="A") as pub,
            cluster.connect("idle", at="A", on_fate=fates.append) as idle,
            cluster.connect("other", at="B") as other,
            idle.subscribe("t", queue=10, overflow="block") as waiting,
            other.subscribe("t", queue=BATCH) as inbox,
        ):
            for start in range(0, total, BATCH):
                for n in range(start, start + BATCH):
                    pub.publish_nowait("t", b"%d" % n)
                await pub.flush()
                for n in range(start, start + BATCH):
                    assert (await inbox.get(1)).payload == b"%d" % n, "the other one waits for nobody"
            a, b = cluster.brokers["A"], cluster.brokers["B"]
            overflow = a.tally.fates["overflow"]
            assert b.tally.fates["overflow"] == 0
            assert len(a.machine.logs["idle"].entries) <= BACKLOG
            got = [int((await waiting.get(60)).payload)]
            while got[-1] < total - 1:
                got.append(int((await waiting.get(60)).payload))
            assert got == sorted(set(got)) and len(got) <= WINDOW + BACKLOG + 10
            missed = total - len(got)
            assert 0 < missed <= overflow <= missed + WINDOW + 10, "its home cannot know what of its window has come"
            assert waiting.fates() == {"delivered": len(got), "overflow": missed, "queued": 0}
            assert idle.fates() == {"overflow": missed} and sum(fate.messages for fate in fates) == missed
            assert {(fate.id, fate.fate) for fate in fates} == {("", "overflow")}
            await pub.publish("t", b"again")
            assert (await waiting.get(60)).payload == b"again"

    LocalCluster(brokers=2, settings=replace(SETTINGS, backlog=BACKLOG)).run(scenario)
