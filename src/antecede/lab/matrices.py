"""Round-trip times between hosts, for claims about distance: where real ones lie, and a synthetic matrix for everybody.

Decided here: the synthetic matrix. Hosts stand in sites in turn; within a site a round trip takes 2 to 10 ms, between
two sites as long as their distance on a circle says, 60 to 180 ms for four of them, and up to 10 % more.
`write_synthetic` makes a file for `antecede simulate --latency`.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from random import Random

import antecede

__all__ = ["find_planetlab", "path_of", "synthetic", "write_synthetic"]

PLANETLAB = Path("shared") / "data" / "planetlab_rtt.parquet"
NEAR_MS = (2.0, 10.0)
FAR_MS = 180.0


def synthetic(hosts: int = 64, sites: int = 4, seed: int = 1) -> list[tuple[str, str, float]]:
    """(source, target, rtt_ms) of all pairs; the same numbers give the same matrix.

    >>> rows = synthetic(8, 4)
    >>> len(rows), max(rtt for _, _, rtt in rows) < 200
    (56, True)
    """
    dice = Random(seed)
    rows = []
    for a in range(hosts):
        for b in range(a + 1, hosts):
            apart = abs(a % sites - b % sites)
            if apart:
                rtt = FAR_MS * math.sin(math.pi * apart / sites) * (1 + 0.1 * dice.random())
            else:
                rtt = NEAR_MS[0] + (NEAR_MS[1] - NEAR_MS[0]) * dice.random()
            rows += [(f"h{a}", f"h{b}", rtt), (f"h{b}", f"h{a}", rtt)]
    return rows


def write_synthetic(path: Path, hosts: int = 64, sites: int = 4, seed: int = 1) -> Path:
    """As Parquet: source, target, rtt_ms. It appears whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sources, targets, rtts = zip(*synthetic(hosts, sites, seed), strict=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as made:
        pq.write_table(pa.table({"source": sources, "target": targets, "rtt_ms": rtts}), made)
    Path(made.name).rename(path)
    return path


def find_planetlab() -> Path | None:
    """The real round trips, beside the checkout or above the working directory; None: not on this machine."""
    places = [*Path(__file__).resolve().parents, *(Path.cwd() / "here").parents]
    return next((place / PLANETLAB for place in places if (place / PLANETLAB).is_file()), None)


def path_of(matrix: str) -> Path:
    """The file of a matrix by name, made if it is the synthetic one."""
    if matrix == "synthetic":
        path = Path(tempfile.gettempdir()) / f"antecede-{antecede.__version__}-synthetic-rtt.parquet"
        return path if path.is_file() else write_synthetic(path)
    found = find_planetlab()
    if found is None:
        raise FileNotFoundError(f"{PLANETLAB} lies neither beside the checkout nor above the working directory")
    return found
