"""What a predicate sees of a message, in memory and in records, and how often it looks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antecede.core.content import MAX_LEVELS, Content, Seen, fields_of, plain_content, read_fields, write_fields
from antecede.core.message import Message
from antecede.core.where import parse_where
from antecede.errors import InputError


def test_headers_and_scalars_of_a_json_object_show() -> None:
    body = b' {"t": 1, "s": "x", "f": 0.5, "b": false, "n": null, "l": [1], "o": {"p": {"q": 2}}, "d.t": 3} '
    assert fields_of(Content({"h": "1", "payload.t": "forged"}, body)) == {
        "h": "1", "payload.t": 1, "payload.s": "x", "payload.f": 0.5, "payload.b": False, "payload.o.p.q": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [b"", b"[1]", b"7", b'"x"', b"{", b'{"a": 1} x', b'{"a": NaN}', b'{"a": 1e999}', b"\xff{", b'{"a":' * 5000,
     b'{"a": ' + b"9" * 5000 + b"}", b'{"a": "\xff"}'],
)  # fmt: skip
def test_other_payloads_show_nothing(body: bytes) -> None:
    assert fields_of(Content({}, body)) == {}


def test_levels_are_bounded() -> None:
    body = b"1"
    for _ in range(MAX_LEVELS):
        body = b'{"a":%s}' % body
    assert fields_of(Content({}, body)) == {"payload" + ".a" * MAX_LEVELS: 1}
    assert fields_of(Content({}, b'{"a":%s}' % body)) == {}


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4), st.dictionaries(st.text(), st.text(), max_size=2))
def test_records_keep_exactly_what_is_seen(payload: dict[str, Any], headers: dict[str, str]) -> None:
    import json

    fields = fields_of(Content(headers, json.dumps(payload).encode()))
    assert read_fields(write_fields(fields)) == fields


@pytest.mark.parametrize("text", ["{", "[1]", '{"a": {"b": 1}}', "7"])
def test_other_texts_are_no_headers(text: str) -> None:
    with pytest.raises(InputError, match="headers of a publication"):
        read_fields(text)


def test_a_message_is_read_once_and_each_predicate_asked_once() -> None:
    read: list[bytes] = []

    def reading(payload: bytes) -> Content:
        read.append(payload)
        return plain_content(payload)

    seen, one, two = Seen(reading), Message("A", 1, ("t",), b'{"x": 1}'), Message("A", 2, ("t",), b'{"x": 2}')
    where, other = parse_where("payload.x == 1"), parse_where("payload.x == 2")
    assert [seen.holds(where, one), seen.holds(other, one), seen.holds(where, one)] == [True, False, True]
    assert len(read) == 1
    assert [seen.holds(where, two), seen.holds(other, two)] == [False, True] and len(read) == 2
