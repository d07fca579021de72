"""Addresses of brokers: how they are written, read and refused.

Decided here: `antecede://127.0.0.1:7400` and `127.0.0.1:7400` mean the same, `localhost` is 127.0.0.1, and nothing
beyond the loopback is bound or called, because frames carry no keys yet.
"""

from __future__ import annotations

import ipaddress
from typing import TypeAlias

from antecede.errors import InputError

__all__ = ["DEFAULT_PORT", "SCHEME", "Address", "parse_address", "text_of", "url_of"]

Address: TypeAlias = tuple[str, int]

SCHEME = "antecede://"
DEFAULT_PORT = 7400


def parse_address(text: str, *, beyond_loopback: bool = False) -> Address:
    """
    >>> parse_address("antecede://127.0.0.1:7401"), parse_address("localhost"), parse_address("[::1]:7400")
    (('127.0.0.1', 7401), ('127.0.0.1', 7400), ('::1', 7400))
    >>> parse_address("192.0.2.1:7400")
    Traceback (most recent call last):
    antecede.errors.InputError: 192.0.2.1 is not the loopback, and nothing is encrypted or signed yet: use 127.0.0.1.
    """
    if not isinstance(text, str):
        raise InputError(f"An address is text such as {SCHEME}127.0.0.1:{DEFAULT_PORT}, not {text!r}.")
    rest = text.removeprefix(SCHEME).rstrip("/")
    host, colon, port_text = rest.rpartition(":")
    if not colon or port_text.endswith("]"):
        host, port_text = rest, str(DEFAULT_PORT)
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port_text.isascii() or not port_text.isdigit() or int(port_text) > 65_535:
        raise InputError(f"{text!r} is no address: write {SCHEME}HOST:PORT, for example {SCHEME}127.0.0.1:7400.")
    check_host(host, beyond_loopback=beyond_loopback)
    return ("127.0.0.1" if host == "localhost" else host), int(port_text)


def check_host(host: str, *, beyond_loopback: bool) -> None:
    try:
        inside = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        raise InputError(f"Give an IP address such as 127.0.0.1, not {host!r}.") from None
    if not inside and not beyond_loopback:
        raise InputError(f"{host} is not the loopback, and nothing is encrypted or signed yet: use 127.0.0.1.")


def text_of(address: Address) -> str:
    """
    >>> text_of(("::1", 7400)), text_of(("127.0.0.1", 7400))
    ('[::1]:7400', '127.0.0.1:7400')
    """
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def url_of(address: Address) -> str:
    return SCHEME + text_of(address)
