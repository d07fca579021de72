"""The client without await: the same messages, from plain threads."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator

import pytest

from antecede.core.fold.spec import fuse
from antecede.errors import EnvironmentFault, InputError
from antecede.live import connection
from antecede.live.blocking import connect_blocking
from antecede.live.broker import Broker


@pytest.fixture
def broker() -> Iterator[Broker]:
    """One in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    broker = Broker("127.0.0.1:0", name="A")
    asyncio.run_coroutine_threadsafe(broker.start(), loop).result(10)
    yield broker
    asyncio.run_coroutine_threadsafe(broker.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_published_and_taken_without_await(broker: Broker) -> None:
    with (
        connect_blocking(broker.url, name="ann") as ann,
        connect_blocking(broker.url, name="bob") as bob,
        bob.subscribe("t") as inbox,
    ):
        assert ann.publish("t", b"1", within=30) == "ann:1"
        message = inbox.get(10)
        assert message.payload == b"1"
        threads = [threading.Thread(target=ann.publish, args=("t", b"%d" % n)) for n in range(5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ann.flush(10)
        taken = []
        for message in inbox:
            taken.append(message.payload)
            if len(taken) == 5:
                break
        assert sorted(taken) == [b"%d" % n for n in range(5)] and inbox.fates()["delivered"] == 6
        assert isinstance(inbox.frontier, bytes)
    with pytest.raises(InputError, match="closed"):
        ann.publish("t", b"")


def test_an_inbox_that_is_closed_ends_the_loop(broker: Broker) -> None:
    with connect_blocking(broker.url) as node:
        inbox = node.subscribe("t")
        with inbox:
            pass
        assert list(inbox) == []
        with pytest.raises(TimeoutError):
            node.request("nobody", b"", within=0.05)


def test_nobody_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_S", 0.2)
    with pytest.raises(EnvironmentFault, match="No broker answers"), connect_blocking("127.0.0.1:9"):
        pass
    with pytest.raises(InputError, match="in `with`"):
        connect_blocking().flush()


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C is heeded, also where a shell started the tests beside others (`&`): it has them ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_a_call_that_ctrl_c_interrupts_takes_no_message(broker: Broker, heeded: None) -> None:
    with connect_blocking(broker.url) as ann, connect_blocking(broker.url) as bob, bob.subscribe("t") as inbox:
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        with pytest.raises(KeyboardInterrupt):
            inbox.get(20)
        ann.publish("t", b"1")
        ann.publish_nowait("t", b"2")
        ann.flush(10)
        assert [inbox.get(10).payload for _ in range(2)] == [b"1", b"2"]


def test_all_that_a_client_has_is_there_without_await(broker: Broker) -> None:
    with connect_blocking(broker.url, name="ann") as ann, connect_blocking(broker.url, name="bob") as bob:
        inbox = bob.subscribe("t", queue=2)
        for early in (lambda: inbox.get(1), lambda: next(iter(inbox))):
            with pytest.raises(InputError, match=r"inside `with node.subscribe.* or between inbox.open"):
                early()
        assert inbox.open() is inbox.open()
        with bob.subscribe("v", fuse=fuse(values=["temp"], every=2)) as results:
            for n in range(2):
                ann.publish("v", b"", headers={"temp": 10 * n})
            assert results.get(10).results[0]["temp_mean"] == 10
            with pytest.raises(InputError, match="fuse= goes with"):
                bob.subscribe("v", own=True, fuse=fuse(values=["temp"], every=2))
        for n in range(4):
            ann.publish("t", b"%d" % n)
        end = bob.subscribe("end").open()
        ann.publish("end", b"", after=[])
        end.get(10)
        assert len(inbox) == 2 and bool(end) and inbox.get(10).payload == b"2"
        assert (ann.pending, bob.home, bob.state, bob.fates()) == (0, "A", "connected", {"overflow": 2})
        bob.drain(10)
        assert [message.payload for message in inbox] == [b"3"]
        inbox.close()
    assert bob.state == "closed" and inbox.fates()["delivered"] == 2
    inbox.close()


def test_opened_and_closed_without_with(broker: Broker) -> None:
    node = connect_blocking(broker.url, name="ann")
    assert repr(node) == "<a blocking node that is not open>"
    assert node.open() is node.open() and repr(node) == "<blocking node ann, connected>"
    with node.subscribe("t", "u/#", own=True) as inbox:
        assert repr(inbox) == "<inbox of ann: t, u/#>"
        node.publish("u/1", b"1")
        assert inbox.get(10).payload == b"1"
    node.close()
    assert repr(node) == "<blocking node ann, closed>"
    node.close()
