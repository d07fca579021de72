"""A broker as a process: until it is told to stop, with its settings read again when it is told to (SIGHUP).

Decided here: SIGTERM and ctrl-C drain, a second one does not wait; SIGHUP changes what can change in a running broker
and says of the rest that it needs a restart.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import Callable

from antecede.errors import AntecedeError
from antecede.live.address import parse_address
from antecede.live.broker import Broker
from antecede.live.config import BrokerConfig
from antecede.live.logs import set_up
from antecede.live.state import default_directory

__all__ = ["broker_from", "serve", "until_stopped"]

log = logging.getLogger("antecede.broker")


def broker_from(config: BrokerConfig) -> Broker:
    table = config["table"] or {filter: [] for filter in config["carry"]} or None
    return Broker(
        config["listen"],
        name=config["name"] or None,
        join=config["join"],
        table=table,
        records=config["records"] or None,
        http=config["http"] or None,
        state=config["state"] or str(default_directory()),
    )


async def until_stopped(reload: Callable[[], None] | None = None) -> None:
    """Until SIGTERM or ctrl-C."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    signals = [(signal.SIGTERM, told.set), (signal.SIGINT, told.set)]
    if reload is not None:
        signals.append((signal.SIGHUP, reload))
    for number, act in signals:
        loop.add_signal_handler(number, act)
    try:
        await told.wait()
    finally:
        for number, _ in signals:
            loop.remove_signal_handler(number)


async def serve(
    config: BrokerConfig,
    *,
    on_ready: Callable[[Broker], None] = lambda broker: None,
    again: Callable[[], BrokerConfig] | None = None,
) -> None:
    """Run one broker until it is told to stop. `again`: reads the settings anew."""
    broker = broker_from(config)
    await broker.start()
    current = config

    def reload() -> None:
        nonlocal current
        if again is None:
            return
        try:
            new = again()
        except AntecedeError as fault:
            log.error("settings not read again: %s", fault)
            return
        for one in current.changed(new):
            log.info("%s: %s%s", one.key, new[one.key], "" if one.reloads else " (after a restart)")
        set_up(new["log"], new["log_level"])
        broker.seeds = [parse_address(seed) for seed in new["join"]]
        current = new

    try:
        on_ready(broker)
        await until_stopped(reload)
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await broker.stop(current["drain"])
