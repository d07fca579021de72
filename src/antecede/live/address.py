"""Addresses of brokers: how they are written, read and refused.

Decided here: `antecede://127.0.0.1:7400` and `127.0.0.1:7400` mean the same, `antecedes://` asks for TLS, `localhost`
is 127.0.0.1 without it; and what lies beyond the loopback is read only where the caller has seen to keys.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Sequence
from typing import TypeAlias

from antecede.errors import InputError

__all__ = [
    "DEFAULT_PORT",
    "SCHEME",
    "SECURE",
    "Address",
    "check_host",
    "in_use",
    "is_loopback",
    "is_secure",
    "nobody_at",
    "parse_address",
    "stranger_at",
    "text_of",
    "url_of",
]

Address: TypeAlias = tuple[str, int]

SCHEME = "antecede://"
SECURE = "antecedes://"
DEFAULT_PORT = 7400


_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*")


def parse_address(text: str, *, beyond_loopback: bool = False) -> Address:
    """
    >>> parse_address("antecede://127.0.0.1:7401"), parse_address("localhost"), parse_address("[::1]:7400")
    (('127.0.0.1', 7401), ('127.0.0.1', 7400), ('::1', 7400))
    >>> parse_address("192.0.2.1:7400")
    Traceback (most recent call last):
    antecede.errors.InputError: 192.0.2.1 is not the loopback: beyond it write antecedes://HOST:PORT and give a token.
    >>> parse_address("mqtt://127.0.0.1:7400")
    Traceback (most recent call last):
    antecede.errors.InputError: 'mqtt://127.0.0.1:7400' is no address: write antecede://HOST:PORT, for example \
antecede://127.0.0.1:7400.
    >>> parse_address("antecedes://broker.example:7400", beyond_loopback=True)
    ('broker.example', 7400)
    >>> parse_address("7402")
    Traceback (most recent call last):
    antecede.errors.InputError: '7402' is a port without a host: write 127.0.0.1:7402.
    """
    if not isinstance(text, str):
        raise InputError(f"An address is text such as {SCHEME}127.0.0.1:{DEFAULT_PORT}, not {text!r}.")
    rest = text.removeprefix(SCHEME).removeprefix(SECURE).rstrip("/")
    wrong = f"{text!r} is no address: write {SCHEME}HOST:PORT, for example {SCHEME}127.0.0.1:7400."
    if "://" in rest:
        raise InputError(wrong)
    host, colon, port_text = rest.rpartition(":")
    if not colon or port_text.endswith("]"):
        host, port_text = rest, str(DEFAULT_PORT)
    if not colon and rest.isdigit():
        raise InputError(f"{text!r} is a port without a host: write 127.0.0.1:{rest}.")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port_text.isascii() or not port_text.isdigit() or int(port_text) > 65_535:
        raise InputError(wrong)
    check_host(host, beyond_loopback=beyond_loopback)
    return ("127.0.0.1" if host == "localhost" else host), int(port_text)


def is_secure(text: object) -> bool:
    """Whether an address asks for TLS."""
    return isinstance(text, str) and text.startswith(SECURE)


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_host(host: str, *, beyond_loopback: bool) -> None:
    if is_loopback(host):
        return
    try:
        ipaddress.ip_address(host)
    except ValueError:
        if not _NAME.fullmatch(host):
            raise InputError(f"{host!r} is no host: give an IP address such as 127.0.0.1, or a name.") from None
    if not beyond_loopback:
        raise InputError(f"{host} is not the loopback: beyond it write {SECURE}HOST:PORT and give a token.")


def text_of(address: Address) -> str:
    """
    >>> text_of(("::1", 7400)), text_of(("127.0.0.1", 7400))
    ('[::1]:7400', '127.0.0.1:7400')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def in_use(address: Address, fault: OSError, option: str = "--listen") -> str:
    """Why nobody can listen there, and what to do about it. `option` takes an address, or a port alone.

    >>> in_use(("127.0.0.1", 7400), OSError(98, "Address already in use"))
    'cannot listen on 127.0.0.1:7400: Address already in use. Name another port, for example --listen 127.0.0.1:7401.'
    """
    reason = os.strerror(fault.errno) if fault.errno else str(fault)  # asyncio has words of its own
    port = address[1] % 65_535 + 1
    other = text_of((address[0], port)) if option == "--listen" else str(port)
    return f"cannot listen on {text_of(address)}: {reason}. Name another port, for example {option} {other}."


def nobody_at(places: Sequence[Address]) -> str:
    """No broker answers at any of these.

    >>> nobody_at([("127.0.0.1", 7400)])
    'No broker answers at 127.0.0.1:7400: start one with `antecede broker`.'
    >>> nobody_at([("127.0.0.1", 7401)])[37:]
    'start one with `antecede broker --listen 127.0.0.1:7401`, or give the address of one that runs.'
    """
    where = ", ".join(map(text_of, places))
    if list(places) == [("127.0.0.1", DEFAULT_PORT)]:
        return f"No broker answers at {where}: start one with `antecede broker`."
    cure = f"`antecede broker --listen {text_of(places[0])}`"
    return f"No broker answers at {where}: start one with {cure}, or give the address of one that runs."


def stranger_at(place: Address, *, secure: bool) -> str:
    """Something takes connections there and ends them without the words of a broker.

    >>> print(stranger_at(("127.0.0.1", 7400), secure=True).partition("; ")[0])
    What listens at 127.0.0.1:7400 does not speak TLS as a broker with keys does: without keys write 127.0.0.1:7400
    """
    where = text_of(place)
    if secure:
        cure = f"does not speak TLS as a broker with keys does: without keys write {where}"
    else:
        cure = (
            f"does not answer as a broker without keys does: with keys write {url_of(place, secure=True)}, and a token"
        )
    return f"What listens at {where} {cure}; a broker's --http and --mqtt ports are for others."


def url_of(address: Address, *, secure: bool = False) -> str:
    return (SECURE if secure else SCHEME) + text_of(address)
