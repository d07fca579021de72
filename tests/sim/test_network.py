"""Loss, copies, delays, spikes and partitions have the frequencies that were asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from antecede.errors import InputError
from antecede.sim.agenda import Agenda
from antecede.sim.dice import stream
from antecede.sim.network import Latency, Network, read_latency
from antecede.sim.scenario import Scenario

BOOK = {"A": "process A", "B": "process B"}
PLANETLAB = Path(__file__).resolve().parents[3] / "shared" / "data" / "planetlab_rtt.parquet"


def arrivals(network: Network, count: int = 1, to: tuple[str, ...] = ("B",), now_us: int = 0) -> list[tuple[Any, ...]]:
    agenda = Agenda()
    for _ in range(count):
        network.post("A", to, "frame", (), now_us, BOOK, agenda)
    return list(agenda)


def network(**knobs: Any) -> Network:
    return Network(Scenario(**knobs), stream(1, "network"))


def test_without_faults_each_copy_arrives_once_within_the_delay() -> None:
    came = arrivals(network(delay_ms=(5, 20)), 2_000)
    delays = [item[0] for item in came]
    assert len(came) == 2_000 and came[0][1:] == ("process B", "A", "frame", ())
    assert min(delays) >= 5_000 and max(delays) <= 20_000
    assert abs(sum(delays) / 2_000 - 12_500) < 400


@pytest.mark.parametrize("loss", [0.1, 0.3, 1.0])
def test_loss(loss: float) -> None:
    assert abs(len(arrivals(network(loss=loss), 5_000)) / 5_000 - (1 - loss)) < 0.03


def test_duplicates() -> None:
    assert abs(len(arrivals(network(duplicate=0.2), 5_000)) / 5_000 - 1.2) < 0.03


def test_spikes_take_ten_times_as_long() -> None:
    delays = [item[0] for item in arrivals(network(spike=0.1, delay_ms=(10, 10)), 5_000)]
    assert sorted({d // 10 for d in delays}) in ([1_000, 10_000], [1_000, 1_001, 10_000, 10_001])
    assert abs(sum(d >= 100_000 for d in delays) / 5_000 - 0.1) < 0.02


def test_sides_do_not_hear_each_other_while_a_partition_stands() -> None:
    net = network()
    net.side = {"A": 0, "B": 1}
    assert arrivals(net) == []
    assert len(arrivals(net, to=("A",))) == 1
    net.side = None
    assert len(arrivals(net)) == 1


def test_frames_to_the_dead_go_nowhere() -> None:
    assert arrivals(network(), to=("C",)) == []


def test_a_matrix_sets_the_delays() -> None:
    rtt = [[0, 40_000], [40_000, 0]]
    latency = Latency(rtt, ["A", "B"], stream(1, "hosts"))
    net = Network(Scenario(), stream(1, "network"), latency)
    assert all(20_000 <= item[0] <= 22_000 for item in arrivals(net, 100))
    assert latency.range_us == (20_000, 22_000)


def test_a_matrix_says_who_is_near_whom() -> None:
    rtt = [[9_000 if (i < 2) == (j < 2) else 90_000 for j in range(4)] for i in range(4)]
    latency = Latency(rtt, ["A", "B", "C", "D"], stream(1, "hosts"))
    two = latency.sites(2)
    for a in "ABCD":
        for b in "ABCD":
            assert (two[a] == two[b]) == (a == b or latency.one_way_us(a, b) < 10_000)
    assert len(set(latency.sites(9).values())) == 4 and set(latency.sites(1).values()) == {0}


def test_restarted_processes_stay_on_their_host() -> None:
    latency = Latency([[0, 40_000], [40_000, 0]], ["A", "B"], stream(1, "hosts"))
    assert latency.one_way_us("A.2", "B") == latency.one_way_us("A", "B")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "does not exist"),
        (b"PAR1 and then nothing", "is no latency matrix"),
        ({"source": [1], "target": [2]}, "is no latency matrix"),
        ({"source": [1], "target": [2], "rtt_ms": [0.0]}, "holds no round trip above 0"),
    ],
)
def test_bad_matrices(tmp_path: Path, content: Any, says: str) -> None:
    path = tmp_path / "rtt.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        pq.write_table(pa.table(content), path)
    with pytest.raises(InputError, match=says):
        read_latency(path)


@pytest.mark.skipif(not PLANETLAB.exists(), reason="the real round trips lie beside the project, not in it")
def test_real_round_trips() -> None:
    matrix = read_latency(PLANETLAB)
    assert len(matrix) == 490 and all(rtt > 0 for line in matrix for rtt in line)
