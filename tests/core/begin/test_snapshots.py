"""What donors say of where a newcomer may begin, and who is witness to it."""

from __future__ import annotations

from antecede.core.begin.snapshots import Donation, witness
from antecede.core.frames import Snapshot
from antecede.core.marks import by_group


def donation(donor: str, *cut: str, past: dict[str, int] | None = None, origins: tuple[str, ...] = ()) -> Donation:
    begun = (("G1", "Z", origins),) if origins else ()
    return Donation(donor, ("G1",), (), Snapshot(past or {}, cut, origins=begun))


def test_a_donor_has_had_what_it_delivered_what_precedes_that_and_what_it_began_behind() -> None:
    one = donation("A", "p:3", "q:1", past={"p@G2": 5, "p@G3": 4, "r~@G2": 2}, origins=("q:7",))
    assert one.had == {"p": 5, "r~": 2, "q": 7} and one.origins == {"G1": ("Z", ("q:7",))}
    assert one.past == {"G2": {"p@G2": 5, "r~@G2": 2}, "G3": {"p@G3": 4}} == by_group(one.snapshot.past)


def test_witness_is_the_first_that_has_had_all_of_it() -> None:
    a, b, c = donation("A", "p:3"), donation("B", "p:4", "q:1"), donation("C", "p:9", "q:9")
    assert witness((a, b, c), {}) is a and witness((a, b, c), {"p": 4}) is b
    assert witness((a, b, c), {"p": 4, "q": 2}) is c
    assert witness((a, b, c), {"p": 10}) is a, "nobody: the donor itself, as far as it has had it"


def test_a_donor_has_had_what_it_dropped_where_it_carries_the_group() -> None:
    """What it gave up there, too: nobody could tell any more what follows that."""
    one = Donation("A", ("G1",), (), Snapshot({"p@G1": 3}, ("p:3",), dropped={"p@G1": 4, "q@G2": 1}))
    assert one.had == {"p": 4}
