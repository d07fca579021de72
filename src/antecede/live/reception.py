"""Who comes to a broker's port: what it is called, what it is told, and why it is turned away.

Decided here: a name that was used before gets its next incarnation; a client that was taken for dead comes back under
its name unless another has come since; a broker is refused under a name that another one has, or with another table
than this one's. A refusal that all brokers would repeat says so.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from antecede.core.entries import Entries
from antecede.core.membership.news import split_name
from antecede.core.names import check_process
from antecede.errors import InputError
from antecede.live.session import CLIENT, VERSION, VISITOR, Control, Hello, Session, Welcome
from antecede.live.timing import machine_id

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["Reception", "table_of"]

log = logging.getLogger("antecede.broker")


def table_of(entries: Entries) -> dict[str, list[str]]:
    """A table as it travels."""
    return {filter: list(brokers) for filter, brokers in entries.table.items()}


class Reception:
    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def session(self) -> Session:
        """For a new connection."""
        return Session(self._heard, lambda session, frames: self.broker.hub.from_client(session, frames), self._lost)

    def _lost(self, session: Session) -> None:
        self.broker.hub.lost(session)
        if session.peer:
            log.debug("connection of %s ended%s", session.peer, f": {session.fault}" if session.fault else "")

    def _heard(self, session: Session, said: Control) -> None:
        if not isinstance(said, Hello) or session.peer:
            session.refuse("expected HELLO, once")
        elif said.version != VERSION:
            reason = f"This broker speaks version {VERSION}, not {said.version}: install the same antecede."
            session.refuse(reason, final=True)
        elif not self.broker.receives:
            session.refuse("This broker is not ready: try another, or again in a moment.")
        elif said.role == VISITOR:
            self._tell_visitor(session, said)
        elif said.role == CLIENT:
            self._admit(session, said)
        else:
            session.refuse(f"nobody has the role {said.role!r}", final=True)

    def _tell_visitor(self, session: Session, said: Hello) -> None:
        if said.table != table_of(self.broker.entries):
            reason = "Brokers of one cluster have one table, and this one has another: give all the same."
            session.refuse(reason, final=True)
            return
        known = self._known_life(split_name(said.name)[0])
        news = None if known is None else self.broker.managed.table.entries.get(known)
        if said.fresh and news is not None and not news.final and news.site != said.site:
            reason = f"There is a broker {news.name} at {news.site or '?'}: choose another --name."
            session.refuse(reason, final=True)
            return
        session.say(self._welcome(self._next_name(said.name) if said.fresh else said.name))

    def _admit(self, session: Session, said: Hello) -> None:
        try:
            check_process(said.name)
        except InputError as fault:
            session.refuse(str(fault), final=True)
            return
        name = self._next_name(said.name) if said.fresh else said.name
        if 0 <= said.life < split_name(name)[1] - 1:
            session.refuse(f"Another client has come under the name {split_name(name)[0]}.", final=True)
            return
        session.peer = name
        session.say(self._welcome(name))
        self.broker.hub.welcome(session)
        log.debug("client %s connected", name)

    def _welcome(self, name: str) -> Welcome:
        broker = self.broker
        brokers = {n.name: n.site for n in broker.managed.table.present() if n.role == "broker" and n.site}
        return Welcome(
            VERSION, name, broker.name, table_of(broker.entries), broker.run, broker.clock.now_us(), brokers,
            machine_id(), broker.clock.base_us,
        )  # fmt: skip

    def _known_life(self, base: str) -> str | None:
        return next((name for name in self.broker.managed.table.entries if split_name(name)[0] == base), None)

    def _next_name(self, name: str) -> str:
        """A name that nobody had before: the one asked for, or its next incarnation."""
        base = split_name(name)[0]
        known = self._known_life(base)
        names = (known, *self.broker.hub.sessions)
        lives = [split_name(one)[1] for one in names if one and split_name(one)[0] == base]
        return f"{base}.{max(lives) + 1}" if lives else base
