"""How figures look: one style for all, readable in black and white, and what is written beside them.

Decided here: above each figure stands what it shows, so that it can be read by itself; series differ by marker and
line, not by colour alone; bands are 95 % intervals; a figure is saved as PNG and SVG, with its tidy table as CSV.
"""

from __future__ import annotations

import csv
import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from antecede.errors import EnvironmentFault
from antecede.lab.claim import Table

__all__ = ["HATCHES", "STYLES", "bars", "curves", "figure", "plain", "save", "series_of", "stacked", "ticks_at"]

STYLES = [
    ("#1b4f8a", "o", "-"), ("#c2571a", "s", "--"), ("#2f7d4f", "^", "-."), ("#7a3e8e", "D", ":"),
    ("#555555", "v", (0, (5, 1, 1, 1, 1, 1))), ("#a08000", "P", (0, (1, 1))), ("#000000", "X", (0, (3, 1))),
    ("#b5446e", "<", (0, (4, 2))),
]  # fmt: skip
HATCHES = ["", "///", "...", "xxx", "\\\\\\", "+++"]
SETTINGS: Any = {
    "font.size": 9, "axes.titlesize": 9.5, "axes.labelsize": 9, "legend.fontsize": 8, "axes.spines.top": False,
    "axes.spines.right": False, "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6,
    "lines.linewidth": 1.5, "lines.markersize": 4.5, "savefig.dpi": 160, "svg.hashsalt": "antecede",
    "figure.constrained_layout.use": True, "legend.frameon": False, "axes.axisbelow": True,
}  # fmt: skip

LETTERS_PER_INCH = 11
"""Of a headline: so many fit."""
LINE_INCH = 0.19
CROWD = 5
"""More ticks than this get smaller letters."""


def figure(size: tuple[float, float], draw: Callable[[Any], None], headline: str = "") -> Any:
    """A figure in the style of the house; `draw` fills it, `headline` stands above. Nothing of a screen is needed."""
    try:
        import matplotlib
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise EnvironmentFault("Figures need matplotlib, which is not installed: pip install 'antecede[lab]'") from None
    with matplotlib.rc_context(SETTINGS):
        lines = textwrap.wrap(headline, int(size[0] * LETTERS_PER_INCH))
        made = Figure(figsize=(size[0], size[1] + LINE_INCH * len(lines)))
        FigureCanvasAgg(made)
        if lines:
            made.suptitle("\n".join(lines), x=0.012, ha="left", fontsize=10, fontweight="bold")
        draw(made)
        made.canvas.draw()
    return made


def save(made: Any, directory: Path, table: Table) -> list[Path]:
    """figure.png, figure.svg, table.csv."""
    import matplotlib

    with matplotlib.rc_context(SETTINGS):
        made.savefig(directory / "figure.png")
        made.savefig(directory / "figure.svg", metadata={"Date": None})
    names = list(dict.fromkeys(name for row in table for name in row))
    with (directory / "table.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows([{k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in table])
    return [directory / name for name in ("figure.png", "figure.svg", "table.csv")]


def series_of(table: Table, by: str) -> list[Any]:
    return list(dict.fromkeys(row[by] for row in table))


def curves(
    axes: Any, table: Table, x: str, y: str, by: str, *, names: Callable[[Any], str] = str, first: int = 0,
    band: bool = True,
) -> None:  # fmt: skip
    """One line per value of `by`, with its band where the table has one."""
    for i, value in enumerate(series_of(table, by)):
        rows = [row for row in table if row[by] == value and not _missing(row[y])]
        colour, marker, line = STYLES[(i + first) % len(STYLES)]
        xs, ys = [row[x] for row in rows], [row[y] for row in rows]
        # Every other series has hollow, larger marks: lines that coincide are still both seen.
        hollow = {"markerfacecolor": "none", "markersize": 7.0} if i % 2 else {}
        axes.plot(xs, ys, color=colour, marker=marker, linestyle=line, label=names(value), **hollow)
        if band and rows and f"{y}_low" in rows[0]:
            low, high = ([row[f"{y}_{end}"] for row in rows] for end in ("low", "high"))
            axes.fill_between(xs, low, high, color=colour, alpha=0.14, linewidth=0)


def ticks_at(axes: Any, table: Table, x: str) -> None:
    """A tick at every point that was measured, and nowhere else."""
    points = sorted({row[x] for row in table})
    axes.set_xticks(points, [f"{point:,g}" for point in points])
    axes.minorticks_off()
    if len(points) > CROWD:
        axes.tick_params(axis="x", labelsize=8)


def plain(axis: Any, *points: float) -> None:
    """On a logarithmic axis: ticks at these points, as numbers and not as powers."""
    axis.set_ticks(points, [f"{point:,}" if isinstance(point, int) else f"{point:,g}" for point in points])
    axis.set_ticks([], minor=True)


def bars(axes: Any, table: Table, x: str, y: str, by: str, *, names: Callable[[Any], str] = str) -> None:
    """Groups of bars, one per value of `by`, hatched, with their intervals."""
    groups, parts = series_of(table, x), series_of(table, by)
    width = 0.8 / len(parts)
    for i, part in enumerate(parts):
        found = {row[x]: row for row in table if row[by] == part}
        at = [g + (i - (len(parts) - 1) / 2) * width for g, value in enumerate(groups) if value in found]
        rows = [found[value] for value in groups if value in found]
        heights = [row[y] for row in rows]
        # No cap where there is no interval: at the height of 0 it would look like a value.
        errors = [max(0.0, row.get(f"{y}_high", row[y]) - row[y]) or math.nan for row in rows]
        axes.bar(
            at, heights, width * 0.92, yerr=None if all(map(math.isnan, errors)) else errors, label=names(part),
            color=STYLES[i % len(STYLES)][0], alpha=0.85,
            hatch=HATCHES[i % len(HATCHES)], edgecolor="white", error_kw={"elinewidth": 1, "capsize": 2},
        )  # fmt: skip
    axes.set_xticks(range(len(groups)), [str(value) for value in groups])
    axes.grid(axis="x", visible=False)


def stacked(axes: Any, table: Table, x: str, y: str, by: str, total: str) -> None:
    """One bar per value of `x`, made of one hatched part per value of `by`; `total`: what they add up to, with its
    interval in `total_high`."""
    groups, foot = series_of(table, x), dict[Any, float]()
    for i, part in enumerate(series_of(table, by)):
        heights = {row[x]: row[y] for row in table if row[by] == part}
        axes.bar(
            range(len(groups)), [heights.get(one, 0.0) for one in groups], 0.6,
            bottom=[foot.get(one, 0.0) for one in groups], label=str(part), alpha=0.85,
            color=STYLES[i % len(STYLES)][0], hatch=HATCHES[i % len(HATCHES)], edgecolor="white",
        )  # fmt: skip
        foot |= {one: foot.get(one, 0.0) + heights.get(one, 0.0) for one in groups}
    for place, one in enumerate(groups):
        row = next(row for row in table if row[x] == one)
        spread = row[f"{total}_high"] - row[total]
        if spread > 0:
            axes.errorbar(place, row[total], yerr=spread, color="black", elinewidth=1, capsize=2)
        axes.annotate(f"{row[total]:.2g}", (place, row[total] + max(spread, 0.0)), (0, 3), textcoords="offset points",
                      ha="center", fontsize=8)  # fmt: skip
    axes.set_xticks(range(len(groups)), [str(one) for one in groups])
    axes.grid(axis="x", visible=False)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and not math.isfinite(value))
