"""`antecede sub`: prints what comes, in causal order and before its deadline."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from antecede.live.inbox import Fate
    from antecede.live.message import Message

__all__ = ["sub"]


def sub(
    filters: Annotated[list[str], typer.Argument(help="What to see, for example 'room/#'; several may be given.")],
    at: Annotated[
        list[str] | None, typer.Option(metavar="ADDRESS", help="A broker [antecede://127.0.0.1:7400]; several times.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="What this client is called [made up].")] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="PREDICATE", help='Only messages of which it is true, for example "temp > 20".'),
    ] = None,
    count: Annotated[int | None, typer.Option(help="Stop after so many messages.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object a line, for programs; payload_base64 where it is no text.")
    ] = False,
    ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The cluster's ca.pem, for antecedes:// addresses.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where the token is, for the same [ANTECEDE_TOKEN].")
    ] = None,
    records: Annotated[str | None, typer.Option(metavar="DIR", help="Write records, for `antecede check`.")] = None,
) -> None:
    """Subscribe and print what comes: nothing before its causes, nothing after its deadline, until ctrl-C.

    What was left out is said on standard error, with its fate: late, superseded, expired, overflow or lost.
    """
    import asyncio

    from antecede.cli.calling import called
    from antecede.errors import InputError
    from antecede.live.client import connect
    from antecede.live.serve import until_stopped

    if count is not None and count < 1:
        raise InputError(f"--count is how many messages to wait for, 1 or more, not {count}.")

    async def take() -> None:
        client = connect(
            *(at or ()), name=name, records=records, tls=ca, token=token_file, on_state=Telling(), on_fate=left_out
        )
        async with called(client, at) as node, node.subscribe(*filters, where=where) as inbox:
            broker = "".join(f" --at {one}" for one in at or ())
            broker += (f" --ca {ca}" if ca else "") + (f" --token-file {token_file}" if token_file else "")
            topic = filters[0].replace("#", "1").replace("+", "1")
            hint = f"antecede pub {topic} 'where shall we meet?' --within 500ms{broker}"
            for one in filters:
                if "*" in one:
                    print(
                        f"In {one!r} * is a star and no wildcard: + is one level, # all that are left.", file=sys.stderr
                    )
            print(f"Waiting for {' '.join(filters)}. Next, in another terminal:", file=sys.stderr)
            print(f"  {hint}", file=sys.stderr, flush=True)
            stopped = asyncio.ensure_future(until_stopped())
            taken = 0
            while count is None or taken < count:
                waiting = asyncio.ensure_future(inbox.get())
                await asyncio.wait((waiting, stopped), return_when=asyncio.FIRST_COMPLETED)
                if not waiting.done():
                    waiting.cancel()
                    break
                print(as_line(waiting.result()) if as_json else as_text(waiting.result()), flush=True)
                taken += 1
            stopped.cancel()

    asyncio.run(take())


def left_out(fate: Fate) -> None:
    if not fate.id:
        print(f"{fate.messages} messages were {fate.fate} at the home broker", file=sys.stderr)
        return
    if fate.fate == "delivered":
        print(f"{fate.id} was delivered without {', '.join(fate.missing)}", file=sys.stderr)
        return
    because = f", for want of {', '.join(fate.missing)}" if fate.missing else ""
    print(f"{fate.id} was {fate.fate}{because}", file=sys.stderr)


class Telling:
    """Says when the connection is lost and when there is another one; the first connection goes without saying."""

    def __init__(self) -> None:
        self._lost = False

    def __call__(self, state: str, broker: str) -> None:
        if state == "away":
            self._lost = True
            print(f"The connection to {broker} is lost: looking for another broker.", file=sys.stderr)
        elif state == "connected" and self._lost:
            self._lost = False
            print(f"Connected to {broker} now.", file=sys.stderr)


def as_text(message: Message) -> str:
    return f"{message.topic}  {message.sender}  {message.text}"


def as_line(message: Message) -> str:
    sent, deadline = message.sent_at, message.deadline
    fields: dict[str, Any] = {
        "id": message.id, "topic": message.topic, "payload": message.text, "headers": dict(message.headers),
        "sender": message.sender, "sent_at": sent and sent.isoformat(), "deadline": deadline and deadline.isoformat(),
        "causes": list(message.causes), "missing": list(message.missing),
    }  # fmt: skip
    try:
        message.payload.decode()
    except UnicodeDecodeError:
        fields["payload_base64"] = base64.b64encode(message.payload).decode("ascii")
    return json.dumps(fields, ensure_ascii=False)
