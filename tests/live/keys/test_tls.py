"""TLS: a caller verifies, always; files that are none are one sentence."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.keys import store
from antecede.live.keys.tls import caller_tls, door_tls, trusted


def test_callers_verify_and_old_versions_are_not_spoken(tmp_path: Path) -> None:
    store.init(tmp_path, [], datetime.now(UTC))
    door, caller = door_tls(tmp_path / "broker.pem", tmp_path / "broker.key"), caller_tls(tmp_path / "ca.pem")
    for context in (door, caller, caller_tls(None)):
        assert context.minimum_version == ssl.TLSVersion.TLSv1_2
    assert caller.check_hostname and caller.verify_mode == ssl.CERT_REQUIRED
    with pytest.raises(InputError, match="no certificate with its key"):
        door_tls(tmp_path / "broker.pem", tmp_path / "ca.key")
    with pytest.raises(InputError, match=r"ca\.pem"):
        caller_tls(tmp_path / "token.pub")


def test_whose_certificates_are_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("ANTECEDE_CA", raising=False)
    assert trusted(None, tmp_path) is None and trusted("x.pem", tmp_path) == Path("x.pem")
    (tmp_path / "ca.pem").touch()
    assert trusted(None, tmp_path) == tmp_path / "ca.pem"
    monkeypatch.setenv("ANTECEDE_CA", "env.pem")
    assert trusted(None, tmp_path) == Path("env.pem") and trusted("x.pem", tmp_path) == Path("x.pem")
