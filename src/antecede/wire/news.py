"""Frames of membership to rows and back: who is there, and how they tell of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeAlias

from msgspec import Meta

from antecede.core.frames import Out, Ping, PingRequest, Pong, Sync
from antecede.core.membership.news import STATES, News
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_NEWS, MAX_NUMBER
from antecede.wire.names import joined, split_names

__all__ = ["NEWS_KINDS", "news_rows", "read_name", "read_news"]

ROLES = ("member", "broker", "subscriber")

Number: TypeAlias = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Names: TypeAlias = bytes | None
NewsRow: TypeAlias = tuple[bytes, Number, Names, Names, Number]
"""name and site; number; groups; places; three times the state plus the role."""


def news_rows(news: Sequence[News]) -> list[NewsRow]:
    """
    >>> news_rows([News("A", "broker", ("G1",))])
    [(b'A\\x00', 0, b'G1', None, 1)]
    """
    if len(news) > MAX_NEWS:
        raise InputError(f"{len(news)} items of news in one frame; at most {MAX_NEWS} fit")
    return [
        (
            joined((one.name, one.site)), one.number, joined(one.groups) if one.groups else None,
            joined(one.at) if one.at else None, len(ROLES) * STATES.index(one.state) + ROLES.index(one.role),
        )
        for one in news
    ]  # fmt: skip


def read_news(rows: Sequence[NewsRow]) -> tuple[News, ...]:
    if len(rows) > MAX_NEWS:
        raise RemoteProtocolError(f"{len(rows)} items of news in one frame")
    found = []
    for names, number, groups, at, kind in rows:
        name, site = split_names(names)
        state, role = STATES[kind // len(ROLES)], ROLES[kind % len(ROLES)]
        there = () if groups is None else split_names(groups)
        found.append(News(name, role, there, site, () if at is None else split_names(at), number, state))
    return tuple(found)


def read_name(raw: bytes) -> str:
    (name,) = split_names(raw)
    return name


NEWS_KINDS: tuple[tuple[int, type, Callable[[Any], object], Any, Callable[[Any], Any]], ...] = (
    (
        18,
        Ping,
        lambda f: (f.number, news_rows(f.news)),
        tuple[Number, list[NewsRow]],
        lambda r: Ping(r[0], read_news(r[1])),
    ),
    (
        19,
        PingRequest,
        lambda f: (f.number, joined((f.target,)), news_rows(f.news)),
        tuple[Number, bytes, list[NewsRow]],
        lambda r: PingRequest(r[0], read_name(r[1]), read_news(r[2])),
    ),
    (
        20,
        Pong,
        lambda f: (f.number, joined((f.of,)), news_rows(f.news)),
        tuple[Number, bytes, list[NewsRow]],
        lambda r: Pong(r[0], read_name(r[1]), read_news(r[2])),
    ),
    (
        21,
        Sync,
        lambda f: (f.reply, news_rows(f.news)),
        tuple[bool, list[NewsRow]],
        lambda r: Sync(read_news(r[1]), r[0]),
    ),
    (
        22,
        Out,
        lambda f: (joined((f.name,)), f.voters, joined((f.smallest,))),
        tuple[bytes, Number, bytes],
        lambda r: Out(read_name(r[0]), r[1], read_name(r[2])),
    ),
)
"""Number, frame, to a row, the form of a row, and back: the kinds of membership."""
