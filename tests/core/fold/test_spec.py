"""What a subscriber wants fused: how it travels, what it reads in a message, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.fold.spec import MAX_VALUES, FuseSpec, fuse
from antecede.errors import InputError


def test_it_travels_as_bytes() -> None:
    for spec in (fuse(["a"], every=3), fuse(["a", "payload.b"], by="room", every_us=5, over="new")):
        assert FuseSpec.from_bytes(spec.to_bytes()) == spec


@given(st.binary(max_size=30) | st.sampled_from([b"[]", b"[[1],null,1,null,1]", b'["ab",null,1,null,"latest"]']))
def test_other_bytes_are_refused_in_a_sentence(data: bytes) -> None:
    with pytest.raises(InputError):
        FuseSpec.from_bytes(data)


def test_a_name_is_a_header_or_else_in_the_payload_and_headers_read_as_numbers() -> None:
    spec = fuse(["t", "u", "v", "w"], by="room", every=1)
    fields = {"t": "21.5", "payload.t": 3, "payload.u": 4, "v": "warm", "payload.w": True, "payload.room": 7}
    reading = spec.reading(5, "ann:3", 9, fields, ("bob:1",), ())
    assert reading.values == (21.5, 4.0, None, None) and reading.by == "7"
    assert (reading.pos, reading.sender, reading.number, reading.time_us) == (5, "ann", 3, 9)


def test_results_are_one_for_each_value_of_by() -> None:
    spec = fuse(["t"], by="room", every=2)
    fold = spec.fold()
    said = [{"t": "1", "room": "b"}, {"t": "3", "room": "a"}, {"t": "5"}, {"t": "7", "room": "a"}]
    cuts = [c for n, f in enumerate(said) for c in fold.push([spec.reading(n, f"s{n}:1", None, f, (), ())])]
    assert [[(row["room"], row["t_mean"]) for row in spec.results(cut)] for cut in cuts] == [
        [("a", 3.0), ("b", 1.0)], [("a", 5.0), ("b", 1.0), (None, 5.0)],
    ]  # fmt: skip
    (row,) = FuseSpec(("t",), every=1).results(next(iter(FuseSpec(("t",), every=1).fold().push(
        [spec.reading(0, "s:1", None, {"t": "2"}, (), ())]
    ))))  # fmt: skip
    assert row["t_max"] == 2.0 and "room" not in row


def test_what_cannot_be_fused() -> None:
    for wrong, sentence in (
        ({"values": "t", "every": 1}, "give a list"),
        ({"values": ["t"]}, "in one way"),
        ({"values": ["t"], "every": 0}, "at least 1"),
        ({"values": ["t"], "every": 1, "over": "all"}, "latest or new"),
        ({"values": ["t"] * (MAX_VALUES + 1), "every": 1}, "at most"),
        ({"values": [""], "every": 1}, "at most"),
    ):
        with pytest.raises(InputError, match=sentence):
            fuse(**wrong)  # type: ignore[arg-type]
