"""What a claim is: one sentence of a paper, how it is measured, and the rule that turns the table into a verdict.

Decided here: which verdicts there are, and how much is measured by default and with `--quick`. Everything about one
claim - its cells, its margins, its rule - is fixed in its file before anything runs; the rule sees the table only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from antecede.spark.sweep import Cell

__all__ = ["TERMS", "WORDS", "Claim", "Effort", "Row", "Table", "Verdict", "grid", "varied"]

Row = dict[str, Any]
Table = list[Row]
"""Tidy: one row per point, plain values."""

WORDS = ("holds", "holds only if", "does not hold", "undecided", "not decidable", "cannot hold")
TERMS = {
    "protocols, recipes": "solicit (000, 002), graph (001 s2.3), rounds (001 s2.2), pull (003), colour (004: a message "
    "is held to the end of its lifetime) and colour-eager (004: delivered at once), all repaired unless a reading of "
    "the text is named; home is this project's own",
    "compared with": "dcco (Rodrigues et al. 2000: [9] of 004, [8] of 000), delta (Baldoni et al. 1996), cbcast "
    "(Birman et al. 1991), piggyback (002 s3A), ackcast (every message acknowledged by everybody), lpbcast (Eugster et "
    "al.: [4] of 001 and 004), pbcast (Birman et al. 1999)",
    "reading": "one way to run a text: repaired, printed (to the letter; a, b and c where the letter has several "
    "meanings), described (its prose), charitable (one word read so that the paper's own figure comes out)",
    "pair": "a message and one receiver that it is for; undelivered: that receiver never delivers it, since it never "
    "came (expired), came after its deadline (late) or after something that follows it was delivered (superseded)",
    "paired seeds": "whatever is compared runs with the same seeds, and differences are taken seed by seed",
    "guard": "how long before a deadline a process stops waiting, since clocks are not equal",
    "stamp": "what travels with a message so that its receiver can order it",
    "violation, finding": "a broken promise in a run, found by the oracle that judges all of its records: inversion "
    "(delivered after something that follows it), gap (delivered although a predecessor is still to come), overdue "
    "(delivered after its deadline), duplicate, stuck (in time, and never delivered), idle (held for nothing), false "
    "(a record that is not true)",
    "F, P, alpha": "the fan-out, to how many others a process sends in a round; how often a target is taken from one's "
    "own site; rounds that are added to ceil(log2 N)",
    "round, step": "the same: one period of gossip; step 0 is before the first send",
    "band, bar, interval": "95 % confidence, over seeds",
}
"""Words that verdicts, tables and captions use, for whoever knows the papers and not this project."""


@dataclass(frozen=True, slots=True)
class Verdict:
    word: str
    why: str
    """The condition, the argument or the numbers it follows from."""

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise ValueError(f"{self.word!r} is no verdict; there are {', '.join(WORDS)}")

    def __str__(self) -> str:
        """
        >>> str(Verdict("holds only if", "the fan-out is 3 or more")), str(Verdict("not decidable", "how many"))
        ('holds only if the fan-out is 3 or more', 'not decidable: the text does not say how many')
        """
        if self.word == "holds only if":
            return f"{self.word} {self.why}"
        if self.word == "not decidable":
            return f"{self.word}: the text does not say {self.why}"
        return f"{self.word}: {self.why}"


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    quick: bool = False
    seeds: int | None = None
    """Instead of the default, for vectorised and event-driven cells alike."""

    @property
    def fast(self) -> int:
        """Seeds per point where a cell takes a millisecond."""
        return self.seeds or (100 if self.quick else 500)

    @property
    def slow(self) -> int:
        """Seeds per point where a cell is an event-driven run."""
        return self.seeds or (4 if self.quick else 20)


@dataclass(frozen=True, slots=True)
class Claim:
    name: str
    papers: str
    place: str
    """Where the sentence stands."""
    sentence: str
    """One, quoted."""
    asks: str
    """What is measured, in one sentence."""
    design: str
    """Pairing and margins, fixed before the run; and what was changed after a first one, if anything was."""
    chosen: str
    """What the text does not give, and what was taken instead."""
    measure: str
    """Who measures a cell: `module:function`."""
    cells: Callable[[Effort], list[Cell]]
    table: Callable[[Sequence[Row]], Table]
    """The tidy table of what the cells gave; only cells without an error come here."""
    rule: Callable[[Table], Verdict]
    draw: Callable[[Any, Table], None]
    """Draw the table into a matplotlib figure."""
    caption: str
    size: tuple[float, float] = (6.4, 3.9)
    """Of the figure, in inches."""
    beside: tuple[str, str] | None = None
    """The claim that judges the same sentence in another way, and what differs there."""


def grid(seeds: int, points: Sequence[Row]) -> list[Cell]:
    """Every point with the same seeds, so that points can be compared in pairs."""
    return [Cell(point, seed) for point in points for seed in range(seeds)]


def varied(cells: Sequence[Cell]) -> str:
    """What differs between the cells of a design; a knob that follows from one that is named already is left out.

    >>> varied(grid(4, [{"n": n, "fanout": f, "half": n / 2, "loss": 0.1} for n in (10, 20) for f in (2, 3)]))
    '16 cells: n 10 | 20; fanout 2 | 3; 4 seeds'
    """
    names = dict.fromkeys(name for cell in cells for name in cell.knobs)
    column = {name: [_said(cell.knobs.get(name)) for cell in cells] for name in names}
    shown: list[str] = []
    for name, values in column.items():
        follows = any(len(set(zip(column[other], values, strict=True))) == len(set(column[other])) for other in shown)
        if len(set(values)) > 1 and not follows:
            shown.append(name)
    parts = [f"{name} {' | '.join(dict.fromkeys(column[name]))}" for name in shown]
    seeds = len({cell.seed for cell in cells})
    return f"{len(cells):,} cells: {'; '.join([*parts, f'{seeds} seeds' if seeds > 1 else '1 seed'])}"


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return " to ".join(map(_said, value))
    return f"{value:,g}" if isinstance(value, int | float) else str(value or "-")
