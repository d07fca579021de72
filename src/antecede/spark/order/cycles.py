"""Which nodes of a small graph lie on a cycle: Tarjan's components, with a stack of its own; and who waits in vain.

Decided in this file: when rows that wait for each other are a circle that will never go. Such a circle waits for
nothing but itself: not for a row that has not come, nor for one whose time will be up. Every row that waits without a
bound has a hope: one of its needs, which has not come, or whose row has a bound or a hope of its own. Only who loses it
looks for another, so that a table without cycles costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from antecede.spark.order.behind import Held

__all__ = ["circles", "on_cycles", "without_hope"]


def on_cycles(sources: Mapping[int, set[int]]) -> set[int]:
    """`sources`: node -> the nodes it waits for. Those outside of the mapping are ignored.

    >>> sorted(on_cycles({1: {2}, 2: {1}, 3: {2}}))
    [1, 2]
    """
    return {node for circle in circles(sources) for node in circle}


def circles(sources: Mapping[int, set[int]]) -> list[list[int]]:
    """The largest sets of nodes that all wait for each other, or a node for itself."""
    found: list[list[int]] = []
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for start in sources:
        if start in index:
            continue
        work: list[tuple[int, Iterator[int]]] = [(start, iter(sources[start]))]
        index[start] = low[start] = len(index)
        path.append(start)
        on_path.add(start)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in sources:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    path.append(other)
                    on_path.add(other)
                    work.append((other, iter(sources[other])))
                    break
                if other in on_path:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == index[node]:
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(path.pop())
                    on_path.difference_update(component)
                    if len(component) > 1 or node in sources[node]:
                        found.append(component)
    return found


def without_hope(rows: list[Held], held: Mapping[str, Held], never: int) -> list[Held]:
    """Find a hope for each of `rows`; those on circles that wait for nothing but themselves, in the order of arrival.

    `never`: the bound of a row that has none.
    """
    good: set[int] = set()
    lost: dict[int, Held] = {}
    for row in rows:
        if not row.gone and row.open and row.hope not in row.open and row.no not in lost:
            lost.update(search(row, held, never, good))
    if not lost:
        return []
    sources = {no: {held[need].no for need in row.open} for no, row in lost.items()}
    closed = [circle for circle in circles(sources) if all(sources[no] <= set(circle) for no in circle)]
    return [lost[no] for no in sorted(no for circle in closed for no in circle)]


def search(row: Held, held: Mapping[str, Held], never: int, good: set[int]) -> dict[int, Held]:
    """Give `row` a hope and return nothing, or return all the rows it waits for, itself among them.

    `good`: rows that are known to have one.
    """
    for need in row.open:
        if leads_out(need, held, never, good):
            row.hope = need
            good.add(row.no)
            return {}
    seen, path, steps, ahead = {row.no: row}, [row], [""], [iter(row.open)]
    while path:
        for need in ahead[-1]:
            above = held.get(need)
            if above is None or above.due < never or above.no in good:
                for one, step in zip(path, [*steps[1:], need], strict=True):
                    one.hope = step
                    good.add(one.no)
                return {}
            if above.no not in seen:
                seen[above.no] = above
                path.append(above)
                steps.append(need)
                ahead.append(iter(above.open))
                break
        else:
            for stack in (path, steps, ahead):
                stack.pop()
    return seen


def leads_out(need: str, held: Mapping[str, Held], never: int, good: set[int]) -> bool:
    """Whether hopes lead from `need` to what has not come or has a bound."""
    walked: list[int] = []
    while True:
        above = held.get(need)
        if above is None or above.due < never or above.no in good:
            good.update(walked)
            return True
        if above.hope not in above.open:
            return False
        assert above.hope is not None
        walked.append(above.no)
        need = above.hope
