"""Numbers for Prometheus: readable by its own parser, and one sentence where its package is missing."""

from __future__ import annotations

import asyncio
import sys

import pytest

from antecede.errors import EnvironmentFault
from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.metrics import metrics_of


def test_the_page_is_what_prometheus_reads() -> None:
    parser = pytest.importorskip("prometheus_client.parser", reason="prometheus-client is not installed")

    async def main() -> str:
        async with (
            Broker("127.0.0.1:0", name="A") as broker,
            connect(broker.url, name="ann") as ann,
            connect(broker.url, name="bob") as bob,
            bob.subscribe("t") as inbox,
        ):
            for _ in range(3):
                await ann.publish("t", b"", within=30)
                await inbox.get(10)
            return metrics_of(broker).decode()

    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in parser.text_string_to_metric_families(asyncio.run(main()))
        for sample in family.samples
    }
    assert samples["antecede_messages_total", "delivered"] == 3
    assert samples["antecede_connections",] == 2
    assert samples["antecede_gap_age_seconds",] == 0
    assert samples["antecede_deadline_slack_seconds_bucket", "+Inf"] == 3
    assert samples["antecede_deadline_slack_seconds_bucket", "5.0"] == 0
    assert samples["antecede_bytes_sent_total",] > 0 and samples["antecede_bytes_received_total",] > 0
    assert 3 < samples["antecede_control_bytes_total",] < 100, "three messages to one subscriber"
    assert samples["antecede_turned_away_total",] == 0
    assert ("antecede_client_waiting", "bob") in samples


def test_without_the_package_it_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "prometheus_client", None)

    async def main() -> None:
        async with Broker("127.0.0.1:0") as broker:
            with pytest.raises(EnvironmentFault, match="prometheus-client"):
                metrics_of(broker)

    asyncio.run(main())
