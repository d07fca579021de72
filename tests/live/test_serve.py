"""A broker as a process: stopped by a signal it drains, and its settings are read again."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import pty
import signal
import sys
import time
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
    assert "name: B after a restart; until then A" in caplog.text and "join: ['127.0.0.1:1']" in caplog.text
    assert "settings not read again" in caplog.text


def test_what_needs_a_restart_is_told_each_time_and_what_is_refused_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    levels: list[str] = []
    monkeypatch.setattr("antecede.live.serve.set_up", lambda form, level: levels.append(level))
    caplog.set_level(logging.INFO, "antecede")
    file, seen, faults = tmp_path / "broker.toml", list[Broker](), list[object]()
    before = f'listen = "127.0.0.1:0"\nstate = "{tmp_path}"\n'
    file.write_text(f'{before}name = "A"\n', "utf-8")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: faults.append(context))

        def ready(broker: Broker) -> None:
            seen.append(broker)
            texts = ['name = "B"\n', 'name = "B"\ndrain = 1\n', 'log_level = "debug"\njoin = ["192.0.2.1:7400"]\n']
            for n, text in enumerate(texts):
                loop = asyncio.get_running_loop()
                loop.call_later(0.2 * n + 0.1, file.write_text, before + text, "utf-8")
                loop.call_later(0.2 * n + 0.2, os.kill, os.getpid(), signal.SIGHUP)
            loop.call_later(0.8, os.kill, os.getpid(), signal.SIGTERM)

        await serve(load(file), on_ready=ready, again=lambda: load(file))

    asyncio.run(main())
    assert caplog.messages.count("name: B after a restart; until then A") == 2 and "drain: 1.0" in caplog.messages
    assert not faults and seen[0].seeds == [] and levels == ["info", "info"]
    assert "settings not read again" in caplog.text and "192.0.2.1" in caplog.text


def test_garbage_is_looked_for_rarely_while_a_broker_runs_and_as_before_afterwards() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    with collecting_rarely():
        assert gc.get_threshold() == (NEW_OBJECTS, *OLDER) and gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before and gc.get_freeze_count() == 0


def test_a_broker_goes_with_its_terminal(tmp_path: Path) -> None:
    """In a session with a terminal of its own: when that is closed SIGHUP comes, and not to have settings read."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["ANTECEDE_STATE"] = str(tmp_path)
        os.execv(sys.executable, [sys.executable, "-m", "antecede", "broker", "--listen", "127.0.0.1:0"])
    shown = b""
    while b"ctrl-C" not in shown:
        shown += os.read(terminal, 1000)
    time.sleep(0.5)  # until it listens to signals
    os.kill(child, signal.SIGHUP)  # the terminal is there: it reads its settings again, and goes on
    time.sleep(0.3)
    assert os.waitpid(child, os.WNOHANG) == (0, 0)
    os.close(terminal)
    for _ in range(200):
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("it still runs")
