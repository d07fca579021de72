"""Snapshots that a newcomer has been given, and what each says of where it may begin.

Decided here: who may be named as witness to a cut. It must have had all that the cut puts behind: delivered, published
or given up, begun behind it, or delivered something that follows it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.frames import Snapshot
from antecede.core.interest import group_of
from antecede.core.message import newest_of, raise_to, split_id

__all__ = ["Gift", "by_group", "witness"]


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
            raise_to(self.had, dict(map(split_id, cut)))
        for group, marks in by_group(snapshot.retired).items():
            if group in carries:  # what it gave up there, too
                raise_to(self.had, newest_of(marks))


def by_group(marks: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """
    >>> by_group({"p@G1": 3, "q@G1": 1, "p@G2": 2})
    {'G1': {'p@G1': 3, 'q@G1': 1}, 'G2': {'p@G2': 2}}
    """
    found: dict[str, dict[str, int]] = {}
    for stream, n in marks.items():
        found.setdefault(group_of(stream), {})[stream] = n
    return found


def witness(gifts: Sequence[Gift], tops: Mapping[str, int]) -> Gift:
    """The first donor that has had all of this; failing that the first of all."""
    for gift in gifts:
        if all(n <= gift.had.get(sender, 0) for sender, n in tops.items()):
            return gift
    return gifts[0]
