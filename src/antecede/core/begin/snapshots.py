"""Snapshots that a newcomer has been given, and what each says of where it may begin.

Decided here: who may be named as witness to a cut. It must have had all that the cut puts behind: delivered, published
or given up, begun behind it, or delivered something that follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.frames import Snapshot
from antecede.core.marks import by_group, includes, join, newest_of, tops_of

__all__ = ["Gift", "witness"]


class Gift:
    """A snapshot, and of whom it is: by the time the last one comes the first donor may have left."""

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
        for group, marks in by_group(snapshot.retired).items():
            if group in carries:  # what it gave up there, too
                join(self.had, newest_of(marks))


def witness(gifts: Sequence[Gift], tops: Mapping[str, int]) -> Gift:
    """The first donor that has had all of this; failing that the first of all."""
    for gift in gifts:
        if includes(gift.had, tops):
            return gift
    return gifts[0]
