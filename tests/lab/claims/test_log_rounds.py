"""The rule of `log-rounds`: flipped by its table alone."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from antecede.lab.claim import Table
from antecede.lab.claims.log_rounds import CLAIM, line_of, rule

SIZES = (50, 200, 1000, 10_000)


def table(*rounds: Callable[[float], float], wide: float = 0.01, share: float = 1.0) -> Table:
    """One fan-out for each function of log2 N."""
    return [{"fanout": f, "subscribers": n, "to_all": mean, "to_all_low": mean - wide, "to_all_high": mean + wide,
             "to_all_share": share, "alpha_needed": 3} for f, of in enumerate(rounds, 1) for n in SIZES
            for mean in [of(math.log2(n))]]  # fmt: skip


def test_the_rule_follows_the_table() -> None:
    assert rule(table(lambda x: 1.7 * x + 1, lambda x: x)).word == "holds", "whatever the constant is"
    some = rule(table(lambda x: 2 ** (x / 2), lambda x: x))
    assert some.word == "holds only if" and "the fan-out is 2" in some.why
    assert rule(table(lambda x: 2 ** (x / 2))).word == "does not hold"
    assert rule(table(lambda x: x, share=0.9)).word == "does not hold", "some never have it"
    assert rule(table(lambda x: x, wide=0.6)).word == "undecided"


def test_a_small_power_of_n_bends_though_a_line_nearly_fits() -> None:
    rows = table(lambda x: 3 * 2 ** (0.12 * x))
    assert line_of(rows)[2] > 0.98 and rule(rows).word == "does not hold"


def test_what_a_line_needs_beyond_log_n_is_said() -> None:
    rows = [{"fanout": 1, "subscribers": n, "seed": s, "to_all": 2 * math.ceil(math.log2(n)) + s}
            for n in SIZES for s in (0, 1)]  # fmt: skip
    made = CLAIM.table(rows)
    assert [row["alpha_needed"] for row in made] == [math.ceil(math.log2(n)) + 1 for n in SIZES]
    assert line_of(made)[0] == pytest.approx(2, abs=0.2)
