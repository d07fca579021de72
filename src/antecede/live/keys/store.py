"""A directory of keys: what is in it, what a broker takes from it, and how it is made, changed and looked at.

    cluster.key               the secrets that brokers seal their datagrams with
    ca.pem       ca.key       the authority; with its key certificates are made
    broker.pem   broker.key   a broker's certificate
    token.pub    token.key    what tokens are judged with, and signed with
    tokens.json  revoked.json which tokens were made, and which count no more

Decided here: a broker needs neither `ca.key` nor `token.key` (`for_broker` leaves them out); and a running broker looks
at the files again when they change, so that revoking and rotating need no restart.
"""

from __future__ import annotations

import logging
import socket
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from antecede.errors import AntecedeError, InputError, one_line
from antecede.live.keys.certificates import ends_at, hosts_of, make_authority, make_certificate
from antecede.live.keys.files import read, read_secret, write
from antecede.live.keys.rights import Refusal, Rights
from antecede.live.keys.ring import Ring
from antecede.live.keys.tls import caller_tls, door_tls
from antecede.live.keys.tokens import ended, judge, make_proof, make_token, proves

__all__ = ["Keys", "add_token", "for_broker", "init", "revoke", "rotate", "show"]

log = logging.getLogger("antecede.broker")

RING, REVOKED, TOKENS = "cluster.key", "revoked.json", "tokens.json"
HERE = ("localhost", "127.0.0.1", "::1")
SOON = timedelta(days=30)
"""A broker whose certificate ends within this says so when it starts."""

Revoked = dict[str, str]
"""Id of a token -> when it was revoked."""


class Keys:
    """What a broker goes by."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self.certificate = read(self.directory / "broker.pem")
        self.token_key = _public(self.directory)
        self.ring: Ring = _read_ring(self.directory)
        self.revoked: Revoked = _read_json(self.directory / REVOKED, Revoked, {})
        read_secret(self.directory / "broker.key")
        self._door: ssl.SSLContext | None = None
        self._stamps = self._stamped()

    def __repr__(self) -> str:
        return f"Keys({str(self.directory)!r})"

    # -- the two functions that every door calls -------------------------------------------------------------------

    def door(self) -> ssl.SSLContext:
        """TLS for whatever this broker listens with; one for all doors, so that a renewed certificate is theirs too."""
        if self._door is None:
            self._door = door_tls(self.directory / "broker.pem", self.directory / "broker.key")
        return self._door

    def rights(self, token: str, now_s: float) -> Rights | Refusal:
        return judge(token, now_s, self.token_key, self.revoked)

    def still(self, rights: Rights, now_s: float) -> Refusal | None:
        """Whether rights that were granted have ended meanwhile."""
        return ended(rights, now_s, self.revoked)

    # -- towards other brokers -------------------------------------------------------------------------------------

    def caller(self) -> ssl.SSLContext:
        return caller_tls(self.directory / "ca.pem")

    def proof(self, broker: str, now_s: float) -> str:
        return make_proof(broker, self.ring, now_s)

    def proves(self, proof: str, now_s: float) -> bool:
        return proves(proof, self.ring, now_s)

    # -- in time ---------------------------------------------------------------------------------------------------

    def check(self, host: str, now: datetime) -> None:
        """Refuse to start with a certificate that no caller would accept."""
        ends, hosts = ends_at(self.certificate), hosts_of(self.certificate)
        cure = f"`antecede keys broker --host {host} --out DIR` makes one"
        if now >= ends:
            raise InputError(f"The certificate in {self.directory} ended on {ends.date()}: {cure}.")
        if host not in hosts:
            raise InputError(
                f"The certificate in {self.directory} is for {', '.join(hosts)}, not for {host}: {cure}, "
                "and --advertise says how others call this broker."
            )
        if ends - now < SOON:
            log.warning("the certificate in %s ends on %s", self.directory, ends.date())

    def look_again(self) -> bool:
        """Take over what has changed on disk; a file that cannot be used is said, and what was known stays."""
        stamps = self._stamped()
        if stamps == self._stamps:
            return False
        self._stamps = stamps
        try:
            self.ring = _read_ring(self.directory)
            self.revoked = _read_json(self.directory / REVOKED, Revoked, {})
            certificate = read(self.directory / "broker.pem")
            if certificate != self.certificate:
                if self._door is not None:
                    self._door.load_cert_chain(self.directory / "broker.pem", self.directory / "broker.key")
                self.certificate = certificate
        except (AntecedeError, OSError) as fault:
            log.error("the keys in %s are not taken over: %s", self.directory, one_line(fault))
            return False
        log.info("took over the keys in %s", self.directory)
        return True

    def _stamped(self) -> tuple[int, ...]:
        found = []
        for name in (RING, REVOKED, "broker.pem"):
            try:
                found.append((self.directory / name).stat().st_mtime_ns)
            except OSError:
                found.append(0)
        return tuple(found)


# -- making and changing ---------------------------------------------------------------------------------------------


def init(directory: Path, hosts: list[str], now: datetime) -> list[str]:
    """A new directory; returns whom its certificate is for."""
    if (directory / RING).exists():
        raise InputError(
            f"There are keys in {directory} already: `antecede keys show` lists them, --dir names another."
        )
    authority = make_authority(now)
    hosts = list(dict.fromkeys((*hosts, *HERE, socket.gethostname())))
    certificate = make_certificate(authority, hosts, now)
    signing = Ed25519PrivateKey.generate()
    write(directory / "ca.pem", authority[0])
    write(directory / "ca.key", authority[1])
    write(directory / "broker.pem", certificate[0])
    write(directory / "broker.key", certificate[1])
    write(directory / "token.key", signing.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    write(directory / "token.pub", signing.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    write(directory / TOKENS, b"{}")
    write(directory / REVOKED, b"{}")
    write(directory / RING, msgspec.json.encode(Ring.new()))  # last: with it the directory counts as made
    return hosts


def for_broker(directory: Path, out: Path, hosts: list[str], now: datetime) -> None:
    """What one broker needs, with a certificate of its own; again into the same directory renews it."""
    authority = read(directory / "ca.pem"), read_secret(directory / "ca.key")
    certificate = make_certificate(authority, hosts, now)
    if out.resolve() != directory.resolve():
        for name in ("ca.pem", "token.pub", REVOKED, RING):
            write(out / name, read(directory / name))
    write(out / "broker.key", certificate[1])
    write(out / "broker.pem", certificate[0])


def add_token(directory: Path, rights: Rights) -> str:
    made = _read_json(directory / TOKENS, dict[str, Rights], {})
    key = load_pem_private_key(read_secret(directory / "token.key"), None)
    assert isinstance(key, Ed25519PrivateKey)
    write(directory / TOKENS, msgspec.json.format(msgspec.json.encode({**made, rights.id: rights}), indent=1))
    return make_token(rights, key)


def revoke(directory: Path, which: str, now: datetime) -> list[Rights]:
    """The token of this id, or all of this name; those that would have expired by themselves are forgotten."""
    made = _read_json(directory / TOKENS, dict[str, Rights], {})
    found = [one for one in made.values() if which in (one.id, one.name)]
    if not found:
        raise InputError(f"No token was made here with the id or name {which!r}: `antecede keys show` lists them.")
    revoked = _read_json(directory / REVOKED, Revoked, {})
    now_s = now.timestamp()
    kept = {id: when for id, when in revoked.items() if id not in made or made[id].expires_s > now_s}
    kept.update({one.id: now.isoformat(timespec="seconds") for one in found if one.id not in kept})
    write(directory / REVOKED, msgspec.json.format(msgspec.json.encode(kept), indent=1))
    return found


def rotate(directory: Path, from_s: int, now: datetime) -> Ring:
    ring = _read_ring(directory).rotated(from_s, now.timestamp())
    write(directory / RING, msgspec.json.encode(ring))
    return ring


def show(directory: Path) -> dict[str, Any]:
    """All that is no secret."""
    certificate, ring = read(directory / "broker.pem"), _read_ring(directory)
    made = _read_json(directory / TOKENS, dict[str, Rights], {})
    revoked = _read_json(directory / REVOKED, Revoked, {})
    return {
        "directory": str(directory),
        "certificate": {"hosts": hosts_of(certificate), "ends": ends_at(certificate).isoformat()},
        "authority": {
            "ends": ends_at(read(directory / "ca.pem")).isoformat(), "signs": (directory / "ca.key").exists(),
        },
        "secrets": [
            {"id": one.id, "from": datetime.fromtimestamp(one.from_s, UTC).isoformat()} for one in ring.secrets
        ],
        "tokens": [
            {
                "id": one.id, "name": one.name, "publish": list(one.publish), "subscribe": list(one.subscribe),
                "watch": one.watch, "expires": datetime.fromtimestamp(one.expires_s, UTC).isoformat(),
                "revoked": revoked.get(one.id),
            }
            for one in made.values()
        ],
    }  # fmt: skip


def _read_ring(directory: Path) -> Ring:
    ring: Ring = _decoded(directory / RING, read_secret(directory / RING), Ring)
    if not ring.secrets:
        raise InputError(f"{directory / RING} holds no secret: make the keys anew.")
    return ring


def _read_json(path: Path, kind: Any, default: Any) -> Any:
    return _decoded(path, read(path), kind) if path.exists() else default


def _decoded(path: Path, data: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.MsgspecError:  # what it says of the content is left out: that may be a secret
        raise InputError(f"{path} is damaged: copy it again from where the keys were made.") from None


def _public(directory: Path) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(read(directory / "token.pub"))
    except ValueError:
        raise InputError(f"{directory / 'token.pub'} is damaged: copy it again.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise InputError(f"{directory / 'token.pub'} is no Ed25519 key: copy it again.")
    return key
