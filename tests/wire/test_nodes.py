"""The context graph's nodes: a chain costs a byte per edge, and what points outside is refused."""

from __future__ import annotations

import pytest
from hypothesis import given

from antecede.errors import RemoteProtocolError
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


@pytest.mark.parametrize(
    "numbers", [[0, 1, 0], [-1, 1, 0, 0], [0, 1, 0, 1, 3], [0, 1, 0, -1], [0, -1, 0, 0], [9, 1, 0, 0], [0, 1, 0, 0, 7]]
)
def test_what_points_outside_is_refused(numbers: list[int]) -> None:
    with pytest.raises((RemoteProtocolError, IndexError, StopIteration)):
        decode_nodes(b"a", (numbers, [[0]], [None]))
