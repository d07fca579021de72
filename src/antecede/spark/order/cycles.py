"""Which nodes of a small graph lie on a cycle: Tarjan's components, with a stack of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

__all__ = ["on_cycles"]


def on_cycles(sources: Mapping[int, set[int]]) -> set[int]:
    """`sources`: node -> the nodes it waits for. Those outside of the mapping are ignored.

    >>> sorted(on_cycles({1: {2}, 2: {1}, 3: {2}}))
    [1, 2]
    """
    found: set[int] = set()
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
                        found.update(component)
    return found
