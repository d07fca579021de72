"""docs/figures.md is what the machines do today, drawing by drawing, and who asks whom in it is what the papers say."""

from __future__ import annotations

import pytest

from tests.papers.figures import FIGURES, PAGE, Figure, page


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.title.split(":")[0])
def test_the_drawing_is_what_the_run_does(figure: Figure) -> None:
    assert figure.drawn() in PAGE.read_text("utf-8"), "python -m tests.papers.figures writes the page anew"


def test_nothing_else_is_on_the_page() -> None:
    assert page() == PAGE.read_text("utf-8")


def asked(title: str) -> list[str]:
    figure = next(one for one in FIGURES if one.title.startswith(title))
    return [line.split("  ")[-1].strip() for line in figure.drawn().splitlines() if "  asks " in line]


def test_who_asks_for_what() -> None:
    assert asked("002 Fig. 3") == [] and sorted(asked("002 Figs. 4")) == ["asks s for m1", "asks s for m2"]
    assert sorted(asked("000 Fig. 2")) == ["asks p2 for m1", "asks p2 for m2"]
    assert sorted(asked("003 Fig. 2")) == ["asks B for B1", "asks D for B1"]
    assert sorted(asked("001 Figs. 4")) == ["asks A for A1", "asks B for A2", "asks B for B1", "asks C for B1",
                                            "asks D for A1"]  # fmt: skip
    assert {"asks A for red_A1", "asks D for red_A1", "asks B for blue_B1"} <= set(asked("001 Figs. 2"))
