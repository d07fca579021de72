"""What is not believed: each rule, packets in pieces, and thousands of damaged ones."""

from __future__ import annotations

import itertools
import random

import mqtt5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.live.mqtt.packets import Breach, OldVersion, Reader, parse
from tests.live.mqtt.damage import damaged, samples
from tests.live.mqtt.harness import Brokers, Paho, Raw

CONNECT = mqtt5.ConnectPacket("c", clean_start=True).write()


def breach(data: bytes) -> int:
    reader = Reader()
    list(reader.feed(CONNECT))
    with pytest.raises(Breach) as found:
        list(reader.feed(data))
    return found.value.code


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\x30\x06\x00\x02\xff\xfe\x00x", 0x81),  # a topic that is not UTF-8: the codec would panic
        (b"\x30\x05\x00\x01\x00\x00x", 0x81),  # NUL in a topic
        (b"\x30\x09\x00\x01a\x05\x26\x00\x01\xff\x00", 0x81),  # a user property that is not UTF-8
        (b"\x30\x05\x00\x01#\x00x", 0x90),
        (b"\x30\x06\x00\x02a+\x00x", 0x90),
        (b"\x32\x07\x00\x01a\x00\x00\x00x", 0x81),  # packet identifier 0
        (b"\x36\x07\x00\x01a\x00\x01\x00x", 0x81),  # quality 3
        (b"\x38\x05\x00\x01a\x00x", 0x81),  # a repeat of quality 0
        (b"\x30\x07\x00\x01a\x03\x23\x00\x00", 0x94),  # alias 0
        (b"\x30\x04\x00\x00\x00x", 0x82),  # neither topic nor alias
        (b"\x30\x08\x00\x01a\x04\x01\x01\x01\x01", 0x82),  # a property twice
        (b"\x30\x07\x00\x01a\x03\x7f\x00\x01", 0x81),  # a property that there is not
        (b"\x30\x05\x00\x01a\x09x", 0x81),  # properties beyond the end
        (b"\x82\x05\x00\x01\x00\x00\x00", 0x81),  # ends too early
        (b"\x82\x06\x00\x01\x00\x00\x00\x00", 0x81),  # an empty filter
        (b"\x82\x07\x00\x01\x00\x00\x01a\xc0", 0x81),  # reserved options
        (b"\x82\x07\x00\x01\x00\x00\x01a\x30", 0x81),  # retain handling 3
        (b"\x82\x07\x00\x00\x00\x00\x01a\x00", 0x81),
        (b"\x82\x03\x00\x01\x00", 0x82),  # no filter
        (b"\x82\x08\x00\x01\x00\x00\x02a+\x00", 0x8F),
        (b"\x80\x07\x00\x01\x00\x00\x01a\x00", 0x81),  # reserved bits
        (b"\xa2\x03\x00\x01\x00", 0x82),
        (b"\x60\x02\x00\x01", 0x81),
        (b"\x40\x02\x00\x00", 0x81),
        (b"\x40\x03\x00\x01\x55", 0x81),  # a reason that there is not
        (b"\xc1\x00", 0x81),
        (b"\xc0\x01x", 0x81),
        (b"\xe0\x05\x00\x00abc", 0x81),
        (b"\x00\x00", 0x82),
        (b"\x20\x03\x00\x00\x00", 0x82),  # only brokers send that
        (b"\x30\xff\xff\xff\xff\x01", 0x81),
        (b"\xc0\x80\x00", 0x81),
        (b"\x30\xff\xff\xff\x7f", 0x95),
        (CONNECT, 0x82),
    ],
)
def test_each_breach_has_its_reason(data: bytes, code: int) -> None:
    assert breach(data) == code


def test_connect_is_checked_and_an_older_version_is_told_apart() -> None:
    def first(data: bytes) -> Breach:
        with pytest.raises(Breach) as found:
            list(Reader().feed(data))
        return found.value

    assert first(mqtt5.PingReqPacket().write()).code == 0x82
    old = first(b"\x10\x0f\x00\x04MQTT\x04\x02\x00<\x00\x03abc")
    assert isinstance(old, OldVersion) and "-V 5" in str(old)
    assert isinstance(first(b"\x10\x11\x00\x06MQIsdp\x03\x02\x00<\x00\x03abc"), OldVersion)
    assert first(b"\x10\x0e\x00\x02hj\x05\x02\x00<\x00\x00\x03abc").code == 0x84
    assert first(CONNECT[:9] + b"\x03" + CONNECT[10:]).code == 0x81  # the reserved bit
    assert first(CONNECT[:9] + b"\x22" + CONNECT[10:]).code == 0x81  # retain, and no will
    will = mqtt5.ConnectPacket("c", will=mqtt5.Will("w", payload=b"x")).write()
    assert first(will.replace(b"\x00\x01w", b"\x00\x01#")).code == 0x90


@given(st.lists(st.integers(0, 200), max_size=40))
def test_packets_come_whole_however_they_are_cut(cuts: list[int]) -> None:
    stream = CONNECT + b"".join(samples()[1:])
    places = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    reader, packets = Reader(), list[mqtt5.Packet]()
    for start, end in itertools.pairwise(places):
        packets += reader.feed(stream[start:end])
    whole = Reader()
    assert [type(one) for one in packets] == [type(one) for one in whole.feed(stream)]
    assert reader.waiting == 0 and len(packets) == len(samples())


def test_those_before_a_breach_count() -> None:
    reader, seen = Reader(), list[mqtt5.Packet]()
    with pytest.raises(Breach):
        for packet in reader.feed(CONNECT + mqtt5.PingReqPacket().write() + b"\x00\x00"):
            seen.append(packet)
    assert [type(one) for one in seen] == [mqtt5.ConnectPacket, mqtt5.PingReqPacket]


def test_damaged_packets_are_read_or_refused_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    dice, refused = random.Random(7), 0
    for _ in range(20_000):
        data = damaged(dice)
        reader = Reader()
        try:
            list(reader.feed(CONNECT))
            list(reader.feed(data))
        except Breach:
            refused += 1
        assert reader.waiting <= len(data)
    assert 5_000 < refused < 20_000
    assert "panicked" not in capfd.readouterr().err


def test_a_panic_of_the_codec_is_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panics(data: memoryview) -> None:
        raise PanicException("PyObject pointer is null")

    monkeypatch.setattr(mqtt5, "read", panics)
    with pytest.raises(Breach, match="codec"):
        parse(0xC0, b"", b"\xc0\x00")


def test_five_thousand_damaged_packets_do_not_disturb_others(one: Brokers) -> None:
    dice, sent = random.Random(11), 0
    with Paho(one.port()).connect() as other:
        other.subscribe("steady")
        while sent < 5_000:
            with Raw(one.port()) as raw:
                raw.send(CONNECT)
                try:
                    raw.send(b"".join(damaged(dice) for _ in range(50)))
                except OSError:
                    pass
                sent += 50
        for n in range(20):
            other.publish("steady", b"%d" % n, 1)
        assert other.got(20) == [b"%d" % n for n in range(20)]
    assert one.door().counts["malformed"] > 50
