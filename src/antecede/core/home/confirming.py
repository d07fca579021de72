"""When a publication is safe (PROTOCOLS s3.6, PUBACK): another broker that carries it has it; at once, if the home
is the only one that carries it. What nobody carries now is not safe until a broker has come that does.

A broker that takes a relayed publication from its home says at once that it keeps it: one frame for each home and turn
(KEPT). Digests say the same, later, in case that frame was lost. The home acknowledges what is safe in one frame for
each client and turn. Until a publication is safe peers may ask the home for it, also if the home itself passed over it.
Example: Ann publishes m at A; A relays m to B and C; B's KEPT reaches A: m is safe, whatever becomes of A.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from antecede.core.frames import Kept, Published
from antecede.core.marks import join
from antecede.core.message import Envelope

if TYPE_CHECKING:
    from antecede.core.home.broker import HomeBroker
    from antecede.core.order.numbered import Log

__all__ = ["Confirming"]

ACKNOWLEDGED = 4_096
"""So many acknowledgements, and up to twice as many, are remembered for attachments that they overtake. Costs
memory."""


class Confirming:
    def __init__(self, broker: HomeBroker) -> None:
        self.broker, self.stability = broker, broker.stability
        self._unsafe: dict[str, tuple[str, Envelope]] = {}
        """Publications that no other broker is known to have: id -> (client, message)."""
        self._numbers: dict[str, dict[int, str]] = {}
        """The same by stream: number -> id. A digest speaks of streams, and thousands of publications share a few."""
        self._elsewhere: dict[str, int] = {}
        """Per stream, the newest that some other broker is known to have."""
        self._acknowledged: dict[str, str] = {}
        """The publications that became safe last: id -> client. An attachment that was sent before names them still."""
        self._safe: dict[str, list[str]] = {}
        """Per client, what became safe in this turn."""
        self._keeps: dict[str, list[str]] = {}
        """Per home, what came from it in this turn and is kept here."""

    # -- at the home -----------------------------------------------------------------------------------------------

    def publish(self, envelope: Envelope, client: str, *, alone: bool) -> bool:
        """A client's publication is here; whether it is safe. `alone`: this broker carries it, and no other."""
        message_id = envelope.message.id
        if message_id in self._unsafe:  # a repeat, which a client might stamp anew
            self._forget_numbers(message_id)
        if alone or self._is_safe(envelope):
            self._unsafe.pop(message_id, None)
            self._tell_safe(message_id, client)
            return True
        self._unsafe[message_id] = (client, envelope)
        for stream, n in envelope.stamp.own:
            self._numbers.setdefault(stream, {})[n] = message_id
        return False

    def unsafe(self) -> Sequence[Envelope]:
        return [envelope for _, envelope in self._unsafe.values()]

    def streams(self) -> set[str]:
        """The streams of publications that are not safe yet."""
        return set(self._numbers)

    def newest(self) -> dict[str, int]:
        """Per stream, the newest publication that is not safe yet."""
        return {stream: max(numbers) for stream, numbers in self._numbers.items()}

    def on_kept(self, frame: Kept, sender: str) -> None:
        """Another broker has these publications. Only a broker that carries a publication will keep it."""
        for message_id in frame.ids:
            waiting = self._unsafe.get(message_id)
            if waiting is not None and sender in self.broker.carriers_of(waiting[1].message.topics):
                self._acknowledge(message_id)

    def compared(self, have: Mapping[str, int]) -> None:
        join(self._elsewhere, have)
        elsewhere, settled = self._elsewhere, self.stability.settled
        safe: dict[str, None] = {}
        for stream, numbers in self._numbers.items():
            newest = max(elsewhere.get(stream, 0), settled.get(stream, 0))
            if min(numbers) <= newest:
                safe.update((message_id, None) for n, message_id in numbers.items() if n <= newest)
        for message_id in safe if len(self._numbers) < 2 else [one for one in self._unsafe if one in safe]:
            self._acknowledge(message_id)

    def viewed(self) -> None:
        """The view changed: a publication that this broker carries, and no other any more, is as safe as it can be."""
        for message_id, (_, envelope) in list(self._unsafe.items()):
            topics = envelope.message.topics
            if self.broker.interest.wants(topics) and not self.broker.carriers_of(topics):
                self._acknowledge(message_id)

    def rounded(self, now_us: int) -> bool:
        """A round has passed; whether any publication is not safe yet."""
        settled = self.stability.settled
        for stream in [stream for stream, n in self._elsewhere.items() if n <= settled.get(stream, 0)]:
            del self._elsewhere[stream]
        over_us = now_us - self.broker.settings.grace_us
        deadlines = [(one, envelope.message.deadline_us) for one, (_, envelope) in self._unsafe.items()]
        for message_id, deadline_us in deadlines:
            if deadline_us is not None and deadline_us < over_us:
                self._acknowledge(message_id)  # nobody takes it any more, and its header has been told
        return bool(self._unsafe)

    def _is_safe(self, envelope: Envelope) -> bool:
        elsewhere, settled = self._elsewhere, self.stability.settled
        return any(n <= max(elsewhere.get(s, 0), settled.get(s, 0)) for s, n in envelope.stamp.own)

    def _acknowledge(self, message_id: str) -> None:
        self._forget_numbers(message_id)
        client, _ = self._unsafe.pop(message_id)
        self._tell_safe(message_id, client)

    def _tell_safe(self, message_id: str, client: str) -> None:
        acknowledged = self._acknowledged
        acknowledged.pop(message_id, None)
        acknowledged[message_id] = client
        if len(acknowledged) > 2 * ACKNOWLEDGED:  # many at once: a dict is slow to find its first one time and again
            for oldest in list(islice(acknowledged, ACKNOWLEDGED)):
                del acknowledged[oldest]
        if client in self.broker.logs:
            self.broker.logs[client].safe(message_id)
        self._safe.setdefault(client, []).append(message_id)

    def _forget_numbers(self, message_id: str) -> None:
        for stream, n in self._unsafe[message_id][1].stamp.own:
            numbers = self._numbers.get(stream, {})
            if numbers.get(n) == message_id:
                del numbers[n]
                if not numbers:
                    del self._numbers[stream]

    def attached(self, client: str, log: Log) -> None:
        """Publications that became safe while this attachment was on its way: its client publishes none again."""
        for message_id in [one for one, whose in self._acknowledged.items() if whose == client]:
            log.safe(message_id)

    def retire(self, marks: Mapping[str, int]) -> None:
        for stream in marks:
            self._elsewhere.pop(stream, None)

    # -- elsewhere -------------------------------------------------------------------------------------------------

    def took(self, envelopes: Sequence[Envelope], home: str) -> None:
        """Publications came from their home. Those that were late, or lie behind already, are not kept here."""
        broker = self.broker
        if home not in broker.all_brokers:
            return
        ids = [envelope.message.id for envelope in envelopes]
        kept = [one for one in ids if one in broker.store or broker.holds(one)]
        if kept:
            self._keeps.setdefault(home, []).extend(kept)

    # -- the end of a turn -----------------------------------------------------------------------------------------

    def flush(self) -> None:
        for home, ids in self._keeps.items():
            self.broker.send((home,), Kept(tuple(ids)))
        for client, ids in self._safe.items():
            self.broker.send((client,), Published(tuple(ids)))
        self._keeps.clear()
        self._safe.clear()
