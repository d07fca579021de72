"""A broker as a process: stopped by a signal it drains, and its settings are read again."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
from pathlib import Path

import pytest

from antecede.live.broker import Broker
from antecede.live.config import load
from antecede.live.serve import NEW_OBJECTS, OLDER, collecting_rarely, serve


def test_a_signal_stops_it_and_another_reads_its_settings_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("antecede.live.serve.set_up", lambda form, level: None)
    caplog.set_level(logging.INFO, "antecede")
    file = tmp_path / "broker.toml"
    file.write_text('listen = "127.0.0.1:0"\nname = "A"\n', "utf-8")
    seen: list[Broker] = []

    async def main() -> None:
        def ready(broker: Broker) -> None:
            seen.append(broker)
            loop = asyncio.get_running_loop()
            file.write_text('listen = "127.0.0.1:0"\nname = "B"\njoin = ["127.0.0.1:1"]\n', "utf-8")
            loop.call_later(0.05, os.kill, os.getpid(), signal.SIGHUP)
            loop.call_later(0.15, file.write_text, "nonsense", "utf-8")
            loop.call_later(0.2, os.kill, os.getpid(), signal.SIGHUP)
            loop.call_later(0.3, os.kill, os.getpid(), signal.SIGTERM)

        await serve(load(file), on_ready=ready, again=lambda: load(file))

    asyncio.run(main())
    (broker,) = seen
    assert broker.stopping and broker.seeds == [("127.0.0.1", 1)]
    assert "name: B (after a restart)" in caplog.text and "join: ['127.0.0.1:1']" in caplog.text
    assert "settings not read again" in caplog.text


def test_garbage_is_looked_for_rarely_while_a_broker_runs_and_as_before_afterwards() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with collecting_rarely():
        assert gc.get_threshold() == (NEW_OBJECTS, *OLDER) and gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0
