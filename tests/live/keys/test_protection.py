"""Brokers with keys from end to end: who has them works as ever, who has not is refused, counted and told why."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.live import connection
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.keys import store
from antecede.live.keys.rights import EXPIRED, MISSING, REVOKED, WRONG
from antecede.live.status import status_of
from tests.live.cluster import until
from tests.live.keys.keyed import Keyed


@pytest.fixture
def keyed(tmp_path: Path) -> Keyed:
    return Keyed(tmp_path / "keys")


def test_two_brokers_and_two_clients_over_tls_and_sealed_datagrams(keyed: Keyed) -> None:
    async def main() -> None:
        async with keyed.broker("A") as a, keyed.broker("B", join=[a.url]) as b:
            assert a.url.startswith("antecedes://") and await until(lambda: len(a.machine.all_brokers) == 1)
            async with (
                keyed.client(a, name="ann") as ann,
                keyed.client(b, name="bob") as bob,
                bob.subscribe("room/#") as inbox,
                ann.subscribe("room/#") as back,
            ):
                for n in range(200):
                    await ann.publish("room/1", b"%d" % n)
                assert [(await inbox.get(10)).payload for _ in range(200)] == [b"%d" % n for n in range(200)]
                await bob.publish("room/1", bytes(40_000), within=5)
                assert len((await back.get(10)).payload) == 40_000
            assert not status_of(a)["refusals"] and not status_of(b)["refusals"]
            assert a.hub.counts.refused == b.hub.counts.refused == 0 and a.hub.counts.received > 20

    asyncio.run(main())


def test_whoever_has_no_token_or_a_wrong_expired_or_revoked_one_is_told_so(
    keyed: Keyed, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = Keyed(tmp_path / "other")
    revoked = keyed.token("eve")
    store.revoke(keyed.directory, "eve", time_now())
    shown = {
        MISSING: ("", "asks for a token"),
        WRONG: (other.token("bob"), "not made for this cluster"),
        EXPIRED: (keyed.token("bob", seconds=-1), "expired at"),
        REVOKED: (revoked, "was revoked"),
    }

    async def main() -> None:
        async with keyed.broker("A") as broker, keyed.client(broker, name="ann") as ann, ann.subscribe("t") as inbox:
            for token, words in shown.values():
                began_s = time.monotonic()
                with pytest.raises(EnvironmentFault, match=words):
                    async with keyed.client(broker, token):
                        pass
                assert time.monotonic() - began_s < 4, "a refusal is not waited for"
            with pytest.raises(EnvironmentFault, match="for clients called ann or ann-something, not 'bob'"):
                async with keyed.client(broker, keyed.token("ann"), name="bob"):
                    pass
            assert status_of(broker)["refusals"] == {**dict.fromkeys(shown, 1), "wrong name": 1}
            async with keyed.client(broker, name="bob") as bob:
                await bob.publish("t", b"still")
                assert (await inbox.get(5)).payload == b"still"

    with caplog.at_level(logging.DEBUG, "antecede"):
        asyncio.run(main())
    for token, _ in shown.values():
        assert not token or token.rpartition(".")[2] not in caplog.text


def time_now() -> datetime:
    return datetime.now(UTC)


def test_who_calls_with_keys_where_there_are_none_or_without_is_told_what_to_write(
    keyed: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FIRST_S", 0.5)

    async def main() -> None:
        async with keyed.broker("A") as locked, Broker("127.0.0.1:0", name="B", http=0, mqtt=0) as open_:
            plain, secure = locked.url.partition("//")[2], open_.url.replace("antecede:", "antecedes:")
            with pytest.raises(EnvironmentFault, match=rf"with keys write antecedes://{plain}, and a token"):
                async with connect(plain):
                    pass
            with pytest.raises(EnvironmentFault, match=rf"without keys write {open_.url.partition('//')[2]};"):
                async with connect(secure, tls=keyed.ca, token=keyed.token()):
                    pass
            assert open_.door is not None and open_.door.address is not None
            with pytest.raises(EnvironmentFault, match="--mqtt ports are for others"):
                async with connect(f"127.0.0.1:{open_.door.address[1]}"):
                    pass

    asyncio.run(main())


def test_rights_are_kept_by_clients_and_enforced_at_brokers(keyed: Keyed) -> None:
    async def main() -> None:
        async with keyed.broker("A") as broker:
            token = keyed.token("ann", ("room/#",), ("room/+",))
            async with keyed.client(broker, token, name="ann") as ann:
                with pytest.raises(InputError, match=r"publish to 'hall': it may to room/#"):
                    await ann.publish("hall", b"x")
                with pytest.raises(InputError, match=r"subscribe to '#': it may to room/\+"):
                    async with ann.subscribe("#"):
                        pass
                async with ann.subscribe("room/+", own=True) as inbox:
                    await ann.publish("room/1", b"x")
                    assert (await inbox.get(5)).payload == b"x"
                    ann.rights = None  # as a client would that does not care
                    with pytest.raises(EnvironmentFault, match="publish to 'hall'"):
                        await ann.publish("hall", b"x")
                    with pytest.raises(EnvironmentFault, match="publish to 'hall'"):
                        await inbox.get(5)
            async with keyed.client(broker, token, name="ann") as ann:
                ann.rights = None
                with pytest.raises(EnvironmentFault, match="subscribe to '#'"):
                    async with ann.subscribe("#"):
                        await asyncio.sleep(5)
            assert status_of(broker)["refusals"] == {"topic without right": 1, "filter without right": 1}

    asyncio.run(main())


def test_requests_and_replies_need_no_right_of_their_own(keyed: Keyed) -> None:
    async def main() -> None:
        async with keyed.broker("A") as broker:
            asking, answering = keyed.token("ann", ("q",), ()), keyed.token("bob", ("unused",), ("q",))
            async with (
                keyed.client(broker, asking) as ann,
                keyed.client(broker, answering) as bob,
                bob.subscribe("q") as inbox,
            ):
                question = asyncio.ensure_future(ann.request("q", b"?", within=10))
                await bob.reply(await inbox.get(5), b"!")
                assert (await question).payload == b"!" and ann.name.startswith("ann-")

    asyncio.run(main())


def test_a_token_that_is_revoked_or_expires_ends_its_connections_and_may_be_renewed(
    keyed: Keyed, tmp_path: Path
) -> None:
    file = tmp_path / "token"

    async def main() -> None:
        async with keyed.broker("A") as broker:
            file.write_text(keyed.token("ann") + "\n")
            async with (
                connect(broker.url, tls=keyed.ca, token=file, name="ann") as ann,
                keyed.client(broker, name="bob") as bob,
                bob.subscribe("#") as inbox,
            ):
                file.write_text(keyed.token("ann"))
                first = broker.hub.sessions["ann"].bearer
                assert first is not None
                store.revoke(keyed.directory, first.rights.id, time_now())
                os.utime(keyed.directory / "revoked.json")
                assert await until(lambda: _id(broker, "ann") not in (None, first.rights.id), 10)
                await ann.publish("t", b"renewed")
                assert (await inbox.get(5)).payload == b"renewed"
                store.revoke(keyed.directory, "bob", time_now())
                with pytest.raises(EnvironmentFault, match="was revoked"):
                    await inbox.get(10)
            assert status_of(broker)["refusals"][REVOKED] >= 2

    asyncio.run(main())


def _id(broker: Broker, name: str) -> str | None:
    session = broker.hub.sessions.get(name)
    return None if session is None or session.bearer is None else session.bearer.rights.id


def test_a_broker_of_another_cluster_is_refused(keyed: Keyed, tmp_path: Path) -> None:
    async def main() -> None:
        other = Keyed(tmp_path / "other")
        (other.directory / "ca.pem").write_bytes(keyed.ca.read_bytes())  # it would trust, and is not trusted
        async with keyed.broker("A") as a:
            with pytest.raises(InputError, match="its cluster's keys"):
                await other.broker("B", join=[a.url]).start()
            assert status_of(a)["refusals"] == {WRONG: 1}

    asyncio.run(main())


def test_secrets_are_rotated_under_traffic_and_nothing_is_refused(keyed: Keyed) -> None:
    async def main() -> None:
        async with keyed.broker("A") as a, keyed.broker("B", join=[a.url]) as b:
            async with keyed.client(a) as ann, keyed.client(b) as bob, bob.subscribe("t") as inbox:
                before = a.protection and a.protection.keys.ring.current(time.time()).id
                store.rotate(keyed.directory, int(time.time()) + 1, time_now())
                for n in range(40):
                    await ann.publish("t", b"%d" % n)
                    await asyncio.sleep(0.05)
                assert [(await inbox.get(10)).payload for _ in range(40)] == [b"%d" % n for n in range(40)]
                assert a.protection and a.protection.keys.ring.current(time.time()).id != before
            assert not status_of(a)["refusals"] and not status_of(b)["refusals"]

    asyncio.run(main())


def test_a_broker_that_crashes_and_comes_back_is_believed_again_and_clients_move_with_their_tokens(
    keyed: Keyed, tmp_path: Path
) -> None:
    async def main() -> None:
        async with keyed.broker("B") as b:
            a = keyed.broker("A", join=[b.url])
            await a.start()
            async with (
                keyed.client(a, name="ann") as ann,
                keyed.client(b, name="bob") as bob,
                bob.subscribe("t") as inbox,
            ):
                await ann.publish("t", b"1")
                a.crash()
                await ann.publish("t", b"2")  # by way of B
                again = Broker(f"127.0.0.1:{a.address[1]}", name="A", keys=keyed.directory, join=[b.url])
                async with again, keyed.client(again, name="carol") as carol:
                    assert again.name == "A.1"
                    await carol.publish("t", b"3")
                    assert [(await inbox.get(20)).payload for _ in range(3)] == [b"1", b"2", b"3"]
                    assert not status_of(again)["refusals"] and not status_of(b)["refusals"]

    asyncio.run(main())
