"""What users' own tests need: a cluster without sockets and without waiting. See `live.testing`."""

from antecede.live.testing import LocalCluster

__all__ = ["LocalCluster"]
