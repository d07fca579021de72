"""Snapshots that a newcomer has been given, and what each says of where it may begin.

Decided here: which donor may be named as witness to a cut. A witness must have had every message that the cut puts
behind: it delivered, published or gave up the message, began behind it, or delivered one that follows it. Example: A
gave a snapshot with p:4 in its past, B one with p:6. Of the cut p:5 only B is a witness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.frames import Snapshot
from antecede.core.marks import by_group, includes, join, newest_of, tops_of

__all__ = ["Donation", "witness"]


class Donation:
    """A snapshot and its donor, which may have left by the time the last snapshot comes."""

    __slots__ = ("carries", "covered", "donor", "had", "origins", "past", "snapshot")

    def __init__(self, donor: str, carries: tuple[str, ...], covered: tuple[str, ...], snapshot: Snapshot) -> None:
        self.donor = donor
        self.carries = carries
        self.covered = covered
        """The groups that are taken over with it."""
        self.snapshot = snapshot
        self.past = by_group(snapshot.past)
        self.origins = {group: (peer, cut) for group, peer, cut in snapshot.origins}
        self.had = newest_of(snapshot.past)
        """The newest message of each sender that the donor has had."""
        for cut in (snapshot.cut, *(cut for _, _, cut in snapshot.origins)):
            join(self.had, tops_of(cut))
        for group, marks in by_group(snapshot.dropped).items():
            if group in carries:  # what it gave up there, too
                join(self.had, newest_of(marks))


def witness(donations: Sequence[Donation], tops: Mapping[str, int]) -> Donation:
    """The first donor that has had all of this; failing that the first of all."""
    for donation in donations:
        if includes(donation.had, tops):
            return donation
    return donations[0]
