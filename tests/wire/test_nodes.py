"""The context graph's nodes: a chain costs a byte per edge, and what points outside is refused."""

from __future__ import annotations

import pytest
from hypothesis import given

from antecede.core.names import MAX_TOPICS
from antecede.errors import InputError, RemoteProtocolError
from antecede.wire.limits import MAX_CELLS
from antecede.wire.nodes import Node, decode_nodes, encode_nodes
from tests.wire.strategies import NODES


@given(NODES)
def test_nodes_come_back(nodes: tuple[Node, ...]) -> None:
    assert decode_nodes(*encode_nodes(nodes)) == nodes


def test_a_chain_costs_five_numbers_a_node() -> None:
    chain: list[Node] = [("a", 1, ("G1",), (), None)]
    chain += [("a", n, ("G1",), (("a", n - 1),), None) for n in range(2, 50)]
    table, (numbers, _, _) = encode_nodes(tuple(chain))
    assert table == b"a\0G1"
    assert len(numbers) == 5 * len(chain) - 1
    assert max(numbers) < 128


def test_a_node_is_in_a_few_groups_at_least_one() -> None:
    for groups in ((), ("G1", "G1"), tuple(f"g{i}" for i in range(MAX_TOPICS + 1))):
        with pytest.raises(InputError):
            encode_nodes((("a", 1, groups, (), None),))
    for places in ([], [1, 1]):
        with pytest.raises(RemoteProtocolError):
            decode_nodes(b"a\0G1", ([0, 1, 0, 0], [places], [None]))


def test_groups_that_many_nodes_share_are_counted_for_each() -> None:
    groups = tuple(f"g{i}" for i in range(MAX_TOPICS))
    nodes: list[Node] = [("a", n, groups, (), None) for n in range(MAX_CELLS // MAX_TOPICS)]
    table, (numbers, sets, deadlines) = encode_nodes(tuple(nodes))
    assert len(decode_nodes(table, (numbers, sets, deadlines))) == len(nodes)
    with pytest.raises(InputError):
        encode_nodes((*nodes, nodes[0]))
    with pytest.raises(RemoteProtocolError):
        decode_nodes(table, ([*numbers, 0, 1, 0, 0], sets, [*deadlines, None]))


@pytest.mark.parametrize(
    "numbers", [[0, 1, 0], [-1, 1, 0, 0], [0, 1, 0, 1, 3], [0, 1, 0, -1], [0, -1, 0, 0], [9, 1, 0, 0], [0, 1, 0, 0, 7]]
)
def test_what_points_outside_is_refused(numbers: list[int]) -> None:
    with pytest.raises((RemoteProtocolError, IndexError, StopIteration)):
        decode_nodes(b"a", (numbers, [[0]], [None]))
