"""A broker that comes back: under its next life, in the same run, by the same clock; its clients go on."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antecede.live.broker import Broker
from antecede.live.client import connect
from antecede.live.state import State, default_directory, remember, remembered
from antecede.live.timing import machine_id
from antecede.live.virtual import VirtualLoop, VirtualNetwork
from antecede.trace.check import check


def test_what_is_remembered_is_recalled_and_damage_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = State("A", 3, "run", machine_id(), 77)
    assert remembered(tmp_path, "A", 7400) is None
    remember(tmp_path, 7400, state)
    assert remembered(tmp_path, "A", 7400) == state and remembered(tmp_path, "A", 7401) is None
    assert State("A", 0, "run", "another machine", 77).same_clock_us is None
    (tmp_path / "broker-A-7400.json").write_text("{", "utf-8")
    assert remembered(tmp_path, "A", 7400) is None and "cannot be read" in caplog.text
    (tmp_path / "file").touch()
    remember(tmp_path / "file", 7400, state)
    assert "cannot be written" in caplog.text
    monkeypatch.setenv("XDG_STATE_HOME", "/x")
    assert default_directory() == Path("/x/antecede")


def test_clients_outlive_their_only_broker(tmp_path: Path) -> None:
    network, records = VirtualNetwork(), str(tmp_path / "records")

    def broker() -> Broker:
        return Broker("127.0.0.1:7400", name="A", state=str(tmp_path / "state"), records=records, network=network)

    async def main() -> None:
        first = broker()
        await first.start()
        async with (
            connect(first.url, name="ann", records=records, network=network) as ann,
            connect(first.url, name="bob", records=records, network=network) as bob,
            bob.subscribe("t") as inbox,
        ):
            await ann.publish("t", b"before")
            assert (await inbox.get(10)).payload == b"before"
            first.crash()
            second = broker()
            await second.start()
            assert second.name == "A.1" and second.run == first.run
            assert second.clock.base_us == first.clock.base_us
            await ann.publish("t", b"after")
            assert (await inbox.get(30)).payload == b"after"
            assert ann.home == bob.home == "A.1"
        await second.stop()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(main())
    assert check(records).findings == []
