"""Callers at a broker's port: what each is called, what it is told, and why it is turned away.

Decided here: a name that was used before gets its next incarnation; a client that was taken for dead comes back under
its name unless another has come since, and of two that had one name at once the one that began first is closed; a
broker is refused under a name that another one has, or with another table than this one's; and where keys are asked
for, nobody comes in without. A refusal that all brokers would repeat says so.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from antecede.core.entries import Entries
from antecede.core.membership.news import split_name
from antecede.core.names import check_process
from antecede.core.topics import EVERYTHING
from antecede.errors import InputError
from antecede.live.session import (
    CLIENT,
    MAX_GREETING,
    MAX_RECORD,
    SHARE,
    VERSION,
    VISITOR,
    Control,
    Hello,
    Question,
    Session,
    Welcome,
)
from antecede.live.timing import machine_id

if TYPE_CHECKING:
    from antecede.live.broker import Broker
    from antecede.live.keys.rights import Refusal

__all__ = ["Reception", "table_of"]

log = logging.getLogger("antecede.broker")


def table_of(entries: Entries) -> dict[str, list[str]]:
    """A table as it travels."""
    return {filter: list(brokers) for filter, brokers in entries.table.items()}


def why_not_one_table(one: str, mine: Mapping[str, list[str]], other: str, its: Mapping[str, list[str]]) -> str:
    """Which entry tells two tables apart.

    >>> print(why_not_one_table("A", {"room/#": ["A"]}, "B", {"room/#": ["A", "B"], "hall/#": []}))
    Brokers of one cluster have one table: 'hall/#' is in that of B and not in that of A. Give all the same.
    >>> print(why_not_one_table("A", {"room/#": []}, "B", {"room/#": ["A", "B"]}).partition(": ")[2])
    'room/#' is for A, B in that of B and for all in that of A. Give all the same.
    """
    filter = next((f for f in sorted({*mine, *its}) if mine.get(f) != its.get(f)), "")
    shown = "what stands for every topic" if filter == EVERYTHING else repr(filter)
    if filter in mine and filter in its:
        for_whom = [", ".join(table[filter]) or "all" for table in (its, mine)]
        what = f"is for {for_whom[0]} in that of {other} and for {for_whom[1]} in that of {one}"
    else:
        has, lacks = (one, other) if filter in mine else (other, one)
        what = f"is in that of {has} and not in that of {lacks}"
    return f"Brokers of one cluster have one table: {shown} {what}. Give all the same."


class Reception:
    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def session(self) -> Session:
        """For a new connection."""
        session = Session(self._heard, lambda session, frames: self.broker.hub.from_client(session, frames), self._lost)
        session.most, session.share = MAX_GREETING, SHARE
        self.broker.strangers.came(session)
        return session

    def _lost(self, session: Session) -> None:
        self.broker.hub.lost(session)
        self.broker.strangers.lost(session)
        if session.peer:
            log.debug("connection of %s ended%s", session.peer, f": {session.fault}" if session.fault else "")

    def _heard(self, session: Session, said: Control) -> None:
        self.broker.strangers.spoke(session)
        if isinstance(said, Question) and session.visits and self.broker.door is not None:
            self.broker.door.peers.asked(session, said)
        elif not isinstance(said, Hello) or session.peer:
            session.refuse("expected HELLO, once")
        elif said.version != VERSION:
            reason = f"This broker speaks version {VERSION}, not {said.version}: install the same antecede."
            session.refuse(reason, final=True)
        elif not self.broker.receives:
            session.refuse("This broker is not ready: try another, or again in a moment.")
        elif (refusal := self._turned_away(session, said)) is not None:
            session.refuse(refusal.sentence, final=True)
        elif said.role == VISITOR:
            self._tell_visitor(session, said)
        elif said.role == CLIENT:
            self._admit(session, said)
        else:
            session.refuse(f"nobody has the role {said.role!r}", final=True)

    def _turned_away(self, session: Session, said: Hello) -> Refusal | None:
        """Where keys are asked for: whether it has none that fits."""
        protection = self.broker.protection
        return None if protection is None else protection.guard.admit(session, said)

    def _tell_visitor(self, session: Session, said: Hello) -> None:
        mine = table_of(self.broker.entries)
        if said.table != mine:
            session.refuse(why_not_one_table(self.broker.name, mine, said.name, said.table or {}), final=True)
            return
        known = self._known_life(split_name(said.name)[0])
        news = None if known is None else self.broker.managed.table.entries.get(known)
        if said.fresh and news is not None and not news.final and news.site != said.site:
            who = f"broker {news.name} at {news.site or '?'}" if news.role == "broker" else f"client {news.name}"
            reason = f"There is a {who}: choose another --name."
            session.refuse(reason, final=True)
            return
        session.visits, session.most = True, MAX_RECORD
        session.say(self._welcome(self._next_name(said.name) if said.fresh else said.name))

    def _admit(self, session: Session, said: Hello) -> None:
        try:
            check_process(said.name)
        except InputError as fault:
            session.refuse(str(fault), final=True)
            return
        name = self._next_name(said.name, said.life) if said.fresh else said.name
        if self._yields(said):
            base = split_name(said.name)[0]
            log.warning("two clients were called %s at once: the one that began first is closed", base)
            session.refuse(
                f"Two clients were called {base} at once: this one, which began first, is closed, and what either has "
                "published under this name may be lost. Give each client a name of its own.", final=True
            )  # fmt: skip
            return
        if 0 <= said.life < split_name(name)[1] - 1:
            another = f"Another client has come under the name {split_name(name)[0]}"
            session.refuse(f"{another}: give each client a name of its own.", final=True)
            return
        session.peer, session.most = name, MAX_RECORD
        session.say(self._welcome(name, session))
        self.broker.hub.welcome(session)
        log.debug("client %s connected", name)

    def _yields(self, said: Hello) -> bool:
        """Whether the life that a client had, or has, was also the name of one that began later."""
        known = self.broker.managed.table.get(f"{said.name}.{said.life}" if said.life > 0 else said.name)
        return known is not None and known.final and known.role == "subscriber" and known.site > said.site > ""

    def _welcome(self, name: str, session: Session | None = None) -> Welcome:
        broker = self.broker
        bearer, protection = None if session is None else session.bearer, broker.protection
        brokers = {n.name: n.site for n in broker.managed.table.present() if n.role == "broker" and n.site}
        return Welcome(
            VERSION, name, broker.name, table_of(broker.entries), broker.run, broker.clock.now_us(), brokers,
            machine_id(), broker.clock.base_us, None if bearer is None else bearer.rights,
            0 if protection is None else protection.limits.size,
            0 if protection is None else protection.limits.subscriptions,
        )  # fmt: skip

    def _known_life(self, base: str) -> str | None:
        return next((name for name in self.broker.managed.table.entries if split_name(name)[0] == base), None)

    def _next_name(self, name: str, had: int = -1) -> str:
        """A name that nobody had before: the one asked for, or its next incarnation. `had`: a life that it had, of
        which nobody may have told this broker yet."""
        base, table = split_name(name)[0], self.broker.managed.table
        known = table.latest(base)
        lives = [life for one, life in map(split_name, self.broker.hub.sessions) if one == base]
        life = max([table.floor, had + 1, *([] if known is None else [known + 1]), *(life + 1 for life in lives)])
        return f"{base}.{life}" if life else base
