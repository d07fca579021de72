"""How a client shows who it is: which calls need TLS, whom it trusts, and where its token comes from.

Decided here: an address that begins with antecedes:// asks for TLS, and so does `tls=`; a token is shown over TLS only;
one that is in a file is read for every call, so that it can be renewed there; and a client without a name takes one
that its token allows.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from antecede.errors import InputError
from antecede.live.address import Address, is_secure, parse_address
from antecede.live.keys.files import default_directory
from antecede.live.keys.rights import claimed
from antecede.live.keys.tls import caller_tls, trusted

__all__ = ["Caller", "caller_for"]


class Caller(NamedTuple):
    places: list[Address]
    tls: ssl.SSLContext | None
    token: Callable[[], str]
    prefix: str
    """What a name that is made up begins with."""

    def __repr__(self) -> str:
        return f"Caller({self.places!r})"


def caller_for(addresses: Sequence[str], tls: str | Path | ssl.SSLContext | None, token: str | Path | None) -> Caller:
    """`tls`: the certificates to trust, in a file or as a context; `token`: as text, or a Path to a file with it."""
    secure = tls is not None or any(map(is_secure, addresses))
    places = [parse_address(one, beyond_loopback=secure) for one in addresses]
    if not secure:
        if token is not None:
            raise InputError("A token is shown over TLS only: write antecedes:// before the address.")
        return Caller(places, None, str, "c")
    context = tls if isinstance(tls, ssl.SSLContext) else caller_tls(trusted(tls, default_directory()))
    show = _shown(token if token is not None else os.environ.get("ANTECEDE_TOKEN", ""))
    said = claimed(show())
    return Caller(places, context, show, "c" if said is None else f"{said.name}-")


def _shown(token: str | Path) -> Callable[[], str]:
    def read() -> str:
        try:
            return Path(token).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as fault:
            raise InputError(
                f"The token in {token} cannot be read: {getattr(fault, 'strerror', 'not text')}."
            ) from None

    return read if isinstance(token, Path) else token.strip().__str__
