"""How a client calls: TLS where it is asked for, a token over nothing else, a name that its token allows."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.keys.caller import caller_for
from tests.live.keys.keyed import Keyed


def test_plain_addresses_stay_plain_and_show_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTECEDE_TOKEN", "ant1.a.b")
    how = caller_for(["127.0.0.1:7400"], None, None)
    assert how.tls is None and how.token() == "" and how.prefix == "c"
    with pytest.raises(InputError, match="over TLS only"):
        caller_for(["127.0.0.1:7400"], None, "ant1.a.b")
    with pytest.raises(InputError, match="antecedes://"):
        caller_for(["10.0.0.1:7400"], None, None)


def test_secure_addresses_verify_and_show_the_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keyed = Keyed(tmp_path / "keys")
    token = keyed.token("ann")
    for addresses, tls in ((["antecedes://b.example:1"], keyed.ca), (["127.0.0.1:1"], str(keyed.ca))):
        how = caller_for(addresses, tls, token)
        assert isinstance(how.tls, ssl.SSLContext) and how.tls.verify_mode == ssl.CERT_REQUIRED
        assert how.token() == token and how.prefix == "ann-" and token not in repr(how)
    monkeypatch.setenv("ANTECEDE_TOKEN", token)
    assert caller_for(["antecedes://b.example"], keyed.ca, None).token() == token
    context = ssl.create_default_context()
    assert caller_for(["127.0.0.1"], context, None).tls is context


def test_a_token_in_a_file_is_read_again(tmp_path: Path) -> None:
    keyed, file = Keyed(tmp_path / "keys"), tmp_path / "token"
    file.write_text(keyed.token("ann") + "\n")
    how = caller_for(["antecedes://127.0.0.1"], keyed.ca, file)
    renewed = keyed.token("ann")
    file.write_text(renewed)
    assert how.token() == renewed
    file.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        how.token()
