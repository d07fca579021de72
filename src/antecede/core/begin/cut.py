"""The cut at which a subscriber or client begins, as ids, for the record: one for all its groups, and a newer one
for groups in which its broker itself began at a cut.

A cut hides every message that precedes one it names. So a cut that holds for one group must not be said of another: a
message that is owed there may precede it. Example: broker B began behind q:4 in G2 only. A subscriber of G1 and G2
begins behind q:4 in G2; in G1 it is owed q:3, which precedes q:4.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from antecede.core.effects import Join
from antecede.core.entries import EACH, Groups
from antecede.core.frames import Origins
from antecede.core.marks import cut_of, join, tops_of

__all__ = ["Cuts"]


class NewerCut(Mapping[str, int]):
    """The newer of two cuts, sender by sender, without putting them together: groups may be many, and a cut long."""

    __slots__ = ("_common", "_own")

    def __init__(self, common: Mapping[str, int], own: Mapping[str, int]) -> None:
        self._common, self._own = common, own

    def __getitem__(self, name: str) -> int:
        if name not in self._own:
            return self._common[name]
        return max(self._own[name], self._common.get(name, 0))

    def __iter__(self) -> Iterator[str]:
        return iter({**self._common, **self._own})

    def __len__(self) -> int:
        return len({**self._common, **self._own})


class Cuts:
    """
    >>> cuts = Cuts(("p:3",), (("G2", ("p:2", "q:4")),))
    >>> dict(cuts.within("G1")), dict(cuts.within("G2"))
    ({'p': 3}, {'p': 3, 'q': 4})
    >>> [(join.filters, join.cut) for join in cuts.joins(("G1", "G2", "G3"), "B", 0)]
    [(('G1', 'G3'), ('p:3',)), (('G2',), ('p:3', 'q:4'))]
    """

    __slots__ = ("_common", "_special")

    def __init__(self, cut: Sequence[str] = (), origins: Origins = ()) -> None:
        self._common = tops_of(cut)
        self._special: dict[str, dict[str, int]] = {}
        """Per group, the newest message of each sender that lies behind there though it is not in the common cut."""
        for group, own in origins:
            join(self._special.setdefault(group, {}), tops_of(own))

    def within(self, group: str) -> Mapping[str, int]:
        """The newest message of each sender that lies behind in that group."""
        own = self._special.get(group)
        return self._common if own is None else NewerCut(self._common, own)

    def widen(self, other: Cuts) -> None:
        """Take the newer of this cut and another, group by group."""
        for group, own in other._special.items():
            join(self._special.setdefault(group, {}), own)
        join(self._common, other._common)

    def joins(self, filters: Sequence[str], peer: str, guard_us: int, groups: Groups = EACH) -> list[Join]:
        """One row for all filters that begin at the same cut."""
        rows: dict[tuple[str, ...], list[str]] = {}
        for filter in filters:
            tops = dict(self._common)
            for group, own in self._special.items():
                if groups.meets(filter, group):
                    join(tops, own)
            rows.setdefault(cut_of(tops), []).append(filter)
        return [Join(tuple(names), peer, cut, guard_us) for cut, names in rows.items()]
