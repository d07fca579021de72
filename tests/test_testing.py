"""The door for users' own tests."""

from __future__ import annotations

from antecede.live import testing
from antecede.testing import LocalCluster


def test_it_is_the_cluster_of_live() -> None:
    assert LocalCluster is testing.LocalCluster
