"""A snapshot of a full store goes in pages, a few at a time: it keeps neither the donor nor the newcomer busy for long.

The donor cuts the snapshot once and sends WINDOW pages. The newcomer asks for the next ones when those have come, and
for the first missing one again when nothing came for a while. A newcomer that asks the same donor for a snapshot again
gets the same pages, unless they were cut long ago. Example: A keeps 5,000 messages, which are 20 pages; C gets pages 0
to 7, asks for 8 and those after it, gets 8 to 15 without 12, asks for 12, and in the end says that it has all 20.

Without pages a newcomer would ask again, and ask others, while the first answer is still on its way; each of those
answers takes as long, and a cluster that is busy with snapshots declares its members dead.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from antecede.core.frames import Snapshot, SnapshotPage
from antecede.core.message import Envelope

__all__ = ["PAGE", "Incoming", "Outgoing", "pages_of", "whole_of"]

PAGE = 256
"""Messages, or headers, of one page. Raising it costs longer turns at both ends; lowering it, frames."""
PAGE_BYTES = 32_768
"""Bytes of payloads of one page: it still fits a datagram on the loopback."""
WINDOW = 8
"""Pages that are sent for one request. Raising it costs bursts; lowering it, round trips."""
TRIES = 6
"""How often in a row a donor is asked for a page that does not come, each time twice as patiently."""


class Outgoing:
    """Snapshots that a donor is giving: per newcomer its pages, their number, and until when they are given again."""

    def __init__(self) -> None:
        self._given: dict[str, tuple[int, Sequence[Snapshot], int]] = {}
        self._number = 0

    def cut(self, to: str, snapshot: Snapshot, until_us: int) -> bool:
        """Whether the snapshot goes in pages: then the newcomer may ask for them."""
        pages = pages_of(snapshot)
        if len(pages) == 1:
            return False
        self._number += 1
        self._given[to] = (self._number, pages, until_us)
        return True

    def is_giving(self, to: str, now_us: int) -> bool:
        return to in self._given and now_us < self._given[to][2]

    def pages(self, to: str, number: int | None, first: int) -> list[SnapshotPage]:
        """The pages that a newcomer asks for. `number` None: of the snapshot that it is being given."""
        known, pages, _ = self._given.get(to, (0, (), 0))
        if not pages or number not in (None, known):
            return []
        if first >= len(pages):  # it has them all
            del self._given[to]
        some = enumerate(pages[first : first + WINDOW], first)
        return [SnapshotPage(known, index, len(pages), page) for index, page in some]

    def keep_only(self, members: Container[str]) -> None:
        self._given = {to: given for to, given in self._given.items() if to in members}


class Transfer:
    __slots__ = ("asked_us", "count", "first", "number", "pages", "reach", "tries", "trip_us")

    def __init__(self, number: int, count: int) -> None:
        self.number = number
        self.count = count
        self.pages: dict[int, Snapshot] = {}
        self.first = 0
        """The first page that has not come; `count` if all have."""
        self.reach = WINDOW
        """The pages before this one have been asked for."""
        self.tries = 0
        self.asked_us: int | None = None
        """When a page was last asked for, if none came since."""
        self.trip_us = 0
        """How long the last answer took: with a donor that is far away, or busy, longer than a first try waits. Counted
        from the last request, not the first: what was lost says nothing of how far away the donor is (Karn, Partridge
        1987), and counted in, each loss would triple the wait for the next one."""

    def take(self, index: int, page: Snapshot, now_us: int) -> None:
        self.pages[index] = page
        self.tries = 0
        if self.asked_us is not None:
            self.trip_us, self.asked_us = now_us - self.asked_us, None
        while self.first in self.pages:
            self.first += 1

    def ask(self, now_us: int) -> int:
        """The page to ask for: it and those after it are on their way from now on."""
        self.reach = self.first + WINDOW
        self.asked_us = now_us
        return self.first


class Incoming:
    """The snapshots that a newcomer is being given, by donor."""

    def __init__(self) -> None:
        self.by_donor: dict[str, Transfer] = {}

    def take(self, frame: SnapshotPage, donor: str, now_us: int) -> int | None:
        """A page came. The page to ask for next, with those after it; None while enough of them are on their way."""
        transfer = self.by_donor.get(donor)
        if transfer is None or transfer.number < frame.number:
            transfer = self.by_donor[donor] = Transfer(frame.number, frame.count)
        if frame.number != transfer.number or frame.count != transfer.count:
            return None
        transfer.take(frame.index, frame.snapshot, now_us)
        return None if transfer.first < min(transfer.reach, transfer.count) else transfer.ask(now_us)

    def complete(self, donor: str) -> Snapshot | None:
        """The whole snapshot of a donor, if all of its pages are here: it is taken out."""
        transfer = self.by_donor.get(donor)
        if transfer is None or transfer.first < transfer.count:
            return None
        del self.by_donor[donor]
        return whole_of([transfer.pages[index] for index in range(transfer.count)])

    def ask_again(self, now_us: int) -> Iterator[tuple[str, int, int]]:
        """Nothing came for a while: (donor, number, page) to ask for once more. A donor that was asked often enough is
        left out."""
        for donor, transfer in self.by_donor.items():
            if transfer.tries < TRIES:
                transfer.tries += 1
                yield donor, transfer.number, transfer.ask(now_us)

    def patience_us(self, retry_us: int) -> int:
        """How long the newcomer waits now before it asks again; `retry_us` for a first answer."""
        waits = [(retry_us << transfer.tries) + 2 * transfer.trip_us for transfer in self.by_donor.values()]
        return max(waits, default=retry_us)

    def drop(self, donor: str) -> tuple[Envelope, ...]:
        """The donor does not answer any more. What it gave may be had nowhere else."""
        pages = self.by_donor.pop(donor).pages
        return tuple(envelope for index in sorted(pages) for envelope in pages[index].envelopes)

    def silent(self) -> list[str]:
        """The donors that were asked often enough."""
        return [donor for donor, transfer in self.by_donor.items() if transfer.tries >= TRIES]


def pages_of(snapshot: Snapshot) -> list[Snapshot]:
    """The first page says where to begin; the others continue what it lists. A context graph goes as a whole: no
    message can be judged before all its nodes are there."""
    if snapshot.nodes:
        return [snapshot]
    batches = list(_batches(snapshot.envelopes))
    rest = [Snapshot({}, (), envelopes) for envelopes in batches[1:]]
    rest += [Snapshot({}, (), (), headers) for headers in _batches(snapshot.headers)]
    if len(rest) == bool(snapshot.headers):
        return [snapshot]
    first = Snapshot(
        snapshot.past, snapshot.cut, batches[0] if batches else (), origins=snapshot.origins, dropped=snapshot.dropped
    )
    return [first, *rest]


def whole_of(pages: Sequence[Snapshot]) -> Snapshot:
    first = pages[0]
    return Snapshot(
        first.past,
        first.cut,
        tuple(e for page in pages for e in page.envelopes),
        tuple(e for page in pages for e in page.headers),
        origins=first.origins,
        dropped=first.dropped,
    )


def _batches(envelopes: Sequence[Envelope]) -> Iterator[tuple[Envelope, ...]]:
    batch: list[Envelope] = []
    size = 0
    for envelope in envelopes:
        if batch and (len(batch) == PAGE or size + len(envelope.message.payload) > PAGE_BYTES):
            yield tuple(batch)
            batch, size = [], 0
        batch.append(envelope)
        size += len(envelope.message.payload)
    if batch:
        yield tuple(batch)
