"""`antecede cluster N`: several brokers on the loopback, in one process and one terminal, until it is stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from antecede.live.broker import Broker
    from antecede.live.faults import Faults

__all__ = ["cluster"]

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def cluster(
    count: Annotated[int, typer.Argument(metavar="N", min=1, max=len(NAMES), help="How many brokers.")],
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON with `addresses` and `http`.")] = False,
    records: Annotated[str | None, typer.Option(metavar="DIR", help="Write records, for `antecede check`.")] = None,
    port: Annotated[int, typer.Option(help="The first broker's port, the others follow; 0: any free ones.")] = 0,
    mqtt: Annotated[bool, typer.Option("--mqtt", help="Also take MQTT 5 clients, at any free ports.")] = False,
    loss: Annotated[float, typer.Option(help="For tests: share of the datagrams between brokers that is lost.")] = 0.0,
    duplicate: Annotated[float, typer.Option(help="For tests: share of them that comes twice.")] = 0.0,
    reorder: Annotated[float, typer.Option(help="For tests: share of them that later ones overtake.")] = 0.0,
    seed: Annotated[int, typer.Option(help="The seed of --loss, --duplicate and --reorder.")] = 0,
) -> None:
    """Run N brokers on this machine and print one address for each, until ctrl-C or SIGTERM.

    They carry every topic and know each other; any address will do for `antecede sub --at` and `antecede.connect`.
    With --port 7400 the first one is where `antecede sub` and `antecede pub` look without --at.

    All are one process: to see what happens when one is killed, run `antecede broker --join HOST:PORT` beside them.
    """
    import asyncio

    from antecede.live.faults import Faults
    from antecede.live.logs import set_up

    set_up("text", "warning")
    asyncio.run(run(count, as_json, records, port, Faults(loss, duplicate, reorder, seed), mqtt=mqtt))


async def run(count: int, as_json: bool, records: str | None, port: int, faults: Faults, *, mqtt: bool = False) -> None:
    from antecede.live.broker import Broker
    from antecede.live.network import SocketNetwork
    from antecede.live.serve import until_stopped

    brokers: list[Broker] = []
    try:
        for n in range(count):
            join = [brokers[0].url] if brokers else []
            listen = f"127.0.0.1:{port + n if port else 0}"
            broker = Broker(
                listen, name=NAMES[n], join=join, records=records, http=0, mqtt=0 if mqtt else None,
                network=SocketNetwork(faults),
            )  # fmt: skip
            await broker.start()
            brokers.append(broker)
        show(brokers, as_json)
        await until_stopped()
    finally:
        for broker in reversed(brokers):  # one after the other: what is safe nowhere else goes to those that stay
            await broker.stop(1.0)


def show(brokers: list[Broker], as_json: bool) -> None:
    from antecede.cli.broker import at_option, show_next
    from antecede.live.address import text_of

    doors = [f"mqtt://{text_of(one.door.address)}" for one in brokers if one.door is not None and one.door.address]
    if as_json:
        http = [f"http://{text_of(broker.pages.address)}" for broker in brokers]
        told = {"addresses": [broker.url for broker in brokers], "http": http}
        if doors:
            told["mqtt"] = doors
        print(json.dumps(told), flush=True)
        return
    for n, broker in enumerate(brokers):
        print(f"{broker.name}  {broker.url}" + (f"  {doors[n]}" if doors else ""))
    show_next(at_option(brokers[0].url), at_option(brokers[-1].url))
    print(f"Watch them:\n  antecede top {' '.join(text_of(broker.pages.address) for broker in brokers)}")
    print("Stop them with ctrl-C.", flush=True)
