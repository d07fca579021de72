"""The cluster's secrets: which one seals, and which ones are accepted.

Decided here: there are at most two. A new one seals from a stated moment on and is accepted at once, so that it can be
brought to every broker before any uses it; the one before it stays accepted until the next takes its place.
"""

from __future__ import annotations

import os

import msgspec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from antecede.errors import InputError

__all__ = ["Ring", "Secret"]

ID_BYTES = 4


class Secret(msgspec.Struct, frozen=True):
    id: str
    key: bytes
    from_s: int
    """Seconds since 1970: from then on it seals."""

    def __repr__(self) -> str:
        return f"Secret({self.id})"

    def derived(self, purpose: bytes, salt: bytes = b"") -> bytes:
        """A key for one purpose; none can be had from another."""
        return HKDF(SHA256(), 32, salt or None, b"antecede " + purpose).derive(self.key)


class Ring(msgspec.Struct, frozen=True):
    secrets: tuple[Secret, ...]
    """The newest last."""

    def current(self, now_s: float) -> Secret:
        return next((one for one in reversed(self.secrets) if one.from_s <= now_s), self.secrets[0])

    def named(self, id: str) -> Secret | None:
        return next((one for one in self.secrets if one.id == id), None)

    @classmethod
    def new(cls) -> Ring:
        return cls((_drawn(0),))

    def rotated(self, from_s: int, now_s: float) -> Ring:
        """With a new secret that seals from then on; of those before it the one in use stays."""
        newest = self.secrets[-1]
        if newest.from_s > now_s:
            raise InputError(
                f"Secret {newest.id} is not in use yet, and a third cannot be accepted beside it: rotate again in "
                f"{newest.from_s - int(now_s)} seconds."
            )
        return Ring((newest, _drawn(from_s)))


def _drawn(from_s: int) -> Secret:
    return Secret(os.urandom(ID_BYTES).hex(), os.urandom(32), from_s)
