"""A broker as a process: until it is told to stop, with its settings read again when it is told to (SIGHUP).

Decided here: SIGTERM and ctrl-C drain, a second one does not wait; SIGHUP changes what can change in a running broker
and says of the rest, each time, that it needs a restart, unless it came because the broker's terminal was closed: then
the broker drains too, or nobody would know that it still has the port. And how often Python looks for garbage: a broker
keeps many objects and leaves no cycles behind, so it looks rarely.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import signal
from collections.abc import Callable, Iterator

from antecede.errors import AntecedeError
from antecede.live.address import parse_address
from antecede.live.broker import Broker
from antecede.live.config import BrokerConfig
from antecede.live.faults import parse_faults
from antecede.live.keys.limits import LIMITS, Limits
from antecede.live.logs import set_up
from antecede.live.network import SocketNetwork
from antecede.live.state import default_directory

__all__ = ["broker_from", "collecting_rarely", "serve", "until_stopped"]

log = logging.getLogger("antecede.broker")

NEW_OBJECTS = 20_000
"""Between two looks for garbage (Python: 700). Raising it costs memory where somebody makes cycles after all."""
OLDER = (50, 100)
"""Looks at what is new for one at what is older, and of those for one at everything (Python: 10, 10). What a broker
stores grows old, and a look at everything costs as much as is stored. Raising it costs memory likewise."""


@contextlib.contextmanager
def collecting_rarely() -> Iterator[None]:
    """In a process of our own: what is there already is looked at no more, and what comes only every so often."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *OLDER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def broker_from(config: BrokerConfig) -> Broker:
    table = config["table"] or {filter: [] for filter in config["carry"]} or None
    return Broker(
        config["listen"],
        name=config["name"] or None,
        join=config["join"],
        table=table,
        records=config["records"] or None,
        http=config["http"] or None,
        mqtt=config["mqtt"] or None,
        state=config["state"] or str(default_directory()),
        keys=config["keys"] or None,
        advertise=config["advertise"] or None,
        limits=Limits(**{limit: config[f"limit_{limit}"] for limit in LIMITS}),
        network=SocketNetwork(parse_faults(config["faults"])),
    )


async def until_stopped(reload: Callable[[], None] | None = None) -> None:
    """Until SIGTERM, ctrl-C, or the end of the terminal that it was started in (under nohup it goes on)."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    signals = [(signal.SIGTERM, told.set), (signal.SIGINT, told.set)]
    if reload is not None:
        bound = signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN and has_terminal()

        def hung_up() -> None:
            if bound and not has_terminal():
                told.set()
            else:
                reload()

        signals.append((signal.SIGHUP, hung_up))
    for number, act in signals:
        loop.add_signal_handler(number, act)
    try:
        await told.wait()
    finally:
        for number, _ in signals:
            loop.remove_signal_handler(number)


def has_terminal() -> bool:
    """Whether this process belongs to a terminal that is still there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


async def serve(
    config: BrokerConfig,
    *,
    on_ready: Callable[[Broker], None] = lambda broker: None,
    again: Callable[[], BrokerConfig] | None = None,
) -> None:
    """Run one broker until it is told to stop. `again`: reads the settings anew."""
    broker = broker_from(config)
    if config["faults"]:
        log.warning("faults are injected between brokers: %s", config["faults"])
    await broker.start()
    current = config

    def reload() -> None:
        nonlocal current
        if again is None:
            return
        try:
            new = again()
            seeds = [parse_address(seed, beyond_loopback=broker.protection is not None) for seed in new["join"]]
        except AntecedeError as fault:
            log.error("settings not read again: %s", fault)
            return
        for one in current.changed(new):
            if one.reloads:
                log.info("%s: %s", one.key, new[one.key])
        for one in config.changed(new):
            if not one.reloads:
                later, now = new[one.key] or "-", config[one.key] or "-"
                log.warning("%s: %s after a restart; until then %s", one.key, later, now)
        set_up(new["log"], new["log_level"])
        broker.seeds = seeds
        current = new

    try:
        with collecting_rarely():
            on_ready(broker)
            await until_stopped(reload)
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await broker.stop(current["drain"])
