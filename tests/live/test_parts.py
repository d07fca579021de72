"""Frames in parts: put together from any order, mended by asking, bounded whatever comes."""

from __future__ import annotations

import random

import pytest

from antecede.errors import RemoteProtocolError
from antecede.live import parts as module
from antecede.live.datagram import prefix_for, sender_of
from antecede.live.parts import PART, WANTED, Parts

PREFIX = prefix_for("a")


def body(datagram: bytes) -> memoryview:
    return memoryview(datagram)[sender_of(memoryview(datagram))[1] :]


def test_parts_in_any_order_and_twice_are_one_frame_once() -> None:
    data = random.Random(1).randbytes(10_000)
    datagrams = Parts().cut(PREFIX, data, 1200)
    assert all(len(one) <= 1200 and one[0] == PART for one in datagrams)
    random.Random(2).shuffle(datagrams)
    there = Parts()
    whole = [there.take("a", body(one), 0.0) for one in [*datagrams, *datagrams]]
    assert [one for one in whole if one is not None] == [data]
    assert not there.waiting


def test_what_is_missing_is_asked_for_and_sent_again() -> None:
    data = bytes(9_000)
    here, there = Parts(), Parts()
    datagrams = here.cut(PREFIX, data, 1200)
    for one in datagrams[::2]:
        assert there.take("a", body(one), 0.0) is None
    assert list(there.missing(PREFIX, 0.0)) == []  # they may still be on their way
    ((asked, request),) = there.missing(PREFIX, 1.0)
    assert asked == "a" and request[0] == WANTED
    again = here.wanted(body(request))
    assert again == datagrams[1::2]
    assert [there.take("a", body(one), 1.0) for one in again][-1] == data


def test_who_never_answers_is_given_up() -> None:
    there = Parts()
    there.take("a", body(Parts().cut(PREFIX, bytes(5000), 1200)[0]), 0.0)
    for n in range(module.TRIES + 1):
        list(there.missing(PREFIX, 1.0 + n))
    assert not there.waiting and there.refused == 1


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT_BYTES", 20_000)
    monkeypatch.setattr(module, "OPEN_BYTES", 20_000)
    here, there = Parts(), Parts()
    for _ in range(100):
        there.take("a", body(here.cut(PREFIX, bytes(5_000), 1200)[0]), 0.0)
    assert len(here._kept) <= 5
    assert len(there._open) <= module.OPEN_FRAMES
    for n in range(100):
        there.take(f"b{n}", body(here.cut(PREFIX, bytes(5_000), 1200)[0]), 0.0)
    assert there._open_bytes <= 25_000


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\0" * 10,
        b"\1\0\0\0" + b"\5\0\0" + b"\5\0\0" + bytes(100),  # index beyond count
        b"\1\0\0\0" + b"\0\0\0" + b"\xff\xff\xff" + bytes(100),  # too many
        b"\1\0\0\0" + b"\0\0\0" + b"\2\0\0" + b"x",  # too small
    ],
)
def test_nonsense_is_refused(bad: bytes) -> None:
    with pytest.raises(RemoteProtocolError):
        Parts().take("a", memoryview(bad), 0.0)


def test_parts_of_two_counts_do_not_fit_together() -> None:
    there = Parts()
    there.take("a", memoryview(b"\1\0\0\0" + b"\0\0\0" + b"\3\0\0" + bytes(100)), 0.0)
    with pytest.raises(RemoteProtocolError):
        there.take("a", memoryview(b"\1\0\0\0" + b"\1\0\0" + b"\4\0\0" + bytes(100)), 0.0)
    assert not there.waiting
    with pytest.raises(RemoteProtocolError):
        there.wanted(memoryview(b"\1\0"))
