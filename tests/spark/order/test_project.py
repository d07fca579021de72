"""Parents in other groups: the nearest ancestors inside the group, by example and against a plain walk."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from antecede.spark.order.project import nearest, not_in_group, projected


def graph_batch(rows: list[tuple[str | None, str | None, list[str]]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "_group": pa.array([group for group, _, _ in rows], pa.string()),
            "_name": pa.array([name for _, name, _ in rows], pa.string()),
            "_other": pa.array([None] * len(rows), pa.string()),
            "_needs": pa.array([needs for _, _, needs in rows], pa.list_(pa.string())),
        }
    )


def moved(rows: list[tuple[str | None, str | None, list[str]]]) -> dict[tuple[str | None, str], list[str]]:
    out: dict[tuple[str | None, str], list[str]] = {}
    for batch in projected(iter([graph_batch(rows)])):
        for row in batch.to_pylist():
            out[(row["_to_group"], row["_to_name"])] = row["_to_needs"]
    return out


def test_the_chain_across_groups() -> None:  # PROTOCOLS s3.3: A1(G1) -> D1(G2) -> B1(G1)
    rows = [("G1", "A1", []), ("G2", "D1", ["A1"]), ("G1", "B1", ["D1"]), (None, None, [])]
    assert moved(rows) == {("G2", "D1"): [], ("G1", "B1"): ["A1"]}
    assert moved([("G1", "A1", []), ("G1", "B1", ["A1", "nowhere"])]) == {}


def test_a_cycle_outside_of_the_group_adds_nothing() -> None:
    rows = [("x", "a", ["p"]), ("y", "p", ["q"]), ("y", "q", ["p", "b"]), ("x", "b", [])]
    assert moved(rows)[("x", "a")] == ["b"]


def test_an_id_that_is_in_the_own_group_too_is_not_foreign() -> None:
    assert moved([("x", "1", []), ("y", "1", []), ("x", "2", ["1"])]) == {}


def test_random_graphs_agree_with_a_plain_walk() -> None:
    for seed in range(200):
        dice = Random(seed)
        rows = []
        for n in range(dice.randint(1, 12)):
            needs = [f"m{dice.randrange(n)}" for _ in range(dice.randint(0, 3))] if n else []
            rows.append((dice.choice("xyz"), f"m{n}", list(dict.fromkeys(needs))))
        home = {name: group for group, name, _ in rows}
        above = {name: needs for _, name, needs in rows}
        for group, name, needs in rows:
            found, stack = set(), list(needs)
            while stack:
                one = stack.pop()
                if home[one] == group:
                    found.add(one)
                else:
                    stack.extend(above[one])
            told = moved(rows).get((group, name), needs)
            assert set(told) == found, (seed, name)


def test_deep_chains_do_not_break_the_walk() -> None:
    graph: dict[str, list[tuple[str | None, list[str]]]] = {"n0": [("x", [])]}
    for n in range(1, 20_000):
        graph[f"n{n}"] = [("y", [f"n{n - 1}"])]
    assert nearest(graph, "n19999", "x", {}) == {"n0"}


def test_names_that_no_row_of_the_group_has() -> None:
    rows = [("x", "a", ["b", "c"]), ("x", "b", []), ("y", "c", ["c"]), ("y", "d", ["a"])]
    found = [name for batch in not_in_group(iter([graph_batch(rows)])) for name in batch["absent"].to_pylist()]
    assert sorted(found) == ["a", "c"]
