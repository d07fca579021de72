"""Certificates: for the hosts they name, signed by the cluster's authority, until they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from antecede.errors import InputError
from antecede.live.keys.certificates import ends_at, hosts_of, make_authority, make_certificate

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_certificate_names_its_hosts_and_who_signed_it() -> None:
    authority = make_authority(NOW)
    certificate, key = make_certificate(authority, ["b1.example", "10.0.0.1", "::1", "10.0.0.1"], NOW)
    assert hosts_of(certificate) == ["b1.example", "10.0.0.1", "::1"]
    assert ends_at(certificate) == NOW + timedelta(days=730) and b"PRIVATE" in key and b"PRIVATE" not in certificate
    above, below = x509.load_pem_x509_certificate(authority[0]), x509.load_pem_x509_certificate(certificate)
    below.verify_directly_issued_by(above)
    usage = below.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usage) == [ExtendedKeyUsageOID.SERVER_AUTH]
    assert above.extensions.get_extension_for_class(x509.BasicConstraints).value.ca
    assert not below.extensions.get_extension_for_class(x509.BasicConstraints).value.ca


def test_hosts_that_cannot_be_are_refused() -> None:
    authority = make_authority(NOW)
    for hosts in ([], ["münchen.example"]):
        with pytest.raises(InputError):
            make_certificate(authority, hosts, NOW)
