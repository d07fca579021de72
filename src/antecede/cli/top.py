"""`antecede top`: brokers at a glance, from their /status pages, until ctrl-C."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["top"]


def top(
    http: Annotated[list[str], typer.Argument(metavar="HOST:PORT...", help="Where brokers serve http (--http).")],
    every: Annotated[float, typer.Option(help="Seconds between two looks.")] = 1.0,
    once: Annotated[bool, typer.Option(help="Look once and end.")] = False,
    ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The cluster's ca.pem, where brokers have keys.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the token is, one made with --watch [ANTECEDE_TOKEN].")
    ] = None,
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
            looks = {place: look(place, ca, token_file) for place in http}
            if as_json:
                print(json.dumps(looks))
            else:
                live.update(table_of(looks, before, every), refresh=True)
            if once:
                return
            before = looks
            time.sleep(every)


def look(place: str, ca: Path | None = None, token_file: Path | None = None) -> dict[str, Any]:
    """What a broker says of itself, or why it cannot be asked. With a CA or a token it is asked over TLS."""
    from antecede.live.address import text_of
    from antecede.live.keys.caller import caller_for

    secure = ca is not None or token_file is not None
    how = caller_for([f"antecedes://{place}" if secure else place], ca, token_file)
    url = f"{'https' if secure else 'http'}://{text_of(how.places[0])}/status"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {how.token()}"} if secure else {})
    try:
        with urllib.request.urlopen(request, timeout=2, context=how.tls) as answer:
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
