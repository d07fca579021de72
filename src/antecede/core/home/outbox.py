"""Publications of a client of `home` that no home has acknowledged (PROTOCOLS s3.6): sent again, under their id.

A publication is acknowledged when it is safe: another broker has it too. Until the home says that it came (RECEIVED), a
publication is sent again after a round trip; from then on when it should have become safe. Each pause is twice as long
as the one before, up to a bound, and pauses begin longer where round trips have lately taken long: a home that is slow
has too much to do already, and repeats make it slower. Past its deadline the header of a publication goes instead, so
that no message waits for it; a home says that a header is safe after `grace_us` at the latest. Example: Ann publishes
a:1 and hears nothing: her client sends it again after `retry_us`, after twice that, and so on. RECEIVED comes: the next
copy leaves when PUBLISHED should have come.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from antecede.core.frames import Publish
from antecede.core.message import Envelope, header_of, in_time

if TYPE_CHECKING:
    from antecede.core.home.client import Client

__all__ = ["Outbox", "Unacked"]


LONGEST = 16
"""Times as long as it takes to become safe: the longest pause. Raising it costs time after many losses in a row,
lowering it work at a home that does not keep up."""


class Unacked:
    __slots__ = ("envelope", "place", "resend_at", "sent_us", "tries")

    def __init__(self, envelope: Envelope, place: int) -> None:
        self.envelope = envelope
        self.place = place
        """Among all that was published: whatever is due together goes in that order."""
        self.sent_us = self.resend_at = 0
        self.tries = 0
        """How often it was sent to this home."""


class Outbox:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.unacked: dict[str, Unacked] = {}
        self._due: list[tuple[int, int, str]] = []
        """When what is to be sent again; some entries are over, since it is safe or its time has changed."""
        self._published = 0
        self._trip_us = 0
        """How long round trips to this home have lately taken, where that is longer than is expected of them."""
        self._has_receipts = False
        """Whether this home says RECEIVED. A home that is alone says PUBLISHED at once, and nothing before it."""

    def publish(self, envelope: Envelope, now_us: int) -> None:
        client = self.client
        self._published += 1
        one = self.unacked[envelope.message.id] = Unacked(envelope, self._published)
        self._schedule(one, now_us + self._pause_us(one, now_us))
        if client.home is not None:
            client.send((client.home,), Publish((envelope,)))

    def received(self, ids: Iterable[str], now_us: int) -> None:
        """The home broker says that it has these publications."""
        self._has_receipts = True
        for one in [self.unacked[message_id] for message_id in ids if message_id in self.unacked]:
            self._came(one, now_us)
            self._schedule(one, now_us + self._grown_us(self._safe_us(), one))

    def safe(self, ids: Iterable[str], now_us: int) -> None:
        """Publications are safe. A home that is alone says so at the end of the round trip; other homes say it
        later."""
        for message_id in ids:
            one = self.unacked.pop(message_id, None)
            if one is not None and not self._has_receipts:
                self._came(one, now_us)

    def _came(self, one: Unacked, now_us: int) -> None:
        trip_us = max(now_us - one.sent_us, self._trip_us - (self._trip_us >> 3))
        self._trip_us = trip_us if trip_us > self.client.settings.retry_us else 0

    def publish_again(self, now_us: int) -> None:
        """There is another home."""
        self._trip_us, self._has_receipts = 0, False
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
            self._schedule(one, now_us + self._pause_us(one, now_us))
            over = not in_time(one.envelope, now_us - client.settings.slack_us)
            if over:
                one.envelope = header_of(one.envelope)
            client.send((client.home,), Publish((one.envelope,), headers_only=over))

    def _schedule(self, one: Unacked, at_us: int) -> None:
        one.resend_at = at_us
        heappush(self._due, (at_us, one.place, one.envelope.message.id))

    def _pause_us(self, one: Unacked, now_us: int) -> int:
        """A publication is sent now: how long to wait before it is sent again. To be received takes a round trip; to be
        safe, a round of digests too."""
        one.tries += 1
        one.sent_us = now_us
        return self._grown_us(max(self.client.settings.retry_us, 2 * self._trip_us), one)

    def _grown_us(self, pause_us: int, one: Unacked) -> int:
        return min(pause_us << min(max(0, one.tries - 1), 8), LONGEST * self._safe_us())

    def _safe_us(self) -> int:
        settings = self.client.settings
        return 2 * settings.round_us + 2 * settings.retry_us
