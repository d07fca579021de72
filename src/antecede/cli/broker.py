"""`antecede broker`: runs one broker until it is told to stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from antecede.live.address import Address
    from antecede.live.broker import Broker
    from antecede.live.keys.protection import Protection

__all__ = ["broker"]

EXAMPLE = "room/#"
"""The filter of examples, where the broker carries it."""


def broker(
    listen: Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Where to listen [127.0.0.1:7400].")] = None,
    name: Annotated[str | None, typer.Option(help="What it is called in records [b and its port].")] = None,
    join: Annotated[
        list[str] | None, typer.Option(metavar="HOST:PORT", help="A broker to join; may be given several times.")
    ] = None,
    carry: Annotated[
        list[str] | None, typer.Option(metavar="FILTER", help="Topics the cluster carries [every topic].")
    ] = None,
    http: Annotated[int | None, typer.Option(help="Port for /metrics, /health, /ready and /status.")] = None,
    keys: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keys that `antecede keys` made; needed beyond the loopback.")
    ] = None,
    advertise: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="By which others call it [as it listens].")
    ] = None,
    mqtt: Annotated[int | None, typer.Option(help="Port for MQTT 5 clients; WebSocket: /mqtt of --http.")] = None,
    records: Annotated[str | None, typer.Option(metavar="DIR", help="Write records, for `antecede check`.")] = None,
    state: Annotated[str | None, typer.Option(metavar="DIR", help="Where it remembers its name's lives.")] = None,
    faults: Annotated[str | None, typer.Option(help="For tests: loss=0.1,duplicate=0.05,reorder=0.05.")] = None,
    log: Annotated[str | None, typer.Option(help="text or json.")] = None,
    log_level: Annotated[str | None, typer.Option(help="debug, info, warning or error.")] = None,
    drain: Annotated[str | None, typer.Option(help="How long to wait for clients to go when it is stopped.")] = None,
    config: Annotated[Path | None, typer.Option(metavar="FILE", help="Settings in TOML; flags win.")] = None,
) -> None:
    """Run a broker: clients publish through it, subscribers read from it, several of them form a cluster.

    It runs until it is stopped (ctrl-C or SIGTERM); then it sends its clients to other brokers and waits until nothing
    it accepted is only here. Settings: flags, then ANTECEDE_* in the environment, then --config; `antecede config`
    shows each with its source, and SIGHUP reads them again.
    """
    import asyncio
    import os

    from antecede.live.config import BrokerConfig, load
    from antecede.live.logs import set_up
    from antecede.live.serve import serve

    flags: dict[str, Any] = {
        "listen": listen, "name": name, "join": join or None, "carry": carry or None, "http": http, "mqtt": mqtt,
        "records": records, "state": state, "faults": faults, "keys": keys,
        "advertise": advertise,
        "log": log, "log_level": log_level, "drain": drain,
    }  # fmt: skip

    def again() -> BrokerConfig:
        return load(config, os.environ, flags)

    settings = again()
    set_up(settings["log"], settings["log_level"])
    asyncio.run(serve(settings, on_ready=show, again=again))


def show(broker: Broker) -> None:
    from antecede.live.address import text_of

    print(f"{broker.name} listens on {broker.url}", flush=True)
    at, with_keys = at_option(broker.url), ""
    if broker.protection is not None:
        with_keys = f" --ca {broker.protection.keys.directory / 'ca.pem'} --token-file FILE"
    wanted = first_carried(broker)
    show_next(at + with_keys, at + with_keys, wanted)
    if broker.http_port is not None:
        print(f"Watch it:\n  antecede top {text_of(broker.pages.address)}{with_keys}")
    if broker.door is not None and broker.door.address is not None:
        print(f"MQTT 5 clients:\n  {mosquitto(broker.door.address, broker.protection, wanted)}")
    print("Stop it with ctrl-C.", flush=True)


def mosquitto(address: Address, protection: Protection | None, wanted: str = EXAMPLE) -> str:
    """How a client that most machines have comes in by the door."""
    host, port = address
    where = f"-p {port}" if host in ("127.0.0.1", "::1", "0.0.0.0", "::") else f"-h {host} -p {port}"
    if protection is not None:
        where += f' --cafile {protection.keys.directory / "ca.pem"} -u any -P "$(cat FILE)"'
    return f"mosquitto_sub -V 5 {where} -t '{wanted}'"


def at_option(url: str) -> str:
    """How `sub` and `pub` are told of a broker: nothing where they look by themselves; the address alone on the
    loopback, so that the line fits 80 columns.

    >>> at_option("antecede://127.0.0.1:7400"), at_option("antecede://127.0.0.1:7401")
    ('', ' --at 127.0.0.1:7401')
    """
    return "" if url == "antecede://127.0.0.1:7400" else f" --at {url.removeprefix('antecede://')}"


def first_carried(broker: Broker) -> str:
    """The filter of an example that this broker serves."""
    from antecede.core.entries import REPLIES
    from antecede.core.topics import EVERYTHING, covers

    entries = broker.entries
    carried = [one for one in entries.filters(entries.carried_by(broker.name)) if one != REPLIES]
    if not carried or any(covers(one, EXAMPLE) for one in carried):
        return EXAMPLE
    return next((one for one in carried if one != EVERYTHING), EXAMPLE)


def topic_for(filter: str) -> str:
    """A topic that it matches.

    >>> topic_for("room/#"), topic_for("+/door"), topic_for("hall")
    ('room/1', '1/door', 'hall')
    """
    return filter.replace("#", "1").replace("+", "1")


def show_next(sub_at: str, pub_at: str, wanted: str = EXAMPLE) -> None:
    """The next two commands to type, each in a line of its own, to be copied whole."""
    print(f"Next, in another terminal:\n  antecede sub '{wanted}'{sub_at}")
    print(f"and in a third one:\n  antecede pub {topic_for(wanted)} 'where shall we meet?' --within 500ms{pub_at}")
