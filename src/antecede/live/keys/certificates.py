"""Certificates of a cluster: its own authority, and what that signs for brokers.

Decided here: elliptic keys (P-256, which every TLS client knows); the authority signs brokers only, for the names and
addresses at which they are called; and a certificate that does not fit is refused when a broker starts, not by the
first client.
"""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from antecede.errors import InputError

__all__ = ["Pair", "ends_at", "hosts_of", "make_authority", "make_certificate"]

AUTHORITY = timedelta(days=3650)
BROKER = timedelta(days=730)
EARLIER = timedelta(minutes=10)
"""Certificates begin a little before they are made: clocks differ."""

Pair = tuple[bytes, bytes]
"""A certificate and its key, as PEM."""


def make_authority(now: datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "antecede cluster authority")])
    usage = x509.KeyUsage(
        digital_signature=False, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=True, crl_sign=True, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    certificate = (
        _begun(name, name, key.public_key(), now, AUTHORITY)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, SHA256())
    )
    return certificate.public_bytes(Encoding.PEM), _pem(key)


def make_certificate(authority: Pair, hosts: list[str], now: datetime, lasts: timedelta = BROKER) -> Pair:
    """For a broker that is called by these names and addresses."""
    if not hosts:
        raise InputError("A certificate is for somebody: say --host NAME or --host ADDRESS.")
    above = x509.load_pem_x509_certificate(authority[0])
    signing = load_pem_private_key(authority[1], None)
    assert isinstance(signing, ec.EllipticCurvePrivateKey)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0][:64])])
    certificate = (
        _begun(name, above.subject, key.public_key(), now, lasts)
        .add_extension(x509.SubjectAlternativeName([_general(host) for host in dict.fromkeys(hosts)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key()), critical=False)
        .sign(signing, SHA256())
    )
    return certificate.public_bytes(Encoding.PEM), _pem(key)


def hosts_of(certificate: bytes) -> list[str]:
    """The names and addresses that a certificate is for."""
    names = x509.load_pem_x509_certificate(certificate).extensions.get_extension_for_class(x509.SubjectAlternativeName)
    return [str(name.value) for name in names.value]


def ends_at(certificate: bytes) -> datetime:
    return x509.load_pem_x509_certificate(certificate).not_valid_after_utc


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, now: datetime, lasts: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now.astimezone(UTC) - EARLIER)
        .not_valid_after(now.astimezone(UTC) + lasts)
    )


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        pass
    try:
        return x509.DNSName(host)
    except ValueError:
        raise InputError(f"{host!r} is neither a host name nor an IP address.") from None


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
