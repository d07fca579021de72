"""A stamp that came is what was sent, looked at or not; and what is wrong with one is found before anybody looks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.frames import Data
from antecede.core.message import Envelope, Message, Stamp
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import decode, encode
from antecede.wire.envelopes import pack, parts_of
from antecede.wire.stamps import ReadStamp
from tests.wire.strategies import envelopes, plain


def came(envelope: Envelope) -> Stamp:
    frame = decode(encode(Data((envelope,))))
    assert isinstance(frame, Data)
    return frame.envelopes[0].stamp


@settings(max_examples=80, deadline=None)
@given(envelopes(), st.booleans())
def test_causes_are_the_same_in_whichever_order_somebody_looks(envelope: Envelope, needs_first: bool) -> None:
    stamp, sent = came(envelope), envelope.stamp
    looks = ["needs", "covers"] if needs_first else ["covers", "needs"]
    found = {name: getattr(stamp, name) for name in looks}
    assert sorted(found["needs"]) == sorted(sent.needs) and found["covers"] == dict(sent.covers)
    assert stamp.needs is found["needs"] and stamp.covers is found["covers"]
    assert came(envelope).reaches_out() == sent.reaches_out()


@settings(max_examples=200, deadline=None)
@given(envelopes())
def test_the_newest_needs_are_those_of_each_stream(envelope: Envelope) -> None:
    """Where they lie behind, so does all that is needed."""
    stamp, newest = came(envelope), dict[str, int]()
    for stream, n in stamp.needs:
        newest[stream] = max(n, newest.get(stream, n))
    assert dict(came(envelope).newest_needs()) == newest


def test_causes_wait_until_somebody_looks() -> None:
    covers = {"p@g": 4, "q@g": 2}
    stamp = came(Envelope(Message("p", 5, ("g",)), Stamp((("p@g", 5),), (("p@g", 3), ("q@g", 2)), covers, 7)))
    assert isinstance(stamp, ReadStamp) and not stamp.reaches_out()
    assert not any(name in dir(stamp) and _is_there(stamp, name) for name in ("needs", "covers"))
    assert stamp.needs == (("p@g", 3), ("q@g", 2)) and _is_there(stamp, "needs") and not _is_there(stamp, "covers")
    with pytest.raises(AttributeError):
        stamp.nonsense  # noqa: B018 - it is looked for


@pytest.mark.parametrize("covers", [{}, {"p": 1, "q": 2}])
@pytest.mark.parametrize("extra", [{"hlc": 3}, {"p": 3}, 7])
def test_an_extra_of_ones_own_does_not_travel(covers: dict[str, int], extra: object) -> None:
    """Not even where nothing is covered: it would be lost without a word."""
    with pytest.raises(InputError, match="p:2 has an extra that cannot travel"):
        came(Envelope(Message("p", 2, ("g",)), Stamp((("p", 2),), (), covers, 7, extra)))


def _is_there(stamp: Stamp, name: str) -> bool:
    try:
        object.__getattribute__(stamp, name)
    except AttributeError:
        return False
    return True


@pytest.mark.parametrize(
    "row",
    [
        [3, 1, [4, -2], [0, 7]],  # a need of a stream that is not there
        [3, 1, [4, -2], [-1]],
        [3, 1, [4, -2], [0, 1], [1]],  # lags for some of the needs
        [3, 1, [4, -2], [0, 1], [5, 0]],  # less than nothing
        [3, 1, [4, -5], [0]],
        [3, 1, [4], [0]],  # numbers for some of the streams
        [3, 1, [4, -2], 2],
        [3, 1, [4, -2], [], [], [-1]],
        [3, 1, [4, -2], [], [], [1]],  # an own mark of somebody else
        [2, 1, [2**63 - 1, -5]],  # one above the largest number
    ],
)
def test_what_is_wrong_is_found_before_anybody_looks(row: list[object]) -> None:
    covers = {"p@g": 4, "q@g": 2}
    envelope = Envelope(Message("p", 5, ("g",)), Stamp((("p@g", 5),), (), covers, 1))
    head, layout, names, note, _ = parts_of(envelope)
    envelope.wire = (head, layout, names, note, pack(row))
    raw = encode(Data((envelope,)))
    with pytest.raises(RemoteProtocolError):
        decode(raw)


def test_own_marks_beside_a_sound_stamp_are_as_sent() -> None:
    envelope = Envelope(Message("p", 5, ("g", "h")), Stamp((("p@g", 5), ("p@h", 5)), (("q@k", 1),), {"q@k": 1}, 1))
    stamp = came(envelope)
    assert plain(stamp) == plain(envelope.stamp) and stamp.reaches_out()
