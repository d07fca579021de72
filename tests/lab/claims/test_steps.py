"""The rule of `steps`: flipped by its table alone."""

from __future__ import annotations

import math

from antecede.lab.claim import Table
from antecede.lab.claims.steps import CLAIM, rule
from antecede.lab.readings import BASELINE, OURS


def table(*ours: float, bend: float = 1.0, share: float = 1.0) -> Table:
    rows: Table = []
    for name, steps in ((BASELINE, 0.0), *zip(OURS, ours, strict=True)):
        for n in (125, 250, 500, 1000):
            mean = math.log2(n) ** bend + steps
            rows.append({"reading": name, "subscribers": n, "to_all": mean, "to_all_low": mean - 0.1,
                         "to_all_high": mean + 0.1, "to_all_share": 1.0 if name == BASELINE else share})  # fmt: skip
    return rows


def test_the_rule_follows_the_table() -> None:
    assert rule(table(-2, -2, -2)).word == "holds"
    some = rule(table(20, -2, -2))
    assert some.word == "holds only if" and "subscribers forward too or subscribers pull" in some.why
    assert rule(table(20, 2, -0.1)).word == "does not hold"
    assert rule(table(-0.6, -0.6, -0.6)).word == "undecided"
    assert rule(table(-2, -2, -2, share=0.9)).word == "does not hold"


def test_steps_that_do_not_grow_with_log_n_flip_it() -> None:
    rows = table(-2, -2, -2)
    rows[3]["to_all"] = 40.0
    assert "do not grow" in rule(rows).why


def test_runs_that_never_reach_all_are_a_share() -> None:
    rows = [{"reading": BASELINE, "subscribers": 125, "seed": s, "to_all": 6 if s else None, "to_most": 5,
             "copies": 250, "requests": 125}
            for s in range(4)]  # fmt: skip
    assert CLAIM.table(rows)[0]["to_all_share"] == 0.75
    assert CLAIM.table(rows)[0]["sent_each"] == 3
