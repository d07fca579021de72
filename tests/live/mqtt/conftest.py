"""One broker for all tests of a module that need no broker of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.live.mqtt.harness import Brokers, brokers

pytest.importorskip("mqtt5", reason="the extra `mqtt` is not installed")
pytest.importorskip("paho", reason="paho-mqtt is not installed")


@pytest.fixture(scope="module")
def one() -> Iterator[Brokers]:
    with brokers() as running:
        yield running
