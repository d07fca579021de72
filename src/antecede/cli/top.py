"""`antecede top`: brokers at a glance, from their /status pages, until ctrl-C."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["top"]


def top(
    http: Annotated[list[str], typer.Argument(metavar="HOST:PORT...", help="Where brokers serve http (--http).")],
    every: Annotated[float, typer.Option(help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option(help="Look once and end.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per look, for programs.")] = False,
) -> None:
    """Watch brokers: who is there, how many messages a second, what waits and for how long, what was left out.

    Example: antecede broker --http 7480, then antecede top 127.0.0.1:7480
    """
    from rich.console import Console
    from rich.live import Live

    before: dict[str, dict[str, Any]] = {}
    console = Console()
    with Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            looks = {place: look(place) for place in http}
            if as_json:
                print(json.dumps(looks))
            else:
                live.update(table_of(looks, before, every), refresh=True)
            if once:
                return
            before = looks
            time.sleep(every)


def look(place: str) -> dict[str, Any]:
    """What a broker says of itself, or why it cannot be asked."""
    from antecede.live.address import parse_address, text_of

    try:
        with urllib.request.urlopen(f"http://{text_of(parse_address(place))}/status", timeout=2) as answer:
            said: dict[str, Any] = json.load(answer)
            return said
    except (OSError, ValueError, urllib.error.URLError) as fault:
        return {"away": str(getattr(fault, "reason", fault))}


def table_of(looks: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]], seconds: float) -> Table:
    from rich.table import Table

    table = Table("broker", "address", "sees", "clients", "msg/s", "held", "gap s", "unsafe", "stored", "left out")
    for place, said in looks.items():
        if "away" in said:
            table.add_row("?", place, said["away"])
            continue
        fates = said["fates"]
        delivered = fates.get("delivered", 0) - before.get(place, {}).get("fates", {}).get("delivered", 0)
        rate = f"{delivered / seconds:.0f}" if place in before else "-"
        there = [name for name, one in said["brokers"].items() if one["state"] in ("alive", "suspect")]
        left_out = {k: n for k, n in fates.items() if k in ("late", "superseded", "expired", "overflow", "gone") and n}
        table.add_row(
            said["name"], said["address"], " ".join(sorted(there)), str(said["connections"]), rate, str(said["held"]),
            f"{said['gap_age_s']:.2f}", str(said["unsafe"]), str(said["stored"]),
            " ".join(f"{k}:{n}" for k, n in left_out.items()),
        )  # fmt: skip
    return table
