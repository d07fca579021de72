"""The rule of `late`: flipped by its table alone."""

from __future__ import annotations

from antecede.lab.claim import Effort, Table
from antecede.lab.claims.late import BOTH, CLAIM, FATES, RECIPES, rule
from antecede.lab.figures import figure


def table(**high: float) -> Table:
    """`t1=-0.05`: at one round trip the paired difference is at most -0.05 against both."""
    rows: Table = []
    for name, value in high.items():
        for recipe in ("solicit", "dcco", "delta"):
            rows.append(
                {"loss": 0.1, "round_trips": float(name[1:]), "recipe": recipe, "undelivered": 0.2, "fate_late": 0.0}
            )
            if recipe != "solicit":
                rows[-1] |= {"solicit_minus_this": value - 0.01, "solicit_minus_this_low": value - 0.02}
                rows[-1] |= {"solicit_minus_this_high": value}
    return rows


def test_the_rule_follows_the_table() -> None:
    assert rule(table(t1=-0.05, t5=-0.1)).word == "holds"
    limited = rule(table(t1=0.05, t2=-0.03, t5=-0.1))
    assert limited.word == "holds only if" and "at least 2 round trips" in limited.why
    assert rule(table(t1=0.05, t5=0.1)).word == "does not hold"
    assert rule(table(t1=0.05, t5=0.0)).word == "undecided"


def test_one_baseline_that_is_as_good_flips_it() -> None:
    rows = table(t1=-0.05)
    rows[-1]["solicit_minus_this_high"] = rows[-1]["solicit_minus_this_low"] = 0.02
    assert rule(rows).word == "does not hold"


def test_cells_are_paired_and_the_table_knows_the_difference() -> None:
    cells = CLAIM.cells(Effort(quick=True, seeds=3))
    assert {cell.seed for cell in cells} == {0, 1, 2} and len(cells) == 27
    rows = [
        {"loss": 0.1, "round_trips": 5.0, "recipe": recipe, "seed": s, "undelivered": u, "control_frames_per_pair": 1.0,
         **dict.fromkeys(FATES, 0.0)}
        for recipe, u in (("solicit", 0.01), ("dcco", 0.1), ("delta", 0.2)) for s in range(3)
    ]  # fmt: skip
    assert rule(CLAIM.table(rows)).word == "holds"


def test_the_figure_shows_every_point_whatever_its_loss() -> None:
    rows = [{"recipe": recipe, "loss": loss, "round_trips": t, "seed": s, "undelivered": loss,
             "control_frames_per_pair": 0.0, **dict.fromkeys(FATES, 0.0)}
            for loss in (0.05, 0.2) for t in (1.0, 2.0) for recipe in RECIPES
            for s in (0, 1)]  # fmt: skip
    made = figure(CLAIM.size, lambda drawing: CLAIM.draw(drawing, CLAIM.table(rows)))
    assert all(ax.get_ylim()[0] == 0 and ax.get_ylim()[1] > 20 for ax in made.axes)
    assert [line.get_label() for line in made.axes[0].lines][1:] == [BOTH], "lines that coincide are one line"
    rows[-1]["undelivered"] = 0.5
    made = figure(CLAIM.size, lambda drawing: CLAIM.draw(drawing, CLAIM.table(rows)))
    assert len(made.axes[0].lines) == 3


def test_copies_can_be_late() -> None:
    """The longest delay is beyond some deadlines, and within others."""
    for cell in CLAIM.cells(Effort()):
        assert cell.knobs["spike"] > 0
    longest = 10 * CLAIM.cells(Effort())[0].knobs["delay_ms"][1]
    ends = {cell.knobs["deadline_ms"][1] for cell in CLAIM.cells(Effort())}
    assert min(ends) < longest < max(ends)
