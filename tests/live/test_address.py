"""Addresses: written in few ways, read in one, and refused beyond the loopback."""

from __future__ import annotations

import pytest

from antecede.errors import InputError
from antecede.live.address import parse_address, text_of, url_of


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("antecede://127.0.0.1:7401", ("127.0.0.1", 7401)),
        ("127.0.0.1", ("127.0.0.1", 7400)),
        (":7402", ("127.0.0.1", 7402)),
        ("localhost:1", ("127.0.0.1", 1)),
        ("antecede://[::1]:7400/", ("::1", 7400)),
        ("[::1]", ("::1", 7400)),
    ],
)
def test_what_is_written_is_read(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address
    assert parse_address(url_of(address)) == parse_address(text_of(address)) == address


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("192.0.2.1:7400", "not the loopback"),
        ("0.0.0.0:7400", "not the loopback"),
        ("broker.example:7400", "broker.example is not the loopback"),
        ("a b:7400", "is no host"),
        ("7402", "a port without a host: write 127.0.0.1:7402"),
        ("127.0.0.1:http", "is no address"),
        ("127.0.0.1:70000", "is no address"),
    ],
)
def test_other_places_are_refused_in_one_sentence(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        parse_address(text)
    with pytest.raises(InputError, match="An address is text"):
        parse_address(7400)  # type: ignore[arg-type]


def test_beyond_the_loopback_only_where_it_is_allowed() -> None:
    assert parse_address("192.0.2.1:7400", beyond_loopback=True) == ("192.0.2.1", 7400)
