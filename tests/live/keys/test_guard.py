"""The guard: rights, limits and names are kept at the broker, whatever a client sends; nobody speaks for others."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from antecede.core.frames import Ack, Attach, Frame, Grow, Out, Ping, PingRequest, Pong, Publish, Sync
from antecede.core.membership.news import ALIVE, DEAD, News
from antecede.core.message import Envelope, Message, Stamp
from antecede.live.keys import store
from antecede.live.keys.guard import Guard
from antecede.live.keys.limits import Limits
from antecede.live.keys.refusals import Refusals
from antecede.live.keys.store import Keys
from antecede.live.session import CLIENT, VERSION, VISITOR, Hello, Session
from tests.live.keys.keyed import Keyed

BROKER = News("A", "broker", (), "127.0.0.1:1", (), 5)


class Pipe:
    def __init__(self) -> None:
        self.written = b""
        self.held = self.closed = False

    def write(self, data: bytes, /) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.held = True

    def resume_reading(self) -> None:
        self.held = False


class House:
    """A guard, and who is connected."""

    def __init__(self, directory: Path, **limits: int) -> None:
        self.keyed = Keyed(directory)
        self.keys, self.refusals = Keys(directory), Refusals(time.time)
        self.sessions: list[Session] = []
        self.guard = Guard(
            self.keys, Limits(**limits), self.refusals, time.time, lambda: self.sessions, {"A": BROKER}.get
        )

    def session(self, name: str, token: str) -> tuple[Session, Pipe]:
        session, pipe = Session(lambda *_: None, lambda *_: None, lambda *_: None), Pipe()
        session.connection_made(pipe)
        assert self.guard.admit(session, Hello(VERSION, CLIENT, name, token=token)) is None
        session.peer = name
        self.sessions.append(session)
        return session, pipe


def published(sender: str = "ann", topic: str = "room/1", payload: bytes = b"") -> Publish:
    return Publish((Envelope(Message(sender, 1, (topic,), payload), Stamp(((f"{sender}@0", 1),))),))


@pytest.mark.parametrize(
    ("frame", "reason", "words"),
    [
        (published(topic="hall"), "topic without right", b"publish to 'hall'"),
        (published(sender="bob"), "wrong name", b"cannot publish for 'bob'"),
        (published(payload=bytes(101)), "too large", b"at most 100 bytes"),
        (Attach(1, ("room/1", "#"), None), "filter without right", b"subscribe to '#'"),
        (Grow(1, 1, ("hall",), 0, {}), "filter without right", b"subscribe to 'hall'"),
        (Attach(1, ("room/1", "room/2", "room/3"), None), "too many subscriptions", b"at most 2 filters"),
    ],
)
def test_what_a_client_may_not_ends_its_connection_with_a_sentence(
    frame: Frame, reason: str, words: bytes, tmp_path: Path
) -> None:
    async def main() -> None:
        house = House(tmp_path, size=100, subscriptions=2)
        session, pipe = house.session("ann", house.keyed.token("ann", ("room/#",), ("room/#",)))
        good = [published(), Attach(1, ("room/+",), None), Ack(1, 1)]
        assert house.guard.passed(session, [*good, frame, published()]) == good
        assert pipe.closed and words in pipe.written and house.refusals.counts == {reason: 1}

    asyncio.run(main())


def test_clients_speak_of_themselves_only(tmp_path: Path) -> None:
    async def main() -> None:
        house = House(tmp_path)
        session, pipe = house.session("ann", house.keyed.token("ann"))
        me = News("ann", "subscriber", (), "", ("A",), 3)
        lies = (
            News("A", "broker", (), "", (), 5, DEAD), News("A", "broker", (), "10.6.6.6:1", (), 6, ALIVE),
            News("X", "broker", (), "10.6.6.6:1"), News("bob", "subscriber", (), "", (), 9, DEAD),
            News("ann", "broker", (), "10.6.6.6:1", (), 4),
        )  # fmt: skip
        kept = house.guard.passed(session, [Sync((me, BROKER, *lies)), Ping(1, lies), Pong(2, "ann", (me,))])
        assert [frame.news for frame in kept if isinstance(frame, Sync | Ping | Pong)] == [(me, BROKER), (), (me,)]
        assert house.guard.passed(session, [Out("B", 99, "A"), PingRequest(1, "B"), Pong(1, "B")]) == []
        assert not pipe.closed and house.refusals.counts == {"news of others": 5}

    asyncio.run(main())


def test_whoever_is_too_fast_is_read_more_slowly_and_loses_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        house = House(tmp_path, rate=1000)
        session, pipe = house.session("ann", house.keyed.token("ann"))
        frames: list[Frame] = [published() for _ in range(2050)]
        assert house.guard.passed(session, frames) == frames
        assert pipe.held and house.refusals.counts == {"too fast": 1}
        await asyncio.sleep(0.1)
        assert not pipe.held and not pipe.closed

    asyncio.run(main())


def test_connections_with_one_token_are_limited(tmp_path: Path) -> None:
    house = House(tmp_path, connections=2)
    token = house.keyed.token("ann")
    for name in ("ann", "ann-2"):
        house.session(name, token)
    said = house.guard.admit(Session(*[lambda *_: None] * 3), Hello(VERSION, CLIENT, "ann-3", token=token))
    assert said is not None and "2 connections" in said.sentence
    house.session("ann-2", token)  # it takes its own place again
    house.session("ann-3", house.keyed.token("ann"))
    assert house.refusals.counts == {"too many connections": 1}


def test_visitors_show_a_proof_and_readers_of_pages_a_token_that_says_so(tmp_path: Path) -> None:
    house = House(tmp_path)
    for token, admitted in ((house.keys.proof("B", time.time()), True), (house.keyed.token("B"), False), ("", False)):
        said = house.guard.admit(Session(*[lambda *_: None] * 3), Hello(VERSION, VISITOR, "B", token=token))
        assert (said is None) is admitted
    assert house.guard.may_watch(house.keyed.token("prometheus", watch=True))
    assert not house.guard.may_watch(house.keyed.token("ann")) and not house.guard.may_watch("")
    assert house.refusals.counts == {"wrong token": 2, "page without right": 1, "no token": 1}


def test_rights_that_end_end_the_connection(tmp_path: Path) -> None:
    house = House(tmp_path)
    staying, going = house.session("ann", house.keyed.token("ann")), house.session("bob", house.keyed.token("bob"))
    store.revoke(tmp_path, "bob", datetime.now(UTC))
    house.keys.look_again()
    house.guard.look_at_sessions()
    assert going[1].closed and b"was revoked" in going[1].written and not staying[1].closed


def test_no_token_is_in_the_text_of_a_greeting() -> None:
    assert "secret" not in repr(Hello(VERSION, CLIENT, "ann", token="secret"))
