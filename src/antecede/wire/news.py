"""News of membership to rows and back: who is there, as frames of membership carry it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta

from antecede.core.membership.news import STATES, News
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_NEWS, MAX_NUMBER
from antecede.wire.names import joined, split_names

__all__ = ["NewsRow", "news_rows", "read_name", "read_news"]

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
