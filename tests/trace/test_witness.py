"""The second witness knows payloads only, and finds the same inversions as the oracle."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.trace.check import check
from antecede.trace.record import Row
from antecede.trace.witness import read_payload, seen_payload, witness
from tests.trace.test_history import random_run


def test_payloads() -> None:
    assert read_payload(seen_payload(["p:1", "q.2:7"])) == {"p:1", "q.2:7"}
    assert read_payload(seen_payload([])) == read_payload(b"something else") == frozenset()


def test_through_a_chain_whose_middle_was_never_delivered_here() -> None:
    elsewhere = ("x", 0, "q:1", b"saw p:1")
    findings = witness([elsewhere, ("r", 0, "s:1", b"saw q:1"), ("r", 1, "p:1", b"saw "), ("r", 2, "p:1", b"saw ")])
    assert [(f.verdict, f.process, f.message, f.other) for f in findings] == [
        ("inversion", "r", "p:1", "s:1"),
        ("duplicate", "r", "p:1", None),
    ]


def test_payloads_that_lie_in_a_circle_do_not_hang() -> None:
    assert len(witness([("r", 0, "a:1", b"saw b:1"), ("r", 1, "b:1", b"saw a:1")])) == 1


def narrated(run: list[Row]) -> list[tuple[str, int, str, bytes]]:
    """What applications would tell: each payload lists what its sender had seen (or names with `after`)."""
    seen: dict[str, list[str]] = {}
    payloads: dict[str, bytes] = {}
    told = []
    for row in run:
        if row.message is None or row.kind not in ("publish", "deliver"):
            continue
        mine = seen.setdefault(row.process, [])
        if row.kind == "publish":
            own = [m for m in mine if m.startswith(row.process + ":")][-1:]
            payloads[row.message] = seen_payload(mine if row.after is None else [*row.after, *own])
        mine.append(row.message)
        told.append((row.process, row.step, row.message, payloads[row.message]))
    return told


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 40))
def test_both_witnesses_agree(seed: int, size: int) -> None:
    run = random_run(seed, size)
    oracle = {(f.process, f.message) for f in check(run).findings if f.verdict == "inversion"}
    assert {(f.process, f.message) for f in witness(narrated(run)) if f.verdict == "inversion"} == oracle
