"""What a client of `home` published and no home has acknowledged (PROTOCOLS s3.6): sent again, under the same id.

Acknowledged means safe: another broker has it too. Until a home says that it came, it is sent again after a round trip,
then ever more rarely; from then on when it should have become safe. Past its deadline its header goes instead, so that
nobody waits for it; a home says that that is safe after `grace_us` at the latest.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from antecede.core.effects import Send
from antecede.core.frames import Publish
from antecede.core.message import Envelope, header_of
from antecede.core.spread.answer import in_time

if TYPE_CHECKING:
    from antecede.core.client import Client

__all__ = ["Outbox", "Unacked"]


class Unacked:
    __slots__ = ("envelope", "place", "resend_at", "tries")

    def __init__(self, envelope: Envelope, place: int) -> None:
        self.envelope = envelope
        self.place = place
        """Among all that was published: whatever is due together goes in that order."""
        self.resend_at = 0
        self.tries = 0
        """How often it was sent to this home, none of them known to have come."""


class Outbox:
    __slots__ = ("_due", "_published", "client", "unacked")

    def __init__(self, client: Client) -> None:
        self.client = client
        self.unacked: dict[str, Unacked] = {}
        self._due: list[tuple[int, int, str]] = []
        """When what is to be sent again; some entries are over, since it is safe or its time has changed."""
        self._published = 0

    def publish(self, envelope: Envelope, now_us: int) -> None:
        client = self.client
        self._published += 1
        one = self.unacked[envelope.message.id] = Unacked(envelope, self._published)
        self._schedule(one, now_us + self._pause_us(one))
        if client.home is not None:
            client.out.append(Send((client.home,), Publish((envelope,))))

    def received(self, ids: Iterable[str], now_us: int) -> None:
        """Its home has them."""
        for one in [self.unacked[message_id] for message_id in ids if message_id in self.unacked]:
            self._schedule(one, now_us + self._safe_us())

    def safe(self, ids: Iterable[str]) -> None:
        for message_id in ids:
            self.unacked.pop(message_id, None)

    def publish_again(self, now_us: int) -> None:
        """There is another home."""
        for one in self.unacked.values():
            one.tries = 0
            self._schedule(one, now_us)
        self.resend(now_us)

    def next_us(self) -> int | None:
        due = self._due
        while due:
            at_us, _, message_id = due[0]
            one = self.unacked.get(message_id)
            if one is not None and one.resend_at == at_us:
                return at_us
            heappop(due)
        return None

    def resend(self, now_us: int) -> None:
        client = self.client
        if client.home is None:
            return
        due: dict[int, Unacked] = {}
        while (at_us := self.next_us()) is not None and at_us <= now_us:
            _, place, message_id = heappop(self._due)
            due[place] = self.unacked[message_id]
        for _, one in sorted(due.items()):
            self._schedule(one, now_us + self._pause_us(one))
            over = not in_time(one.envelope, now_us - client.settings.slack_us)
            if over:
                one.envelope = header_of(one.envelope)
            client.out.append(Send((client.home,), Publish((one.envelope,), headers_only=over)))

    def _schedule(self, one: Unacked, at_us: int) -> None:
        one.resend_at = at_us
        heappush(self._due, (at_us, one.place, one.envelope.message.id))

    def _pause_us(self, one: Unacked) -> int:
        """To be received takes a round trip (twice as long is waited each time); to be safe, a round of digests too."""
        one.tries += 1
        return min(self.client.settings.retry_us << min(one.tries - 1, 8), self._safe_us())

    def _safe_us(self) -> int:
        settings = self.client.settings
        return 2 * settings.round_us + 2 * settings.retry_us
