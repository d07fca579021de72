"""What a client of `home` has delivered or published, as far as it remembers: the causes that `after` may name.

Decided here: how many stamps are kept, that a cause which was never had is refused, and that one which is forgotten
widens the causes to everything delivered so far.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from antecede.core.message import Envelope, Stamp, cut_of, is_loose, newest_of, raise_to, split_id
from antecede.core.names import short
from antecede.errors import InputError

__all__ = ["RECENT", "REMEMBERED", "Had"]

REMEMBERED = 16_384
"""Stamps of delivered messages kept for `after=`; older ones widen to everything delivered. Costs memory only."""
RECENT = 256
"""Of those, so many are looked at to say what superseded a message. Costs time for each that is."""


class Had:
    __slots__ = ("_forgotten", "_stamps", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._stamps: dict[str, Stamp] = {}
        self._forgotten: dict[str, int] = {}
        """Per sender, the newest whose stamp it had and no longer has."""

    def add(self, envelope: Envelope) -> None:
        stamps = self._stamps
        stamps[envelope.message.id] = envelope.stamp
        if len(stamps) > REMEMBERED:
            oldest = next(iter(stamps))
            del stamps[oldest]
            raise_to(self._forgotten, dict((split_id(oldest),)))

    def stamps_of(self, ids: Sequence[str]) -> list[Stamp] | None:
        """Of the ordered ones among these causes; None: some are forgotten. Those it never had are refused: of a sender
        some of whose it has forgotten, older ones may be."""
        for one in ids:
            if one not in self._stamps:
                series, _, seq = str(one).rpartition(":")
                if not (seq.isascii() and seq.isdigit() and int(seq) <= self._forgotten.get(series, 0)):
                    raise InputError(
                        f"{self.name} never had {short(one)}: `after` names messages that were delivered here or "
                        "published here."
                    )
        known = [self._stamps.get(one) for one in ids]
        if None in known:
            return None
        return [stamp for stamp in known if stamp is not None and not is_loose(stamp.own[0][0])]

    def causes_of(self, message_id: str) -> tuple[str, ...]:
        """What a delivered message follows, as ids: the newest of each sender. Empty where that is forgotten."""
        stamp = self._stamps.get(message_id)
        return () if stamp is None else cut_of(newest_of(stamp.covers))

    def recent_after(self, stamp: Stamp) -> tuple[str, ...]:
        """The newest that was delivered or published, not long ago, and follows a message."""
        for message_id, one in islice(reversed(self._stamps.items()), RECENT):
            if any(n <= one.covers.get(stream, 0) for stream, n in stamp.own):
                return (message_id,)
        return ()
