"""The kernel of causal_order against its slow twin and against the core's Inbox."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.core.effects import Deliver, Discard, Effect
from antecede.core.inbox import Inbox
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import Reader
from antecede.spark.order.behind import NEVER, Rules
from antecede.spark.order.domain import FATES, REASONS, Domain
from antecede.wire import freeze, thaw
from tests.spark.order.twin import Line, Outcome, Twin


def outcomes(domain: Domain) -> dict[int, Outcome]:
    first = domain.pos - len(domain.out)
    found = {}
    for k, slot in enumerate(domain.out):
        by, missing = domain.odd.get(slot, (0, []))
        found[slot] = Outcome("delivered", first + k, REASONS[by], tuple(missing))
    for slot, fate, revealed in domain.rest:
        assert slot not in found
        found[slot] = Outcome(FATES[fate], revealed=revealed)
    domain.out.clear()
    domain.odd.clear()
    domain.rest.clear()
    return found


def feed(domain: Domain, lines: list[Line], first: int = 0) -> None:
    domain.take(
        range(first, first + len(lines)),
        [line.name for line in lines],
        [line.other for line in lines],
        [line.needs for line in lines],
        [line.at for line in lines],
        [line.late for line in lines],
        [line.due for line in lines],
    )


def run(
    lines: list[Line], cuts: list[int] | None = None, *, numbered: bool = False, finish: bool = True, **rules: Any
) -> dict[int, Outcome]:
    """Through the kernel, saved and read back at every cut."""
    domain = Domain(Rules(numbered=numbered, **rules))
    found: dict[int, Outcome] = {}
    edges = sorted({0, *(cut % (len(lines) + 1) for cut in cuts or ()), len(lines)})
    for start, end in pairwise(edges):
        feed(domain, lines[start:end], start)
        found |= outcomes(domain)
        domain = Domain.thawed(domain.rules, thaw(freeze(domain.frozen())))
    if finish:
        domain.finish()
        found |= outcomes(domain)
        assert not domain.held and not domain.waiting and not domain._waits
    return found


@st.composite
def tables(
    draw: st.DrawFn, *, timed: bool = True, cyclic: bool = False, numbered: bool = False, most: int = 14
) -> list[Line]:
    """A random history, shuffled, with losses, repeats, times and deadlines."""
    size = draw(st.integers(1, most))
    names, needs = [], []
    counters: dict[str, int] = {}
    for i in range(size):
        sender = draw(st.sampled_from("abc"))
        counters[sender] = counters.get(sender, 0) + 1
        names.append(f"{sender}:{counters[sender]}" if numbered else f"m{i}")
        above = draw(st.lists(st.integers(0, size - 1 if cyclic else max(0, i - 1)), max_size=3)) if i or cyclic else []
        mine = [f"m{j}" if not numbered else names[j] for j in above if not numbered or j < i]
        if numbered and counters[sender] > 1:
            mine.append(f"{sender}:{counters[sender] - 1}")
        needs.append(mine)
    lines = []
    for i in draw(st.permutations(range(size))):
        if draw(st.integers(0, 4)) == 0:
            continue  # lost
        for _ in range(2 if draw(st.integers(0, 7)) == 0 else 1):
            lines.append(Line(names[i], list(needs[i])))
    if draw(st.booleans()):
        lines = draw(st.permutations(lines)) if lines else lines
    at = 0
    for line in lines:
        at += draw(st.integers(0, 3))
        line.at = at - (draw(st.integers(0, 3)) == 0)
        if timed:
            if draw(st.integers(0, 3)):
                line.late = at + draw(st.integers(-2, 8))
            line.due = min(line.late, at + draw(st.integers(0, 8)) if draw(st.booleans()) else NEVER)
    return list(lines)


cuts = st.lists(st.integers(0, 40), max_size=4)


@settings(max_examples=600)
@given(tables(), cuts)
def test_with_deadlines_the_kernel_is_the_twin_however_it_is_cut(lines: list[Line], where: list[int]) -> None:
    assert run(lines, where) == Twin(lines).run()


@settings(max_examples=400)
@given(tables(numbered=True), cuts)
def test_numbered_the_kernel_is_the_twin_however_it_is_cut(lines: list[Line], where: list[int]) -> None:
    assert run(lines, where, numbered=True) == Twin(lines, numbered=True).run()


@settings(max_examples=300)
@given(tables(cyclic=True), cuts)
def test_with_cycles_the_kernel_is_the_twin(lines: list[Line], where: list[int]) -> None:
    assert run(lines, where) == Twin(lines).run()


@settings(max_examples=300)
@given(tables(timed=False, cyclic=True), cuts)
def test_without_deadlines_the_kernel_is_the_twin(lines: list[Line], where: list[int]) -> None:
    assert run(lines, where) == Twin(lines).run()
