"""What a client may say to a broker that goes by keys: every greeting and every frame is looked at here.

Decided here: a client shows a token and is called as that allows, a broker shows a proof; a client publishes under its
own name, to topics and subscribes to filters that it has a right to, within its limits; it speaks of itself only, so
that it can declare nobody dead and invent nobody. One that asks for what it may not is told so and its connection ends:
clients of this package know their rights and do not ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from antecede.core.frames import Attach, Frame, Fuse, Grow, Out, Ping, PingRequest, Pong, Publish, Sync
from antecede.core.membership.news import News, beats
from antecede.live.keys.limits import Bucket, Limits
from antecede.live.keys.refusals import Refusals
from antecede.live.keys.rights import WRONG, Refusal, Rights
from antecede.live.keys.store import Keys
from antecede.live.session import VISITOR, Hello, Session, weight

__all__ = ["Bearer", "Guard"]

TOPICS = 1024
"""Topics of one client of which it is remembered that it may publish to them."""

TOPIC, FILTER, NAME, SIZE, NEWS = (
    "topic without right",
    "filter without right",
    "wrong name",
    "too large",
    "news of others",
)
WATCH, RATE, SUBSCRIPTIONS, CONNECTIONS = (
    "page without right",
    "too fast",
    "too many subscriptions",
    "too many connections",
)


class Bearer:
    """The client at the other end of a connection, and what it may do."""

    __slots__ = ("bucket", "rights", "topics")

    def __init__(self, rights: Rights, limits: Limits) -> None:
        self.rights = rights
        self.bucket = Bucket(limits.rate)
        self.topics: dict[str, None] = {}


class Guard:
    def __init__(
        self,
        keys: Keys,
        limits: Limits,
        refusals: Refusals,
        now_s: Callable[[], float],
        sessions: Callable[[], Sequence[Session]],
        known: Callable[[str], News | None],
    ) -> None:
        """`sessions`: the clients that are connected; `known`: what membership says of a process."""
        self.keys, self.limits, self.refusals = keys, limits, refusals
        self._now_s, self._sessions, self._known = now_s, sessions, known

    # -- greetings -------------------------------------------------------------------------------------------------

    def admit(self, session: Session, said: Hello) -> Refusal | None:
        """Whether whoever says this may come in; why not, if not."""
        refusal = self._turned_away(session, said)
        if refusal is not None:
            self.refusals.add(refusal.reason, f"{said.role} {said.name!r}"[:80], refusal.sentence)
        return refusal

    def _turned_away(self, session: Session, said: Hello) -> Refusal | None:
        if said.role == VISITOR:
            if self.keys.proves(said.token, self._now_s()):
                return None
            return Refusal(
                WRONG, "This broker talks to brokers that have its cluster's keys: give them the same --keys."
            )
        rights = self.keys.rights(said.token, self._now_s())
        if isinstance(rights, Refusal):
            return rights
        if not rights.may_be_called(said.name):
            return Refusal(NAME, rights.why_not_called(said.name))
        others = [
            one
            for one in self._sessions()
            if one.bearer is not None and one.bearer.rights.id == rights.id and one.peer != said.name
        ]
        if len(others) >= self.limits.connections:
            return Refusal(CONNECTIONS, f"There are {len(others)} connections with this token: close some.")
        session.bearer = Bearer(rights, self.limits)
        return None

    def judged(self, token: str, who: str) -> Rights | Refusal:
        """What somebody may do who shows this by another door."""
        rights = self.keys.rights(token, self._now_s())
        if isinstance(rights, Refusal):
            self.refusals.add(rights.reason, who, rights.sentence)
        return rights

    def may_watch(self, token: str) -> bool:
        """Whether somebody who shows this may read a broker's numbers."""
        rights = self.keys.rights(token, self._now_s())
        if isinstance(rights, Rights) and rights.watch:
            return True
        self.refusals.add(rights.reason if isinstance(rights, Refusal) else WATCH, "a reader of pages")
        return False

    # -- frames ----------------------------------------------------------------------------------------------------

    def passed(self, session: Session, frames: list[Frame]) -> list[Frame]:
        """The frames of a client that reach the machine. If it may not send one, the connection ends, and the rest is
        dropped."""
        bearer = session.bearer
        assert bearer is not None, "welcomed without a token"
        kept: list[Frame] = []
        cost = 0
        for frame in frames:
            cost += weight(frame)
            refusal = self._why_not(frame, session, bearer)
            if refusal is not None:
                self.refusals.add(refusal.reason, session.peer, refusal.sentence)
                session.refuse(refusal.sentence, final=True)
                break
            cleaned = self._cleaned(frame, session)
            if cleaned is not None:
                kept.append(cleaned)
        wait_s = bearer.bucket.take(cost, asyncio.get_running_loop().time())
        if wait_s > 0:
            self.refusals.add(RATE, session.peer, "it is read more slowly")
            session.hold(wait_s)
        return kept

    def _why_not(self, frame: Frame, session: Session, bearer: Bearer) -> Refusal | None:
        if isinstance(frame, Publish):
            return self._why_not_publish(frame, session, bearer)
        if isinstance(frame, Attach | Grow | Fuse):
            if len(frame.filters) > self.limits.subscriptions:
                most = self.limits.subscriptions
                return Refusal(SUBSCRIPTIONS, f"A client has at most {most} filters here, not {len(frame.filters)}.")
            for filter in frame.filters:
                if not bearer.rights.may_subscribe(filter, session.peer):
                    return Refusal(FILTER, bearer.rights.why_not_subscribe(filter, session.peer))
        return None

    def _why_not_publish(self, frame: Publish, session: Session, bearer: Bearer) -> Refusal | None:
        rights, topics = bearer.rights, bearer.topics
        for envelope in frame.envelopes:
            message = envelope.message
            if message.sender != session.peer:
                return Refusal(NAME, f"{session.peer} cannot publish for {message.sender!r}.")
            if len(message.payload) > self.limits.size:
                most = self.limits.size
                return Refusal(SIZE, f"A message has at most {most} bytes here, not {len(message.payload)}.")
            for topic in message.topics:
                if topic not in topics:
                    if not rights.may_publish(topic):
                        return Refusal(TOPIC, rights.why_not_publish(topic))
                    if len(topics) >= TOPICS:
                        topics.clear()
                    topics[topic] = None
        return None

    def _cleaned(self, frame: Frame, session: Session) -> Frame | None:
        """Without what a client has no say in; None: nothing is left."""
        if isinstance(frame, Out | PingRequest) or (isinstance(frame, Pong) and frame.of != session.peer):
            self.refusals.add(NEWS, session.peer)
            return None
        if isinstance(frame, Ping | Pong | Sync):
            news = tuple(one for one in frame.news if self._may_say(one, session.peer))
            if len(news) < len(frame.news):
                self.refusals.add(NEWS, session.peer)
                return replace(frame, news=news)
        return frame

    def _may_say(self, news: News, peer: str) -> bool:
        """Of itself as a client; and of others what changes nothing, for then it does not matter."""
        if news.name == peer:
            return news.role == "subscriber"
        known = self._known(news.name)
        return known is not None and not beats(news, known)

    # -- in time ---------------------------------------------------------------------------------------------------

    def look_at_sessions(self) -> None:
        """Tokens expire and are revoked while their bearers are connected. They may come again, with a new one."""
        for session in list(self._sessions()):
            bearer = session.bearer
            if bearer is None:
                continue
            refusal = self.keys.still(bearer.rights, self._now_s())
            if refusal is not None:
                self.refusals.add(refusal.reason, session.peer, refusal.sentence)
                session.refuse(refusal.sentence)
