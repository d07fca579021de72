"""Clients and brokers on the loopback: what is published is delivered in order, also when a broker goes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from antecede.core.effects import Effect, Expelled
from antecede.core.frames import Frame
from antecede.errors import EnvironmentFault, InputError
from antecede.live import client as module
from antecede.live import connection
from antecede.live.broker import Broker
from antecede.live.client import Client, connect
from antecede.live.inbox import Fate, Inbox
from antecede.live.message import Message
from antecede.live.testing import LocalCluster
from antecede.trace.check import check

ANY = "127.0.0.1:0"


def test_a_question_its_answer_and_everything_a_message_says() -> None:
    async def main() -> None:
        async with (
            Broker(ANY, name="A") as broker,
            connect(broker.url, name="ann") as ann,
            connect(broker.url, name="bob") as bob,
            ann.subscribe("room/#") as hers,
            bob.subscribe("room/#", own=True) as his,
        ):
            question = await ann.publish("room/1", b"where?", within=30, headers={"lang": "en"})
            asked = await his.get(10)
            assert (asked.id, asked.topic, asked.payload, asked.sender) == (question, "room/1", b"where?", "ann")
            assert asked.headers == {"lang": "en"} and asked.deadline is not None and asked.sent_at is not None
            assert 29 < (asked.deadline - asked.sent_at).total_seconds() <= 30
            answer = await bob.publish("room/1", b"here", after=asked)
            told = await hers.get(10)
            assert told.id == answer == "bob:1" and told.causes == ("ann:1",)
            assert (await his.get(10)).id == answer  # its own, since it asked for them
            assert his.fates()["delivered"] == 2 and hers.fates()["delivered"] == 1

    asyncio.run(main())


def test_mistakes_get_one_sentence_at_the_call() -> None:
    async def main() -> None:
        async with Broker(ANY) as broker:
            async with connect(broker.url) as node:
                past = datetime.now(UTC) - timedelta(seconds=1)
                with pytest.raises(InputError, match="A payload is bytes"):
                    await node.publish("t", "text")  # type: ignore[arg-type]
                with pytest.raises(InputError, match="A topic is text"):
                    await node.publish(["t"], b"")  # type: ignore[arg-type]
                with pytest.raises(InputError, match="has passed"):
                    await node.publish("t", b"", deadline=past)
                with pytest.raises(InputError, match="too large"):
                    await node.publish("t", bytes(100_000))
                with pytest.raises(InputError, match="order"):
                    await node.publish("t", b"", order="total")
                with pytest.raises(InputError, match="overflow is one of"):
                    node.subscribe("t", overflow="forget")
                with pytest.raises(InputError, match="at least one"):
                    node.subscribe("t", queue=0)
                with pytest.raises(InputError, match="what to subscribe to"):
                    node.subscribe()
                with pytest.raises(InputError, match="reply takes the message that asks, not 5"):
                    await node.reply(5, b"")  # type: ignore[arg-type]
                with pytest.raises(InputError, match="after= takes a message"):
                    await node.publish("t", b"", after=3)  # type: ignore[arg-type]
                before = node.subscribe("t")
            with pytest.raises(InputError, match="is closed"):
                await node.publish("t", b"")
            with pytest.raises(InputError, match="is closed"):
                node.subscribe("t")
            with pytest.raises(InputError, match="is closed"):
                await before.__aenter__()
        for name in ("10.0.0.1", "", 5):
            with pytest.raises(InputError, match="cannot be called"):
                connect(name=name)  # type: ignore[arg-type]

    asyncio.run(main())


def test_nobody_there_is_said_with_a_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_S", 0.3)

    async def main() -> None:
        async with Broker(ANY) as broker:
            gone = broker.url
        with pytest.raises(EnvironmentFault, match="antecede broker"):
            async with connect(gone):
                pass

    asyncio.run(main())


def test_a_port_where_something_else_listens_is_not_called_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """An http server waits for a whole request, and so says nothing to who greets it otherwise."""
    monkeypatch.setattr("antecede.live.link.ANSWER_S", 0.2)
    monkeypatch.setattr("antecede.live.connection.FIRST_S", 0.5)

    async def main() -> None:
        async with Broker(ANY, http=0) as broker:
            place = f"127.0.0.1:{broker.pages.address[1]}"
            with pytest.raises(
                EnvironmentFault, match=rf"What listens at {place} does not answer .* --http and --mqtt"
            ):
                await connect(place).open()

    asyncio.run(main())


def test_many_at_once_are_flushed_and_an_outbox_that_is_full_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OUTBOX", 50)

    async def main() -> None:
        async with (
            Broker(ANY) as broker,
            connect(broker.url) as node,
            connect(broker.url) as other,
            other.subscribe("t") as inbox,
        ):
            for n in range(50):
                node.publish_nowait("t", b"%d" % n)
            with pytest.raises(EnvironmentFault, match="not safe yet"):
                node.publish_nowait("t", b"one too many")
            await node.publish("t", b"50")  # waits for room
            await node.flush(10)
            assert node.pending == 0
            assert [(await inbox.get(10)).payload for _ in range(51)] == [b"%d" % n for n in range(51)]

    asyncio.run(main())


def test_flush_says_what_may_be_lost_when_another_client_takes_the_name() -> None:
    async def main() -> None:
        async with (
            Broker(ANY) as broker,
            connect(broker.url, name="ann") as first,
            connect(broker.url, name="ann"),
        ):
            for _ in range(2):
                first.publish_nowait("t", b"")
            with pytest.raises(EnvironmentFault, match="2 messages of ann may be lost"):
                await first.flush(20)
            await first.flush(20)  # told once

    asyncio.run(main())


def test_a_full_queue_drops_as_it_was_told_and_says_so() -> None:
    async def main() -> None:
        fates: list[Fate] = []
        async with (
            Broker(ANY) as broker,
            connect(broker.url, name="ann") as ann,
            connect(broker.url, on_fate=fates.append) as bob,
            bob.subscribe("old", queue=2) as oldest,
            bob.subscribe("new", queue=2, overflow="drop_newest") as newest,
            bob.subscribe("end") as end,
        ):
            for n in range(5):
                await ann.publish("old", b"%d" % n)
            for n in range(5):
                await ann.publish("new", b"%d" % n)
            await ann.publish("end", b"", after=[])
            await end.get(10)
            assert [(await oldest.get(1)).payload for _ in range(2)] == [b"3", b"4"]
            assert [(await newest.get(1)).payload for _ in range(2)] == [b"0", b"1"]
            assert oldest.fates()["overflow"] == newest.fates()["overflow"] == 3
            assert {fate.id for fate in fates} == {f"ann:{n}" for n in (1, 2, 3, 8, 9, 10)}
            assert {fate.fate for fate in fates} == {"overflow"} and bob.fates() == {"overflow": 6}

    asyncio.run(main())


def test_a_broker_that_stops_hands_its_clients_over_and_the_records_are_clean(tmp_path: Path) -> None:
    async def main() -> None:
        states: list[tuple[str, str]] = []
        first = Broker(ANY, name="A", records=str(tmp_path))
        await first.start()
        async with (
            Broker(ANY, name="B", join=[first.url], records=str(tmp_path)) as second,
            connect(first.url, name="ann", records=str(tmp_path), on_state=lambda *state: states.append(state)) as ann,
            connect(second.url, name="bob", records=str(tmp_path)) as bob,
            ann.subscribe("room/#") as hers,
            bob.subscribe("room/#") as his,
        ):
            for n in range(20):
                await ann.publish("room/1", b"%d" % n)
            await first.stop()
            for n in range(20, 40):
                await ann.publish("room/1", b"%d" % n)
            assert [(await his.get(10)).payload for _ in range(40)] == [b"%d" % n for n in range(40)]
            await bob.publish("room/1", b"all here")
            assert (await hers.get(10)).payload == b"all here"
            assert ann.home == "B" and ("away", "A") in states and states[-1] == ("connected", "B")

    asyncio.run(main())
    report = check(tmp_path)
    assert report.findings == [] and report.clean
    assert report.fates_by_role["subscriber"]["delivered"] == 41


def test_a_name_that_comes_back_is_the_next_incarnation() -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as broker:
            async with connect(broker.url, name="ann") as ann:
                assert ann.name == "ann"
                await ann.publish("t", b"")
            async with connect(broker.url, name="ann") as ann:
                assert ann.name == "ann.1"
                assert await ann.publish("t", b"") == "ann.1:1"

    asyncio.run(main())


@pytest.mark.parametrize(("first", "second", "loss"), [("A", "B", 0.0), ("B", "A", 0.0), ("A", "C", 0.2)])
def test_of_two_clients_of_one_name_at_two_brokers_the_one_that_began_first_is_closed(
    first: str, second: str, loss: float
) -> None:
    """Each is ann until the brokers have told each other: what they published then has the same ids."""

    async def scenario(cluster: LocalCluster) -> list[str]:
        states: list[str] = []
        async with (
            cluster.connect("bob") as bob,
            bob.subscribe("t") as inbox,
            cluster.connect("ann", at=first, on_state=lambda state, _: states.append(state)) as early,
            cluster.connect("ann", at=second) as late,
        ):
            assert [await early.publish("t", b"early"), await late.publish("t", b"late")] == ["ann:1", "ann:1"]
            async with asyncio.timeout(20):
                while not early.closed or late.name == "ann":
                    await asyncio.sleep(0.1)
            with pytest.raises(InputError, match=r"closed: Two clients were called ann at once: .* may be lost\. Give"):
                await early.publish("t", b"never")
            assert states[-1] == "closed" and late.name == "ann.1" and not late.closed
            await late.publish("t", b"after")
            ids = [(await inbox.get(10)).id]
            while ids[-1] != "ann.1:1":
                ids.append((await inbox.get(10)).id)
            return ids

    assert LocalCluster(brokers=3, loss=loss, seed=5).run(scenario) == ["ann:1", "ann.1:1"]


def test_a_client_that_moves_or_comes_back_is_no_other_of_its_name() -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        names = []
        async with cluster.connect("ann", at="A") as ann, ann.subscribe("t"):
            for home in "ABC":
                assert ann.home == home
                await ann.publish("t", b"")
                names.append(ann.name)
                if home != "C":
                    ann.node.move((chr(ord(home) + 1),))
                    await asyncio.sleep(5)
        for _ in range(2):
            async with cluster.connect("ann", at="C") as ann:
                await ann.publish("t", b"")
                names.append(ann.name)
                await asyncio.sleep(5)
                assert not ann.closed
        return names

    assert LocalCluster(brokers=3, loss=0.1, seed=3).run(scenario) == ["ann", "ann", "ann", "ann.1", "ann.2"]


def test_drain_takes_no_more_in_but_hands_out_what_is_queued() -> None:
    async def main() -> None:
        async with (
            Broker(ANY) as broker,
            connect(broker.url) as ann,
            connect(broker.url) as bob,
            bob.subscribe("t") as inbox,
            bob.subscribe("end") as end,
        ):
            await ann.publish("t", b"1")
            await ann.publish("end", b"")
            await end.get(10)
            await bob.drain(5)
            assert [message.payload async for message in inbox] == [b"1"]
            with pytest.raises(InputError, match="closed"):
                await inbox.get(1)

    asyncio.run(main())


def test_a_request_is_answered_by_an_ordinary_message() -> None:
    async def main() -> None:
        async with (
            Broker(ANY) as broker,
            connect(broker.url, name="ann") as ann,
            connect(broker.url, name="bob") as bob,
            bob.subscribe("sum") as inbox,
        ):

            async def serve() -> None:
                async for message in inbox:
                    await bob.reply(message, b"%d" % sum(map(int, message.payload.split(b"+"))))

            serving = asyncio.create_task(serve())
            answers = await asyncio.gather(*(ann.request("sum", b"1+%d" % n, within=20) for n in range(5)))
            assert [answer.payload for answer in answers] == [b"%d" % (n + 1) for n in range(5)]
            assert all(answer.sender == "bob" for answer in answers)
            with pytest.raises(TimeoutError, match=r"No reply came within 0.05 s to what was asked on nobody/listens."):
                await ann.request("nobody/listens", b"", within=0.05)
            with pytest.raises(InputError, match="within= is a number of seconds"):
                await ann.request("sum", b"", within="1s")  # type: ignore[arg-type]
            with pytest.raises(InputError, match="asks for no reply"):
                await bob.reply(answers[0], b"")
            serving.cancel()

    asyncio.run(main())


def test_what_is_queued_when_a_client_drains_keeps_its_deadline_and_is_delivered_when_it_is_taken(
    tmp_path: Path,
) -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        told = []
        async with cluster.connect("ann") as ann:
            async with cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
                await ann.publish("t", b"in time")
                await ann.publish("t", b"too late", within=5)
                await ann.publish("t", b"left over")
                await asyncio.sleep(1)
                await bob.drain()
                frontier = inbox.frontier
                await ann.publish("t", b"after that")
                told.append((await inbox.get(1)).text)
                await asyncio.sleep(10)
                assert inbox.fates() == {"delivered": 1, "late": 1, "queued": 1}
                assert frontier != inbox.frontier
                frontier = inbox.frontier
            async with cluster.connect("bob") as bob, bob.subscribe("t", since=frontier) as inbox:
                told += [(await inbox.get(30)).text for _ in range(2)]
                await bob.drain()
                with pytest.raises(InputError, match="closed"):
                    await inbox.get(1)
        return told

    cluster = LocalCluster(brokers=2, records=str(tmp_path))
    assert cluster.run(scenario) == ["in time", "left over", "after that"]
    assert check(tmp_path).findings == []


def test_a_drained_client_that_was_taken_for_dead_ends_its_inboxes_and_gets_the_rest_in_another() -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
            for n in range(3):
                await ann.publish("t", b"%d" % n)
            told = [(await inbox.get(10)).text]
            await bob.drain()
            bob._heard(Expelled("A"))
            await asyncio.sleep(30)
            assert [message async for message in inbox] == [] and bob.name == "bob.1"
            async with bob.subscribe("t") as again:
                await ann.publish("t", b"3")
                told += [(await again.get(10)).text for _ in range(3)]
            return told

    assert LocalCluster(brokers=2).run(scenario) == ["0", "1", "2", "3"]


async def echo(node: Client, inbox: Inbox) -> None:
    async for message in inbox:
        await node.reply(message, message.payload)


def test_a_client_that_began_again_or_drained_still_gets_replies() -> None:
    async def scenario(cluster: LocalCluster) -> list[str]:
        async with cluster.connect("ann") as ann, cluster.connect("bob") as bob, bob.subscribe("echo") as inbox:
            serving = asyncio.create_task(echo(bob, inbox))

            async def ask(text: bytes) -> Message:
                return await ann.request("echo", text, within=20)

            told = await asyncio.gather(ask(b"1"), ask(b"2"))
            assert len(ann._inboxes) == 1
            ann._heard(Expelled("A"))
            await asyncio.sleep(0)
            told.append(await ask(b"3"))
            await ann.drain()
            told.append(await ask(b"4"))
            serving.cancel()
            assert ann.name == "ann.1"
            return [message.text for message in told]

    assert LocalCluster(brokers=2).run(scenario) == ["1", "2", "3", "4"]


def test_after_a_restart_a_client_goes_on_from_its_frontier() -> None:
    async def main() -> None:
        async with Broker(ANY, name="A") as broker, connect(broker.url, name="ann") as ann:
            async with connect(broker.url, name="bob") as bob, bob.subscribe("t") as inbox:
                for n in range(6):
                    await ann.publish("t", b"%d" % n)
                assert [(await inbox.get(10)).payload for _ in range(3)] == [b"0", b"1", b"2"]
                frontier = inbox.frontier
                assert len(frontier) < 100
            async with connect(broker.url, name="bob") as again:
                async with again.subscribe("t", since=frontier) as inbox:
                    assert again.name == "bob.1"
                    assert [(await inbox.get(10)).payload for _ in range(3)] == [b"3", b"4", b"5"]
                with pytest.raises(
                    InputError, match=r"begun already: the first inbox resumes .* Give that one all filters"
                ):
                    async with again.subscribe("u", since=frontier):
                        pass
                for bad in (b"nonsense", "text"):
                    with pytest.raises(InputError, match="since="):
                        async with again.subscribe("t", since=bad):  # type: ignore[arg-type]
                            pass

    asyncio.run(main())


def test_what_expired_while_a_client_was_away_is_not_owed(tmp_path: Path) -> None:
    """As docs/live.md says: it is in no fates, and `check` counts no pair of it."""
    fates: list[Fate] = []

    async def scenario(cluster: LocalCluster) -> tuple[list[str], dict[str, int]]:
        async with cluster.connect("ann") as ann:
            async with cluster.connect("bob") as bob, bob.subscribe("t") as inbox:
                await ann.publish("t", b"")
                await inbox.get(5)
                saved = inbox.frontier
            await ann.publish("t", b"", within=1)
            await ann.publish("t", b"")
            await asyncio.sleep(5)
            async with (
                cluster.connect("bob", on_fate=fates.append) as bob,
                bob.subscribe("t", since=saved) as inbox,
            ):
                ids = [(await inbox.get(5)).id]
                await asyncio.sleep(5)
                return ids, inbox.fates()

    found = LocalCluster(brokers=2, records=str(tmp_path)).run(scenario)
    assert found == (["ann:3"], {"delivered": 1, "queued": 0}) and fates == []
    report = check(tmp_path)
    assert report.clean and report.fates_by_role["subscriber"]["expired"] == 0


def test_a_client_goes_where_its_filters_are_carried_and_what_nobody_carries_is_refused() -> None:
    async def main() -> None:
        table = {"left/#": ["A"], "right/#": ["B"]}
        async with (
            Broker(ANY, name="A", table=table) as a,
            Broker(ANY, name="B", table=table, join=[a.url]) as b,
            connect(a.url, name="ann") as ann,
            connect(b.url, name="bob") as bob,
        ):
            async with ann.subscribe("right/+") as inbox:
                assert ann.home == "B"
                await bob.publish("right/1", b"over here")
                assert (await inbox.get(10)).payload == b"over here"
                with pytest.raises(InputError, match="No broker carries all"):
                    async with ann.subscribe("left/+"):
                        pass
                with pytest.raises(InputError, match="No entry of the cluster's table covers"):
                    async with ann.subscribe("#"):
                        pass
            with pytest.raises(InputError, match="No entry of the cluster's table matches"):
                await ann.publish("middle", b"")
            with pytest.raises(InputError, match="one table"):
                await Broker(ANY, name="C", join=[a.url]).start()

    asyncio.run(main())


def test_what_a_message_was_delivered_without_is_said() -> None:
    fates: list[Fate] = []

    async def scenario(cluster: LocalCluster) -> list[tuple[str, tuple[str, ...]]]:
        async with (
            cluster.connect("ann", at="A") as ann,
            cluster.connect("eve", at="A") as eve,
            cluster.connect("bob", at="B", on_fate=fates.append) as bob,
            eve.subscribe("room/1") as hers,
            bob.subscribe("room/#") as his,
            bob.subscribe("room/1") as part,
        ):
            machine = cluster.brokers["B"].node.machine
            receive = machine.receive

            def without_first(frame: Frame, sender: str, now_us: int) -> list[Effect]:
                return [] if any(one.id == "ann:1" for one in frame.messages()) else receive(frame, sender, now_us)

            machine.receive = without_first  # type: ignore[method-assign]
            ann.publish_nowait("room/1", b"where?")
            eve.publish_nowait("room/1", b"here", within=0.5, after=await hers.get(10))
            answer, again = await his.get(10), await part.get(10)
            assert again.missing == answer.missing == ("ann:1",) and "missing=('ann:1',)" in repr(answer)
            machine.receive = receive  # type: ignore[method-assign]
            await eve.publish("room/1", b"well?")
            return [(message.id, message.missing) for message in (answer, await his.get(60))]

    told = LocalCluster(brokers=2, table={"room/#": []}).run(scenario)
    assert told == [("eve:1", ("ann:1",)), ("eve:2", ())]
    assert fates[0] == Fate("eve:1", "delivered", ("ann:1",)) and fates[0].blocked_by == ("ann",)
