"""`antecede keys`: makes and changes the keys of a cluster, and the tokens of its clients; never prints a secret twice.

Decided here: a token is printed once, when it is made (or written to a file); everything else stays in the directory.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from antecede.cli.output import fitted
from antecede.errors import EnvironmentFault, InputError

__all__ = ["keys"]

Option = typer.Option
ACTIONS = ("init", "broker", "token", "revoke", "rotate", "show")


def keys(
    action: Annotated[str, typer.Argument(metavar="|".join(ACTIONS), help="What to do.")],
    which: Annotated[str | None, typer.Argument(metavar="[ID|NAME]", help="revoke: which token.")] = None,
    directory: Annotated[
        Path | None, Option("--dir", metavar="DIR", help="Where the keys are [~/.config/antecede/keys].")
    ] = None,
    host: Annotated[
        list[str] | None, Option(metavar="HOST", help="init, broker: how the broker is called; several times.")
    ] = None,
    publish: Annotated[list[str] | None, Option(metavar="FILTER", help="token: topics it may publish to.")] = None,
    subscribe: Annotated[list[str] | None, Option(metavar="FILTER", help="token: what it may subscribe to.")] = None,
    watch: Annotated[bool, Option("--watch", help="token: it may read /status and /metrics.")] = False,
    expires: Annotated[str, Option(help="token: for how long it is good, such as 12h or 30d.")] = "30d",
    name: Annotated[str | None, Option(help="token: what its clients are called, NAME or NAME-...")] = None,
    after: Annotated[str, Option(help="rotate: when brokers begin to use the new secret.")] = "10m",
    out: Annotated[
        Path | None, Option(metavar="PATH", help="broker: a directory for it. token: a file for it.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="show: one JSON object, for programs.")] = False,
) -> None:
    """Keys of a cluster: what brokers need beyond the loopback, and tokens for their clients.

    \b
    antecede keys init --host 10.0.0.1    secret, authority, its certificate
    antecede keys broker --host 10.0.0.2 --out two     for another broker: copy it
    antecede keys token --name ann --publish 'room/#' --subscribe '#'
    antecede keys revoke ann              all tokens of that name, or one by id
    antecede keys rotate                  a new secret; brokers change over
    antecede keys show                    what there is, without any secret
    """
    if action not in ACTIONS:
        raise InputError(f"antecede keys cannot {action!r}: it can {', '.join(ACTIONS)}.")
    try:
        from antecede.live.keys import store
    except ModuleNotFoundError:
        raise EnvironmentFault("Keys need the package cryptography: pip install 'antecede[live]'.") from None
    from antecede.live.keys.files import default_directory, write
    from antecede.live.when import parse_duration

    there, now = directory or default_directory(), datetime.now(UTC)
    named = f" --dir {directory}" if directory else ""
    if action == "init":
        hosts = store.init(there, host or [], now)
        print(f"Keys are in {there}, for a broker called {', '.join(hosts)}.")
        print(f"Next:  antecede keys token --publish 'room/#' --subscribe 'room/#'{named}")
        print(f"       antecede broker --listen {(host or ['127.0.0.1'])[0]}:7400 --keys {there}")
    elif action == "broker":
        if out is None:
            raise InputError("Say where the broker's keys go: --out DIR.")
        store.for_broker(there, out, host or [], now)
        print(f"{out} has what a broker called {', '.join(host or [])} needs: copy it there, then --keys DIR.")
    elif action == "token":
        from antecede.live.keys.tokens import rights_for

        if not publish and not subscribe and not watch:
            raise InputError(
                "A token without rights is of no use: say --publish FILTER, --subscribe FILTER or --watch."
            )
        until_s = int(now.timestamp() + parse_duration(expires))
        rights = rights_for(name, tuple(publish or ()), tuple(subscribe or ()), until_s, watch=watch)
        token = store.add_token(there, rights)
        if out is None:
            print(token)
        else:
            write(out, token.encode() + b"\n")
        hint = f"Token {rights.id} is for clients called {rights.name} or {rights.name}-..., until {_moment(until_s)}. "
        kept = "It is shown once: --token-file FILE or ANTECEDE_TOKEN shows it to a broker."
        if out is not None:
            kept = f"It is in {out}: --token-file {out} shows it to a broker."
        print(fitted(hint + kept, sys.stderr), file=sys.stderr)
    elif action == "revoke":
        if which is None:
            raise InputError("Say which token: its id or name, as `antecede keys show` lists them.")
        for one in store.revoke(there, which, now):
            print(f"Revoked {one.id} of {one.name}. Brokers that read {there} know within a second; copy revoked.json")
            print("to the others.")
    elif action == "rotate":
        begins = now + timedelta(seconds=parse_duration(after))
        ring = store.rotate(there, int(begins.timestamp()), now)
        print(f"Secret {ring.secrets[-1].id} is used from {_moment(begins.timestamp())} on.")
        print(f"Copy {there / store.RING} to every broker before; {ring.secrets[0].id} stays accepted until the next.")
    else:
        _show(store.show(there), as_json)


def _moment(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _since(secret: dict[str, Any]) -> str:
    """The first secret of all was there from the beginning, which is written as 1970.

    >>> _since({"id": "6844d844", "from": "1970-01-01T00:00:00+00:00"})
    '6844d844 from the beginning'
    """
    since = "the beginning" if secret["from"].startswith("1970-01-01T00:00") else secret["from"][:16]
    return f"{secret['id']} from {since}"


def _show(said: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(said, indent=2))
        return
    print(f"{said['directory']}: certificate for {', '.join(said['certificate']['hosts'])}")
    print(f"it ends on {said['certificate']['ends'][:10]}, that of the authority on {said['authority']['ends'][:10]}")
    print(f"secrets: {', '.join(_since(one) for one in said['secrets'])}")
    for one in said["tokens"]:
        state = f"revoked {one['revoked'][:16]}" if one["revoked"] else f"until {one['expires'][:16]}"
        watch = "  watch" if one["watch"] else ""
        rights = f"publish {','.join(one['publish']) or '-'}  subscribe {','.join(one['subscribe']) or '-'}{watch}"
        print(f"token {one['id']}  {one['name']}  {state}  {rights}")
