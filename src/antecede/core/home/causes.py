"""The causes that a client may declare (`after=`): messages that it delivered or published, and results fused for it.

A fused result stands for the cut that it is of. Stamps are kept for so many of the newest causes. A cause that the
client had and has forgotten widens to everything delivered so far; one that it never had is refused. Example: Bob
delivered p:1 to p:20000 and publishes after p:1, whose stamp is forgotten: his message follows all 20000.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from antecede.core.marks import beyond, waited_for
from antecede.core.message import Envelope, Stamp, split_id
from antecede.core.names import short
from antecede.errors import InputError

__all__ = ["RECENT", "REMEMBERED", "Causes"]

REMEMBERED = 16_384
"""So many stamps of delivered messages, and up to an eighth more, are kept for `after=`; older ones widen to everything
delivered. Costs memory only."""

RECENT = 256
"""Among the stamps kept, so many of the newest are searched for what superseded a message. Costs time for each message
that is superseded."""


def cut_stamp(marks: Mapping[str, int], rank: int) -> Stamp:
    """As if of a message that follows them."""
    return Stamp(tuple(marks.items())[:1], (), marks, rank)


class Causes:
    def __init__(self, name: str) -> None:
        self.name = name
        self._stamps: dict[str, Stamp] = {}
        self._cuts: dict[str, tuple[str, ...]] = {}
        """Fused results -> the messages of their cuts: it is those that follow-ups follow."""
        self.forgotten: dict[str, int] = {}
        """Per sender, the newest that was had and is forgotten: of older ones nobody can tell whether they were."""

    def remember(self, envelope: Envelope) -> None:
        self.remember_all((envelope,))

    def remember_all(self, envelopes: Iterable[Envelope]) -> None:
        stamps = self._stamps
        for envelope in envelopes:
            stamps[envelope.message.id] = envelope.stamp
        self._forget_oldest()

    def remember_cut(self, result: str, cut: tuple[str, ...], marks: Mapping[str, int], rank: int) -> None:
        """A result that may be named as a cause; `marks` cover its cut."""
        self._cuts[result] = cut
        self._stamps[result] = cut_stamp(marks, rank)
        self._forget_oldest()

    def as_recorded(self, after: Sequence[str]) -> tuple[str, ...]:
        """The messages that these are or stand for."""
        return tuple(dict.fromkeys(one for name in after for one in self._cuts.get(name, (name,))))

    def _forget_oldest(self) -> None:
        """Stamps beyond the bound go, many at once: a dict is slow to find its first one time and again."""
        if len(self._stamps) > REMEMBERED + REMEMBERED // 8:
            for oldest in list(islice(self._stamps, len(self._stamps) - REMEMBERED)):
                del self._stamps[oldest]
                self._cuts.pop(oldest, None)
                series, seq = split_id(oldest)
                self.forgotten[series] = max(seq, self.forgotten.get(series, 0))

    def recent_after(self, stamp: Stamp) -> tuple[str, ...]:
        """The newest that was had, not long ago, and follows a message."""
        for message_id, one in islice(reversed(self._stamps.items()), RECENT):
            if message_id not in self._cuts and any(n <= one.covers.get(stream, 0) for stream, n in stamp.own):
                return (message_id,)
        return ()

    def known(self, message_id: str) -> Stamp | None:
        return self._stamps.get(message_id)

    def stamps(self, after: Sequence[str]) -> list[Stamp] | None:
        """Stamps of the declared causes, without unordered ones, which no message follows; None: one of the causes is
        forgotten."""
        known = [self._stamps.get(one) for one in after]
        for one, stamp in zip(after, known, strict=True):
            if stamp is None and not self._was_had(one):
                raise InputError(
                    f"{self.name} never had {short(one)}: `after` names messages that were delivered or published here."
                )
        if None in known:
            return None
        given = (stamp for one, stamp in zip(after, known, strict=True) if stamp is not None and one not in self._cuts)
        return waited_for(given)

    def cuts(self, after: Sequence[str]) -> list[Stamp]:
        """Stamps of the fused results among the declared causes: the messages that a result covers need never have been
        here."""
        return [self._stamps[one] for one in after if one in self._cuts and self._stamps[one].covers]

    def retire(self, marks: Mapping[str, int]) -> None:
        """Streams are over everywhere, up to these marks: no message need name them any more."""
        for result in self._cuts:
            self._stamps[result] = cut_stamp(beyond(self._stamps[result].covers, marks), self._stamps[result].rank)

    def _was_had(self, message_id: str) -> bool:
        series, _, seq = str(message_id).rpartition(":")
        return seq.isascii() and seq.isdigit() and int(seq) <= self.forgotten.get(series, 0)
