"""News of membership: what goes in comes out, and what means nothing is refused."""

from __future__ import annotations

import pytest
from hypothesis import given

from antecede.core.frames import Out, Ping, Pong
from antecede.core.membership.news import News
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire import decode, encode
from antecede.wire.limits import MAX_NAME, MAX_NEWS
from antecede.wire.news import news_rows, read_name, read_news
from tests.wire.strategies import NEWS


@given(NEWS)
def test_news_comes_back(news: tuple[News, ...]) -> None:
    assert read_news(news_rows(news)) == news


def test_an_item_costs_little_more_than_its_names() -> None:
    item = News("A", "broker", ("G1",), "", (), 3)
    assert len(encode(Ping(1, (item,)))) - len(encode(Ping(1))) <= 16


def test_roles_states_and_names_that_do_not_exist_are_refused() -> None:
    good = encode(Ping(1, (News("A", "subscriber", state="left"),)))
    assert good[-1] == 11, "the last of four states times three roles"
    with pytest.raises(RemoteProtocolError):
        decode(good[:-1] + b"\x0c")
    with pytest.raises(RemoteProtocolError):
        decode(good.replace(b"A\x00", b"AA"))
    with pytest.raises(ValueError):
        read_name(b"A\x00B")


def test_what_a_peer_would_refuse_is_not_sent() -> None:
    for frame in (Ping(1, (News("x" * (MAX_NAME + 1), "broker"),)), Pong(1, "nul\0"), Out("A", 2**70, "A"),
                  Ping(1, (News("A", "king"),))):  # fmt: skip
        with pytest.raises(InputError):
            encode(frame)


def test_no_frame_tells_of_more_processes_than_there_can_be() -> None:
    item = News("A", "broker")
    assert len(read_news(news_rows([item] * MAX_NEWS))) == MAX_NEWS
    with pytest.raises(InputError):
        news_rows([item] * (MAX_NEWS + 1))
    with pytest.raises(RemoteProtocolError):
        read_news(news_rows([item]) * (MAX_NEWS + 1))
