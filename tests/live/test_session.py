"""One connection: records of any cut come out whole, and nothing malformed is believed or kept."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from itertools import chain

import pytest

from antecede.core.frames import Frame, Publish, Top
from antecede.core.message import Envelope, Message, Stamp
from antecede.live import session as module
from antecede.live.session import (
    CLIENT,
    MAX_GREETING,
    PLENTY,
    SHARE,
    VERSION,
    Control,
    Hello,
    Leaving,
    Refused,
    Session,
    Welcome,
)
from antecede.wire import encode


class Pipe:
    """Remembers what is written; `waiting` bytes are said not to have left yet."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.waiting = 0
        self.closed = self.held = False

    def write(self, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        self.closed = True

    abort = close

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        self.held = True

    def resume_reading(self) -> None:
        self.held = False


class Ear:
    def __init__(self) -> None:
        self.said: list[Control] = []
        self.frames: list[Frame] = []
        self.lost = 0
        self.session = Session(
            lambda session, said: self.said.append(said),
            lambda session, frames: self.frames.extend(frames),
            lambda session: setattr(self, "lost", self.lost + 1),
        )
        self.pipe = Pipe()
        self.session.connection_made(self.pipe)


def written(*said: Control | Frame) -> bytes:
    ear = Ear()
    for one in said:
        if isinstance(one, Hello | Welcome | Refused | Leaving):
            ear.session.say(one)
        else:
            assert ear.session.send([encode(one)])
    return bytes(ear.pipe.data)


HELLO = Hello(VERSION, CLIENT, "ann")
WELCOME = Welcome(VERSION, "ann", "A", {"#": []}, "run", 5, {"A": "127.0.0.1:1"})


def test_whatever_the_network_cuts_comes_out_whole() -> None:
    data = written(HELLO, Top(1, 1), Top(1, 2), Leaving("bye"), Top(1, 3))
    dice = random.Random(1)
    for _ in range(50):
        ear = Ear()
        ear.session.peer = "A"
        at = 0
        while at < len(data):
            step = dice.randrange(1, 12)
            ear.session.data_received(data[at : at + step])
            at += step
        assert ear.said == [HELLO, Leaving("bye")]
        assert [frame.top for frame in ear.frames if isinstance(frame, Top)] == [1, 2, 3]


def test_what_is_said_is_what_is_heard() -> None:
    ear = Ear()
    ear.session.data_received(written(HELLO, WELCOME, Refused("no"), Leaving()))
    assert ear.said == [HELLO, WELCOME, Refused("no"), Leaving()]


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff\xff\xff\xff",
        (module.MAX_RECORD + 1).to_bytes(4, "little"),
        b"\1\0\0\0x",
        b"\2\0\0\0\0\xc1",
        b"\3\0\0\0\x01\x7f\x00",
        written(Top(1, 1)),  # before HELLO
        (50_005).to_bytes(4, "little") + b"\0\x93\x04\xa0" + b"\x91" * 50_000 + b"\xc0",
    ],
    ids=["huge", "large", "short", "no greeting", "no frame", "too early", "too deep"],
)
def test_one_malformed_record_ends_the_connection(bad: bytes) -> None:
    ear = Ear()
    ear.session.data_received(bad)
    assert ear.pipe.closed and ear.session.fault and not ear.frames
    answer = Ear()
    answer.session.data_received(bytes(ear.pipe.data))
    assert isinstance(answer.said[0], Refused)


def test_what_came_before_the_fault_is_still_handed_on() -> None:
    ear = Ear()
    ear.session.peer = "A"
    ear.session.data_received(written(Top(1, 1)) + b"\xff\xff\xff\xff")
    assert len(ear.frames) == 1 and ear.pipe.closed


def test_who_reads_too_slowly_loses_frames_and_they_are_counted() -> None:
    ear = Ear()
    ear.pipe.waiting = module.MAX_WAITING + 1
    assert not ear.session.send([b"a", b"b"])
    assert ear.session.dropped == 2 and not ear.pipe.data


def test_a_lost_connection_is_said_once_and_swallows_what_is_sent() -> None:
    ear = Ear()
    ear.session.connection_lost(None)
    ear.session.connection_lost(None)
    assert ear.lost == 1 and not ear.session.is_open
    assert not ear.session.send([b"a"])
    ear.session.say(HELLO)
    assert not ear.pipe.data


def test_before_it_is_known_who_speaks_little_is_believed() -> None:
    ear = Ear()
    ear.session.most = MAX_GREETING
    ear.session.data_received((MAX_GREETING + 1).to_bytes(4, "little"))
    assert ear.pipe.closed and "a record of" in ear.session.fault


def test_whoever_is_held_is_read_again_unless_it_has_gone() -> None:
    async def main() -> None:
        ears = [Ear(), Ear(), Ear()]
        for ear in ears:
            ear.session.hold(0.01)
        assert all(ear.pipe.held for ear in ears)
        ears[1].pipe.close()
        ears[2].session.connection_lost(None)
        await asyncio.sleep(0.05)
        assert [ear.pipe.held for ear in ears] == [False, True, True]

    asyncio.run(main())


def publish(count: int, payload: bytes = b"") -> Publish:
    return Publish(
        tuple(Envelope(Message("eve", n, ("t",), payload), Stamp((("eve@t", n),))) for n in range(1, count + 1))
    )


async def until(condition: Callable[[], object]) -> None:
    for _ in range(1_000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to that")


class Broker(Ear):
    """Takes a share at a time; `turns`: the messages of each."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[list[int]] = []
        self.hold_s = 0.0
        self.session = Session(lambda session, said: self.said.append(said), self.took, self.ended)
        self.session.connection_made(self.pipe)
        self.session.share, self.session.peer = SHARE, "eve"

    def took(self, session: Session, frames: list[Frame]) -> None:
        self.turns.append([e.message.seq for one in frames if isinstance(one, Publish) for e in one.envelopes])
        if self.hold_s:
            session.hold(self.hold_s)

    def ended(self, session: Session) -> None:
        self.lost += 1


@pytest.mark.parametrize("as_one_record", [True, False])
def test_a_broker_takes_a_share_then_looks_at_the_others(as_one_record: bool) -> None:
    """What one client sends at once is taken over many turns, in order, and another one is heard after the first."""

    async def main() -> None:
        eve, ann = Broker(), Broker()
        many = publish(10 * SHARE)
        eve.session.data_received(
            written(many) if as_one_record else b"".join(written(Publish((one,))) for one in many.envelopes)
        )
        assert eve.turns == [list(range(1, SHARE + 1))]
        ann.session.data_received(written(publish(1)))
        assert ann.turns == [[1]] and len(eve.turns) == 1
        await until(lambda: sum(map(len, eve.turns)) == 10 * SHARE)
        assert list(chain(*eve.turns)) == list(range(1, 10 * SHARE + 1))
        assert max(map(len, eve.turns)) == SHARE

    asyncio.run(main())


def test_what_one_sends_beyond_its_share_is_left_in_its_socket() -> None:
    async def main() -> None:
        eve = Broker()
        data = written(publish(SHARE, bytes(PLENTY // 16)))
        eve.session.data_received(data)
        assert not eve.pipe.held, "nothing of it waits"
        for _ in range(3):
            eve.session.data_received(data)
        assert eve.pipe.held
        await until(lambda: not eve.pipe.held)
        assert sum(map(len, eve.turns)) == 4 * SHARE

    asyncio.run(main())


class Faulty(Broker):
    """Whoever is told of the second share raises."""

    def took(self, session: Session, frames: list[Frame]) -> None:
        super().took(session, frames)
        if len(self.turns) == 2:
            raise OSError("no space left on the device")


def test_a_fault_on_this_side_ends_the_connection() -> None:
    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        eve = Faulty()
        for _ in range(4):
            eve.session.data_received(written(publish(SHARE, bytes(PLENTY // 16))))
        assert eve.pipe.held
        await until(lambda: eve.pipe.closed)

    asyncio.run(main())


def test_a_connection_that_was_lost_is_told_of_after_a_fault_on_this_side_too() -> None:
    async def main() -> None:
        faults: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context["exception"]))
        eve = Faulty()
        eve.session.data_received(written(publish(4 * SHARE)))
        eve.session.connection_lost(None)
        await until(lambda: eve.lost)
        assert [len(turn) for turn in eve.turns] == [SHARE] * 4 and eve.lost == 1, "what had come still counts"
        assert [str(fault) for fault in faults] == ["no space left on the device"]

    asyncio.run(main())


def test_who_is_over_its_rate_is_heard_again_later_and_loses_nothing() -> None:
    async def main() -> None:
        eve = Broker()
        eve.hold_s = 0.2
        eve.session.data_received(written(publish(2 * SHARE)))
        await asyncio.sleep(0.01)
        assert len(eve.turns) == 1 and eve.pipe.held, "what was read waits too"
        await until(lambda: len(eve.turns) == 2)
        assert list(chain(*eve.turns)) == list(range(1, 2 * SHARE + 1)) and eve.pipe.held
        await until(lambda: not eve.pipe.held)

    asyncio.run(main())


@pytest.mark.parametrize("hold_s", [0.0, 60.0])
def test_what_came_before_a_connection_was_lost_counts(hold_s: float) -> None:
    async def main() -> None:
        eve = Broker()
        eve.hold_s = hold_s
        eve.session.data_received(written(publish(3 * SHARE)))
        eve.session.connection_lost(None)
        assert len(eve.turns) == 1 and not eve.lost
        await until(lambda: eve.lost)
        assert len(eve.turns) == 3 and eve.lost == 1

    asyncio.run(main())


def test_nothing_more_is_taken_of_who_is_refused() -> None:
    async def main() -> None:
        eve = Broker()
        eve.session.data_received(written(publish(3 * SHARE)))
        eve.session.refuse("no")
        eve.session.connection_lost(None)
        await until(lambda: eve.lost)
        assert len(eve.turns) == 1

    asyncio.run(main())
