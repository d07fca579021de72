"""Tokens: how one is made, and how a broker judges the one it is shown.

A token is `ant1.CLAIMS.SIGNATURE`, both in base64 for URLs: the claims are the JSON of `Rights`, signed with Ed25519.
Whoever makes tokens has the signing key; brokers have the other half, with which none can be made. Brokers show each
other a proof of the same form, `antb.CLAIMS.CODE`, made from the cluster's secret and good for a minute.

Decided here: nothing of a token is read before its signature holds; codes are compared in constant time; and the
sentences about a token never hold it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Container
from datetime import UTC, datetime

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from antecede.core.membership.news import split_name
from antecede.core.names import check_process
from antecede.core.topics import is_filter
from antecede.errors import InputError
from antecede.live.keys.rights import EXPIRED, MISSING, REVOKED, WRONG, Refusal, Rights
from antecede.live.keys.ring import Ring

__all__ = ["ended", "judge", "make_proof", "make_token", "proves", "rights_for"]

TOKEN, PROOF = "ant1", "antb"
MAX_TOKEN = 8192
"""Characters that are looked at."""
PROOF_S = 60
"""How long a broker's proof is good, and how far its clock may be off."""


class Proof(msgspec.Struct, frozen=True):
    broker: str
    secret: str
    """The id of the cluster's secret that it was made with."""
    expires_s: int


def rights_for(
    name: str | None, publish: tuple[str, ...], subscribe: tuple[str, ...], expires_s: int, *, watch: bool = False
) -> Rights:
    """Rights of a new token, under a new id; without a name it is called by that."""
    id = os.urandom(6).hex()
    name = f"c{id}" if name is None else name
    check_process(name)
    if split_name(name)[1]:
        raise InputError(f"{name!r} ends like an incarnation: leave out what follows the dot.")
    for filter in (*publish, *subscribe):
        if not is_filter(filter):
            raise InputError(f"{filter!r} is no filter: write it like room/1, room/+ or room/#.")
    return Rights(id=id, name=name, publish=publish, subscribe=subscribe, expires_s=expires_s, watch=watch)


def make_token(rights: Rights, key: Ed25519PrivateKey) -> str:
    signed = f"{TOKEN}.{_packed(msgspec.json.encode(rights))}"
    return f"{signed}.{_packed(key.sign(signed.encode()))}"


def judge(token: str, now_s: float, key: Ed25519PublicKey, revoked: Container[str]) -> Rights | Refusal:
    """What its bearer may do now, or why it may nothing."""
    if not token:
        return Refusal(
            MISSING, "This broker asks for a token: `antecede keys token` makes one, --token-file or token= shows it."
        )
    wrong = Refusal(WRONG, "This token was not made for this cluster, or was altered: get another one.")
    signed, _, signature = token.rpartition(".")
    kind, _, body = signed.partition(".")
    if len(token) > MAX_TOKEN or kind != TOKEN or not token.isascii():
        return wrong
    try:
        key.verify(_unpacked(signature), signed.encode())
        rights = msgspec.json.decode(_unpacked(body), type=Rights)
    except (InvalidSignature, binascii.Error, ValueError, msgspec.MsgspecError):
        return wrong
    return ended(rights, now_s, revoked) or rights


def ended(rights: Rights, now_s: float, revoked: Container[str]) -> Refusal | None:
    """Why rights that a token gives do not hold any more; None: they do."""
    if rights.id in revoked:
        return Refusal(REVOKED, f"The token {rights.id} of {rights.name} was revoked: get another one.")
    if now_s >= rights.expires_s:
        when = datetime.fromtimestamp(rights.expires_s, UTC).isoformat(timespec="minutes")
        return Refusal(EXPIRED, f"The token {rights.id} of {rights.name} expired at {when}: get another one.")
    return None


# -- between brokers -------------------------------------------------------------------------------------------------


def make_proof(broker: str, ring: Ring, now_s: float) -> str:
    secret = ring.current(now_s)
    claims = msgspec.json.encode(Proof(broker, secret.id, int(now_s) + PROOF_S))
    signed = f"{PROOF}.{_packed(claims)}"
    return f"{signed}.{_packed(_code(secret.derived(b'broker proof'), signed))}"


def proves(proof: str, ring: Ring, now_s: float) -> bool:
    """Whether its bearer has one of the cluster's secrets."""
    signed, _, code = proof.rpartition(".")
    kind, _, body = signed.partition(".")
    if len(proof) > MAX_TOKEN or kind != PROOF or not proof.isascii():
        return False
    try:
        claims, given = msgspec.json.decode(_unpacked(body), type=Proof), _unpacked(code)
    except (binascii.Error, ValueError, msgspec.MsgspecError, RecursionError):
        return False
    secret = ring.named(claims.secret)
    if secret is None or not hmac.compare_digest(given, _code(secret.derived(b"broker proof"), signed)):
        return False
    return abs(claims.expires_s - PROOF_S - now_s) <= PROOF_S


def _code(key: bytes, signed: str) -> bytes:
    return hmac.new(key, signed.encode(), hashlib.sha256).digest()


def _packed(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _unpacked(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
