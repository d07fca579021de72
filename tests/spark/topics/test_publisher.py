"""The publisher of a query: what it names as causes, and that a kill publishes nothing twice."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from antecede.core.home.frontier import Frontier
from antecede.errors import EnvironmentFault, InputError
from antecede.live.client import connect
from antecede.spark.topics import publisher as module
from antecede.spark.topics.feed import Feed
from antecede.spark.topics.outbox import Outbox, as_messages, packed
from antecede.spark.topics.places import Places
from antecede.spark.topics.publisher import is_alive, is_running, marks_of, publish_batch, publish_here
from antecede.spark.topics.spool import Spool
from tests.live.keys.keyed import Keyed
from tests.spark.topics.brokers import brokers, until


@pytest.fixture(autouse=True)
def publishers_are_ended() -> Iterator[None]:
    yield
    while module.STARTED:
        process = module.STARTED.pop()
        process.kill()
        process.wait()


def outbox_of(root: Path, **columns: Any) -> Outbox:
    outbox = Outbox(root)
    outbox.begin("sums", "q")
    outbox.put(0, [packed(as_messages(pa.table(columns), "out"))])
    return outbox


def test_a_row_follows_what_it_names_as_far_as_the_reader_knows() -> None:
    one = Frontier("spark", {"ann@0": 5, "bob@0": 2})
    assert marks_of(["ann:3", "bob:2", "ann:4", "bob~:7"], one) == {"ann@0": 4, "bob@0": 2}
    several = Frontier("spark", {"ann@0": 5, "ann@1": 4})
    assert marks_of(["ann:3"], several) == {"ann@0": 5, "ann@1": 4}  # nobody knows which of 1 and 2 went where
    for unknown in ("ann:6", "eve:1"):
        with pytest.raises(InputError, match=f"comes after {unknown}, which the stream in read_spool has not read"):
            marks_of([unknown], one)


def test_rows_are_published_after_their_causes(tmp_path: Path) -> None:
    with brokers("A") as there, there.connect("ann") as ann, there.connect("bob") as bob:
        places = Places((there.urls,))
        feed = Feed(Spool(tmp_path / "spool"), places, ("t/#",), None, 100)
        feed.start(None)
        for n in range(3):
            ann.publish("t/1", b"%d" % n)
        until(lambda: feed.row == 3)
        feed.stop()
        now_us = ann.client.clock.now_us()
        outbox = outbox_of(
            tmp_path / "outbox", payload=["two", "over", "free", "all"], after=[["ann:2"], [], [], ["ann:3"]],
            deadline_us=[now_us + 60_000_000, now_us - 1, None, None],
        )  # fmt: skip
        with bob.subscribe("out") as inbox:
            publish_here(outbox, places, str(tmp_path / "spool"))
            got = [inbox.get(5) for _ in range(3)]
        assert [message.text for message in got] == ["two", "free", "all"]
        assert [message.causes for message in got] == [("ann:2",), ("ann:2", "sums:1"), ("ann:3", "sums:2")]
        assert got[0].deadline_us is not None and abs(got[0].deadline_us - now_us - 60_000_000) < 100_000
        journal = outbox.journal()
        assert (journal.done, journal.rows, journal.expired, journal.doing) == (0, 3, 1, None)
        late = outbox_of(tmp_path / "other", payload=["x"], after=[["ann:2"]])
        with pytest.raises(InputError, match="say in option read_spool"):
            publish_here(late, places, None)


def test_with_a_token_reader_and_publisher_have_names_that_it_allows(tmp_path: Path) -> None:
    keyed, file = Keyed(tmp_path / "keys"), tmp_path / "token"
    file.write_text(keyed.token("meter", subscribe=("t/#",), publish=("#",)))
    with brokers() as there:
        there.start("A", keys=keyed.directory)
        places = Places((there.urls,), ca=str(keyed.ca), token_file=str(file))
        bob = connect(there.urls, name="bob", tls=keyed.ca, token=keyed.token("bob"))
        there.run(bob.open())
        inbox = bob.subscribe("out")
        there.run(bob.open_inbox(inbox))
        feed = Feed(Spool(tmp_path / "spool"), places, ("t/#",), None, 100)
        feed.start(None)
        there.run(bob.publish("t/1", b"x"))
        until(lambda: feed.row == 1)
        feed.stop()
        outbox = Outbox(tmp_path / "outbox")
        assert outbox.begin(None, "q", places.prefix()).name.startswith("meter-")
        outbox.put(0, [packed(as_messages(pa.table({"payload": ["y"], "after": [["bob:1"]]}), "out"))])
        publish_here(outbox, places, str(tmp_path / "spool"))
        assert there.run(inbox.get(5)).sender.startswith("meter-")
        there.run(bob.aclose())
        with pytest.raises(InputError, match="other/#"):
            Feed(Spool(tmp_path / "other"), places, ("other/#",), None, 100).start(None)


@pytest.mark.slow
def test_a_kill_of_the_publisher_publishes_nothing_twice_and_loses_nothing(tmp_path: Path) -> None:
    count = 6000
    with brokers("A", "B") as there, there.connect("bob") as bob, bob.subscribe("out", queue=count) as inbox:
        outbox = outbox_of(tmp_path, payload=[str(n) for n in range(count)])
        places = Places(tuple(there.urls.split(",")))
        working = threading.Thread(target=publish_batch, args=(outbox, 0, places, None, os.getpid()), daemon=True)
        working.start()
        got = [int(inbox.get(20).payload) for _ in range(20)]
        killed = int((tmp_path / "publisher.pid").read_text())
        os.kill(killed, signal.SIGKILL)
        assert outbox.journal().doing is not None, "it was killed too late to tell"
        senders = set()
        while len(got) < count:
            message = inbox.get(30)
            got.append(int(message.payload))
            senders.add(message.sender)
        working.join(30)
        assert got == list(range(count)) and senders == {"sums", "sums.1"}
        assert outbox.journal().done == 0 and is_running(outbox)
        publish_batch(outbox, 0, places, None, os.getpid())  # Spark runs the batch again
        with pytest.raises(TimeoutError):
            inbox.get(0.3)


def test_the_publisher_ends_with_spark_and_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with brokers("A") as there:
        outbox = outbox_of(tmp_path / "a", payload=["x"])
        publish_batch(outbox, 0, Places((there.urls,)), None, 2**22 + 1)  # no process is called so
        until(lambda: not is_running(outbox))
        place = there.urls
    assert is_alive(os.getpid()) and not is_alive(2**22 + 1)
    outbox = outbox_of(tmp_path / "b", payload=["x"])
    begun = time.monotonic()
    with pytest.raises(EnvironmentFault, match="No broker answers at"):
        publish_batch(outbox, 0, Places((place,)), None, os.getpid())
    assert time.monotonic() - begun < 30 and outbox.waiting() == [0]
    monkeypatch.setattr(module.sys, "executable", "/bin/false")
    with pytest.raises(EnvironmentFault, match="the publisher ended at once: see"):
        publish_batch(outbox, 0, Places((place,)), None, os.getpid())
