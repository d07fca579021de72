"""Topic aliases of one connection, both ways: a number instead of a topic that was said before.

Decided here: a client's aliases end with its connection, and one beyond what it was allowed, or never said, closes it;
towards the client the first topics of a connection get the numbers there are, and keep them.
"""

from __future__ import annotations

from antecede.live.mqtt.packets import Breach

__all__ = ["MAX_ALIASES", "Aliases"]

MAX_ALIASES = 64
"""How many topics a client may number. Costs memory per connection."""
INVALID = 0x94


class Aliases:
    def __init__(self, theirs: int) -> None:
        """`theirs`: how many the client allows this broker; 0: none."""
        self._said: dict[int, str] = {}
        self._given: dict[str, int] = {}
        self._theirs = theirs

    def topic(self, topic: str, alias: int | None) -> str:
        """What a PUBLISH with this topic and alias is published to."""
        if alias is None:
            return topic
        if not 1 <= alias <= MAX_ALIASES:
            raise Breach(INVALID, f"topic alias {alias}: there are {MAX_ALIASES}")
        if topic:
            self._said[alias] = topic
            return topic
        known = self._said.get(alias)
        if known is None:
            raise Breach(INVALID, f"topic alias {alias}, which was not said before")
        return known

    def shorten(self, topic: str) -> tuple[str, int | None]:
        """How to say a topic to the client: with an alias from now on, by its alias alone, or as it is."""
        known = self._given.get(topic)
        if known is not None:
            return "", known
        if len(self._given) >= self._theirs:
            return topic, None
        alias = self._given[topic] = len(self._given) + 1
        return topic, alias
