"""What a claim is: one sentence of a paper, how it is measured, and the rule that turns the table into a verdict.

Decided here: which verdicts there are, and how much is measured by default and with `--quick`. Everything about one
claim - its cells, its margins, its rule - is fixed in its file before anything runs; the rule sees the table only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from antecede.spark.sweep import Cell

__all__ = ["WORDS", "Claim", "Effort", "Row", "Table", "Verdict", "grid"]

Row = dict[str, Any]
Table = list[Row]
"""Tidy: one row per point, plain values."""

WORDS = ("holds", "holds only if", "does not hold", "undecided", "not decidable", "cannot hold")


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


def grid(seeds: int, points: Sequence[Row]) -> list[Cell]:
    """Every point with the same seeds, so that points can be compared in pairs."""
    return [Cell(point, seed) for point in points for seed in range(seeds)]
