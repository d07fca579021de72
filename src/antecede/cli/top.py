"""`antecede top`: brokers at a glance, from their /status pages, until ctrl-C.

Decided here: a page that fits 80 columns. Numbers stand in the table; what has no bounded length (why a broker does not
answer, which messages were left out) stands in lines below it.
"""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from antecede.errors import InputError

if TYPE_CHECKING:
    from rich.console import Group

__all__ = ["top"]

NOT_DELIVERED = ("late", "superseded", "expired", "overflow", "gone")

UNAUTHORIZED = 401
NO_RIGHT = "it shows this only to a token that was made with --watch (--token-file)"
NO_HTTP = "what listens there does not speak HTTP; a broker with keys is asked with --ca and --token-file"

WORDS = (
    "sees: brokers it believes to be there. held: messages that wait for a cause;\n"
    "gap s: for how long the oldest has. unsafe: messages no other broker has yet;\n"
    "stored: messages kept to answer requests."
)
"""What the headings mean."""


def top(
    places: Annotated[
        list[str] | None,
        typer.Argument(metavar="HOST:PORT...", help="The http ports of brokers (--http); several may be given."),
    ] = None,
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

    if not places:
        raise InputError(
            "Name the http port of a broker: start one with `antecede broker --http 7480`, then say `antecede top "
            "127.0.0.1:7480`."
        )
    places = [as_typed.removeprefix("http://").removeprefix("https://").partition("/")[0] for as_typed in places]
    before: dict[str, dict[str, Any]] = {}
    console = Console(highlight=False)
    if once:
        looks = {place: look(place, ca, token_file) for place in places}
        if as_json:
            print(json.dumps(looks))
        else:
            console.print(page_of(looks, {}, every, once=True))
        raise typer.Exit(2 if all("away" in said for said in looks.values()) else 0)
    with suppress(KeyboardInterrupt), Live(console=console, auto_refresh=False, transient=False) as live:
        while True:
            looks = {place: look(place, ca, token_file) for place in places}
            if as_json:
                print(json.dumps(looks))
            else:
                live.update(page_of(looks, before, every), refresh=True)
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
    except urllib.error.HTTPError as refusal:
        return {"away": NO_RIGHT if refusal.code == UNAUTHORIZED else f"{refusal.code} {refusal.reason}"}
    except http.client.HTTPException:
        return {"away": "what listens there does not speak HTTP" if secure else NO_HTTP}
    except (OSError, ValueError, urllib.error.URLError) as fault:
        reason = getattr(fault, "reason", fault)
        return {"away": getattr(reason, "strerror", None) or str(reason)}


def page_of(
    looks: dict[str, dict[str, Any]], before: dict[str, dict[str, Any]], seconds: float, *, once: bool = False
) -> Group:
    """A table of the brokers that answer; below it what was left out, who does not answer, and what the words mean."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table("broker", "address", "sees", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("clients", "msg/s", "held", "gap s", "unsafe", "stored"):
        table.add_column(heading, justify="right")
    lines = []
    for place, said in looks.items():
        if "away" in said:
            if said["away"] == NO_RIGHT:
                lines.append(f"{place}: {NO_RIGHT}.")
            else:
                lines.append(f"{place} does not answer: {said['away']}. {cure_of(place)}")
            continue
        fates = said["fates"]
        delivered = fates.get("delivered", 0) - before.get(place, {}).get("fates", {}).get("delivered", 0)
        rate = f"{delivered / seconds:.0f}" if place in before else "-"
        there = [name for name, one in said["brokers"].items() if one["state"] in ("alive", "suspect")]
        table.add_row(
            said["name"], said["address"].partition("://")[2], " ".join(sorted(there)), str(said["connections"]), rate,
            str(said["held"]), f"{said['gap_age_s']:.2f}", str(said["unsafe"]), str(said["stored"]),
        )  # fmt: skip
        left_out = [f"{n} {fate}" for fate, n in fates.items() if fate in NOT_DELIVERED and n]
        if left_out:
            lines.append(f"{said['name']} left out: {', '.join(left_out)}")
    below = [Text(line) for line in lines]
    if all("away" in said for said in looks.values()):
        return Group(*below)
    return Group(table, Text(WORDS if once else f"{WORDS} ctrl-C ends.", style="dim"), *below)


def cure_of(place: str) -> str:
    """A broker may be there, at the port for its clients."""
    port = place.rpartition(":")[2]
    example = port if port.isdigit() and port != "7400" else "7480"
    return f"Is it the http port of a broker, as in `antecede broker --http {example}`?"
