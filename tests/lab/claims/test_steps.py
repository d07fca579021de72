"""The rule of `steps`: flipped by its table alone."""

from __future__ import annotations

import math

from antecede.lab.claim import Table
from antecede.lab.claims.steps import CLAIM, rule
from antecede.lab.readings import BASELINE, OURS, base_of, counts_of


def table(*ours: float, bend: float = 1.0, share: float = 1.0) -> Table:
    rows: Table = []
    lines = {line: count.before for name in (BASELINE, *OURS) for line, count in counts_of(name).items()}
    ahead = {BASELINE: 0.0, **dict(zip(OURS, ours, strict=True))}
    for line, later in lines.items():
        for n in (125, 250, 500, 1000):
            mean = math.log2(n) ** bend + ahead[base_of(line)] + later
            rows.append({"reading": line, "subscribers": n, "to_all": mean, "to_all_low": mean - 0.1,
                         "to_all_high": mean + 0.1, "to_all_share": 1.0 if line == BASELINE else share})  # fmt: skip
    return rows


def test_the_rule_follows_the_table() -> None:
    assert rule(table(-2, -2, -2, -2, -2)).word == "holds"
    some = rule(table(20, -2, 20, -2, 20))
    assert some.word == "holds only if" and "forward without limit, or subscribers forward once and pull:" in some.why
    assert rule(table(20, 2, -0.1, 20, 20)).word == "does not hold"
    assert rule(table(-0.6, -0.6, -0.6, -0.6, -0.6)).word == "undecided"
    assert rule(table(-2, -2, -2, -2, -2, share=0.9)).word == "does not hold"


def test_the_brokers_phase_decides_where_the_gain_is_a_step() -> None:
    one = rule(table(20, -1, 20, 20, 20))
    assert one.word == "holds only if" and "without limit and the brokers' own phase is not counted" in one.why


def test_steps_that_do_not_grow_with_log_n_flip_it() -> None:
    rows = table(-2, -2, -2, -2, -2)
    rows[3]["to_all"] = 40.0
    assert "do not grow" in rule(rows).why


def test_runs_that_never_reach_all_are_a_share() -> None:
    rows = [{"reading": BASELINE, "subscribers": 125, "seed": s, "to_all": 6 if s else None, "to_most": 5,
             "copies": 250, "requests": 125}
            for s in range(4)]  # fmt: skip
    assert CLAIM.table(rows)[0]["to_all_share"] == 0.75
    assert CLAIM.table(rows)[0]["sent_each"] == 3
