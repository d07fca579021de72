"""The rule of `minimum`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.minimum import CLAIM, rule


def made(at_once: int, in_a_chain: int) -> str:
    """Entries that 003's stamp names, where 4 are needed at once and 1 in a chain."""
    rows = [{"situation": situation, "encoding": e, "brokers": n, "to_subscriber": 40, "entries_needed": needed,
             "entries_to_subscriber": named}
            for situation, needed, ours in (("at once", 4, at_once), ("in a chain", 1, in_a_chain)) for n in (4, 16)
            for e, named in (("vector per group", ours), ("context graph", needed), ("matrix, one colour", 0))
            ]  # fmt: skip
    return str(rule(CLAIM.table(rows)))


def test_the_rule_follows_the_table() -> None:
    assert made(4, 1).startswith("holds:")
    assert made(4, 4).startswith("holds only if all is concurrent and in one group (")
    assert made(8, 4).startswith("does not hold: among 16 brokers a stamp to a subscriber names at once 8 of 4 needed")


def test_what_names_no_more_than_is_needed_is_told() -> None:
    assert made(8, 4).endswith("; no more than is needed name: immediate predecessors (001)")
