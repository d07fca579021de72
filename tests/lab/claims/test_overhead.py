"""The rule of `overhead`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claims.overhead import CLAIM, rule


def made(graph: int, rounds: int, rounds_in_a_chain: int | None = None) -> str:
    chain = rounds if rounds_in_a_chain is None else rounds_in_a_chain
    rows = [{"encoding": e, "situation": situation, "brokers": n, "to_broker": 100, "to_subscriber": below,
             "entries_to_broker": n, "entries_to_subscriber": n}
            for n in (4, 16, 64) for e, situation, below in
            (("context graph", "at once", graph), ("context graph", "in a chain", graph),
             ("round colours", "at once", rounds), ("round colours", "in a chain", chain))]  # fmt: skip
    return str(rule(CLAIM.table(rows)))


def test_the_rule_follows_the_table() -> None:
    assert made(20, 30).startswith("holds:")
    assert made(20, 99).startswith("holds only if graph (001 s2.3) is meant (")
    assert made(80, 99).startswith("does not hold")


def test_a_protocol_may_be_low_in_one_situation() -> None:
    assert made(20, 99, 10).startswith("holds only if graph (001 s2.3), or rounds (001 s2.2) in a chain is meant (")
