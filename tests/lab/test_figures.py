"""Figures: every series is told apart without colour, ticks stand where something was measured, files are written."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from antecede.lab.claim import Table
from antecede.lab.figures import bars, curves, figure, plain, save, stacked, ticks_at

TABLE: Table = [
    {"x": x, "y": x * k, "y_low": x * k - 1, "y_high": x * k + 1, "by": name}
    for k, name in enumerate(("one", "two", "three"), 1) for x in (1, 10)
]  # fmt: skip


def test_lines_differ_by_mark_and_dash_and_name_themselves() -> None:
    kept: list[Any] = []

    def draw(drawing: Any) -> None:
        axes = drawing.subplots()
        curves(axes, TABLE, "x", "y", "by")
        ticks_at(axes, TABLE, "x")
        kept.append(axes)

    figure((4, 3), draw)
    lines = kept[0].get_lines()
    assert len({(line.get_marker(), line.get_linestyle()) for line in lines}) == 3
    assert [line.get_label() for line in lines] == ["one", "two", "three"]
    assert len(kept[0].collections) == 3 and list(kept[0].get_xticks()) == [1, 10]


def test_a_logarithmic_axis_can_have_plain_numbers() -> None:
    kept: list[Any] = []

    def draw(drawing: Any) -> None:
        kept.append(drawing.subplots())
        kept[0].set(yscale="log", ylim=(10, 2_000_000))
        plain(kept[0].yaxis, 10, 100, 1000, 1_000_000)

    figure((4, 3), draw)
    assert [label.get_text() for label in kept[0].get_yticklabels()] == ["10", "100", "1,000", "1,000,000"]
    assert not kept[0].yaxis.get_minorticklocs().size


def test_points_without_a_value_are_left_out() -> None:
    kept: list[Any] = []

    def draw(drawing: Any) -> None:
        kept.append(drawing.subplots())
        curves(kept[0], [*TABLE[:2], {**TABLE[1], "x": 20, "y": float("nan")}], "x", "y", "by")

    figure((4, 3), draw)
    assert list(kept[0].get_lines()[0].get_xdata()) == [1, 10]


def test_bars_are_hatched_and_files_lie_beside_each_other(tmp_path: Path) -> None:
    kept: list[Any] = []

    def draw(drawing: Any) -> None:
        kept.append(drawing.subplots())
        bars(kept[0], TABLE, "x", "y", "by")

    made = figure((4, 3), draw)
    assert len({patch.get_hatch() for patch in kept[0].patches}) == 3
    files = save(made, tmp_path, TABLE)
    assert all(file.stat().st_size > 0 for file in files)
    with files[2].open() as file:
        assert [row["y"] for row in csv.DictReader(file)] == ["1", "10", "2", "20", "3", "30"]
    before = files[1].read_bytes()
    save(made, tmp_path, TABLE)
    assert files[1].read_bytes() == before  # equal figures are equal files


def test_a_bar_without_an_interval_has_no_cap() -> None:
    """Caps of a bar of height 0 would look like a value."""
    table: Table = [{"x": "a", "y": 0.0, "y_high": 0.0, "by": "n"}, {"x": "b", "y": 2.0, "y_high": 3.0, "by": "n"}]
    kept: list[Any] = []

    def draw(drawing: Any) -> None:
        kept.append(drawing.subplots())
        bars(kept[0], table, "x", "y", "by")

    figure((4, 3), draw)
    ends = [line.get_ydata() for line in kept[0].lines]
    assert [[y for y in map(float, end) if y == y] for end in ends] == [[1.0], [3.0]]


def test_parts_of_a_bar_stand_on_each_other_and_the_interval_on_top() -> None:
    shares = {("a", "late"): 2.0, ("a", "lost"): 3.0, ("b", "late"): 0.0, ("b", "lost"): 1.0}
    totals = {"a": (5.0, 6.0), "b": (1.0, 1.0)}
    table: Table = [{"x": x, "by": by, "y": y, "all": totals[x][0], "all_high": totals[x][1]}
                    for (x, by), y in shares.items()]  # fmt: skip
    kept: list[Any] = []

    def draw(drawing: Any) -> None:
        kept.append(drawing.subplots())
        stacked(kept[0], table, "x", "y", "by", "all")

    figure((4, 3), draw)
    found = [(patch.get_y(), patch.get_y() + patch.get_height()) for patch in kept[0].patches]
    assert found == [(0.0, 2.0), (0.0, 0.0), (2.0, 5.0), (0.0, 1.0)]
    assert [text.get_text() for text in kept[0].texts] == ["5", "1"]
    ends = [y for line in kept[0].lines for y in map(float, line.get_ydata()) if y == y]
    assert max(ends) == 6.0 and 1.0 not in ends  # no cap where there is no interval
