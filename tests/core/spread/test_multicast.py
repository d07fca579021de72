"""At once to all who want it, and to nobody else."""

from __future__ import annotations

from antecede.core.frames import Attach, Data
from antecede.core.message import Publication
from tests.core.kit import machine, sent, view_of

VIEW = view_of({"A": "G1 G2", "B": "G1", "C": "G2", "D": "G1 G2"}, "S1 S2 S3")


def broker(recipe: str, links: dict[str, tuple[str, ...]], **knobs: object) -> object:
    """Broker A with these subscribers."""
    a = machine(recipe, "A", "broker", "G1 G2", **knobs)
    a.view(VIEW, 0)
    a.start(0)
    for name, filters in links.items():
        a.receive(Attach(1, filters, None), name, 0)
    return a


def test_a_publication_goes_to_the_carriers_of_its_groups_and_to_who_wants_it() -> None:
    a: object = broker("cbcast", {"S1": ("G1",), "S2": ("G1", "G2"), "S3": ("G2",)}, deadlines=False)
    _, effects = a.publish(Publication(("G1",)), 1)  # type: ignore[attr-defined]
    assert [to for to, _ in sent(effects, Data)] == [("B", "D"), ("S1",), ("S2",)]
    _, effects = a.publish(Publication(("G2",)), 2)  # type: ignore[attr-defined]
    assert [to for to, _ in sent(effects, Data)] == [("C", "D"), ("S2",), ("S3",)]


def test_what_is_delivered_goes_below_only() -> None:
    a: object = broker("cbcast", {"S1": ("G1",)}, deadlines=False)
    b = machine("cbcast", "B", "broker", "G1", deadlines=False)
    b.view(VIEW, 0)
    b.start(0)
    frame = sent(b.publish(Publication(("G1",)), 1)[1], Data)[0][1]
    assert [to for to, _ in sent(a.receive(frame, "B", 2), Data)] == [("S1",)]  # type: ignore[attr-defined]
