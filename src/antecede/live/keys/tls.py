"""The two TLS contexts: a broker's, for every door it opens, and a caller's.

Decided here: TLS 1.2 at least; a caller always verifies the certificate and that it is for the host it called, with the
cluster's authority where one is named and with the system's otherwise. There is no way to switch that off.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path

from antecede.errors import InputError, one_line

__all__ = ["HANDSHAKE_S", "caller_tls", "door_tls", "trusted"]

HANDSHAKE_S = 5.0
"""Seconds that a handshake may take."""


def door_tls(certificate: str | Path, key: str | Path) -> ssl.SSLContext:
    """For whoever is called."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as fault:
        raise InputError(f"{certificate} and {key} are no certificate with its key: {one_line(fault)}.") from None
    return context


def caller_tls(authority: str | Path | None) -> ssl.SSLContext:
    """For whoever calls; `authority`: a file with the certificates that are trusted, left out: the system's."""
    try:
        context = ssl.create_default_context(ssl.Purpose.SERVER_AUTH, cafile=None if authority is None else authority)
    except (OSError, ssl.SSLError) as fault:
        raise InputError(
            f"{authority} holds no certificates to trust ({one_line(fault)}): give the cluster's ca.pem."
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def trusted(given: str | Path | None, directory: Path) -> Path | None:
    """The certificates that a caller trusts: the file given, ANTECEDE_CA, that of the keys in `directory`, or None."""
    if given or os.environ.get("ANTECEDE_CA"):
        return Path(given or os.environ["ANTECEDE_CA"])
    return directory / "ca.pem" if (directory / "ca.pem").is_file() else None
