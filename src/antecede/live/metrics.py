"""A broker's numbers as Prometheus reads them: names, help and labels, once.

Decided here: the numbers are read when somebody asks, from what the broker counts anyway; the package prometheus-client
is imported then, and one sentence says so where it is missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from antecede.errors import EnvironmentFault
from antecede.live.status import status_of
from antecede.live.tally import SLACK_S

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["CONTENT_TYPE", "metrics_of"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

GAUGES = {
    "held": "Messages that wait for a cause.",
    "gap_age_s": "For how long the oldest of them has been waiting.",
    "unsafe": "Publications that no other broker is known to have.",
    "stored": "Messages kept to answer others.",
    "connections": "Clients that are connected.",
}
COUNTERS = {
    "asked": "Missing messages asked for.",
    "answered": "Messages given to others who asked.",
}
NETWORK = {
    "datagrams_sent": "Datagrams to other brokers.",
    "datagrams_received": "Datagrams from other brokers.",
    "bytes_sent": "Bytes to brokers and clients.",
    "bytes_received": "Bytes from brokers and clients.",
    "control_bytes": "Bytes of causal metadata (stamps) in what was to be sent.",
    "refused": "Malformed datagrams, and frames that no client may send.",
    "turned_away": "Connections that were refused, said nothing, or made no sense.",
    "unsent": "What could not be sent: no address, or too much waited already.",
}


class Collector:
    def __init__(self, broker: Broker) -> None:
        self.broker = broker

    def collect(self) -> Iterator[Any]:
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        status, tally = status_of(self.broker), self.broker.tally
        fates = CounterMetricFamily("antecede_messages", "Messages by what became of them here.", labels=["fate"])
        for fate, count in sorted(tally.fates.items()):
            fates.add_metric([fate], count)
        yield fates
        for key, says in GAUGES.items():
            yield GaugeMetricFamily(
                f"antecede_{key.removesuffix('_s')}{'_seconds' * key.endswith('_s')}", says, status[key]
            )
        for key, says in COUNTERS.items():
            yield CounterMetricFamily(f"antecede_{key}", says, status[key])
        for key, says in NETWORK.items():
            yield CounterMetricFamily(f"antecede_{key}", says, status["network"][key])
        refusals = CounterMetricFamily("antecede_refusals", "What was refused for want of keys.", labels=["reason"])
        for reason, count in sorted(status["refusals"].items()):
            refusals.add_metric([reason], count)
        yield refusals
        waiting = GaugeMetricFamily("antecede_client_waiting", "Messages on their way to a client.", labels=["client"])
        for name, client in status["clients"].items():
            waiting.add_metric([name], client["waiting"])
        yield waiting
        offsets = GaugeMetricFamily(
            "antecede_clock_offset_seconds", "How far another broker's clock is ahead of this one.", labels=["broker"]
        )
        for name, clock in status["clock_offsets"].items():
            offsets.add_metric([name], clock["offset_us"] / 1e6)
        yield offsets
        buckets, total = [], 0
        for bound, count in zip((*map(str, SLACK_S), "+Inf"), tally.slack, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(
            "antecede_deadline_slack_seconds", "Time left before the deadline at delivery.", buckets, tally.slack_sum_s
        )


def metrics_of(broker: Broker) -> bytes:
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ModuleNotFoundError:
        raise EnvironmentFault("/metrics needs the package prometheus-client: pip install 'antecede[live]'.") from None
    registry = CollectorRegistry()
    registry.register(Collector(broker))
    written: bytes = generate_latest(registry)
    return written
