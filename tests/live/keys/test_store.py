"""A directory of keys: made once, taken over by brokers while they run, shown without its secrets."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.keys import store
from antecede.live.keys.rights import REVOKED, Refusal, Rights
from antecede.live.keys.store import Keys
from antecede.live.keys.tokens import rights_for

NOW = datetime.now(UTC)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    store.init(tmp_path / "keys", ["b.example"], NOW)
    return tmp_path / "keys"


def token(directory: Path, name: str = "ann", seconds: int = 60) -> tuple[str, Rights]:
    rights = rights_for(name, ("#",), ("#",), int(NOW.timestamp()) + seconds)
    return store.add_token(directory, rights), rights


def touched(path: Path) -> None:
    """As if a second had passed since it was written."""
    at = path.stat().st_mtime_ns + 10**9
    os.utime(path, ns=(at, at))


def test_all_files_are_the_owners_and_are_not_made_twice(directory: Path) -> None:
    assert {file.stat().st_mode & 0o777 for file in directory.iterdir()} == {0o600}
    with pytest.raises(InputError, match="already"):
        store.init(directory, [], NOW)


def test_a_broker_has_neither_signing_key_and_judges_all_the_same(directory: Path, tmp_path: Path) -> None:
    store.for_broker(directory, tmp_path / "two", ["10.0.0.2"], NOW)
    names = {file.name for file in (tmp_path / "two").iterdir()}
    assert names == {"broker.key", "broker.pem", "ca.pem", "cluster.key", "revoked.json", "token.pub"}
    keys, (text, rights) = Keys(tmp_path / "two"), token(directory)
    assert keys.rights(text, NOW.timestamp()) == rights
    assert Keys(directory).proves(keys.proof("B", NOW.timestamp()), NOW.timestamp())


def test_what_was_revoked_or_rotated_is_known_without_a_restart(directory: Path) -> None:
    keys, (text, rights), (other, _) = Keys(directory), token(directory), token(directory, "bob")
    assert not keys.look_again()
    assert [one.id for one in store.revoke(directory, "ann", NOW)] == [rights.id]
    assert keys.look_again() and not keys.look_again()
    said = keys.rights(text, NOW.timestamp())
    assert isinstance(said, Refusal) and said.reason == REVOKED
    assert isinstance(keys.rights(other, NOW.timestamp()), Rights)
    store.rotate(directory, int(NOW.timestamp()) + 60, NOW)
    assert keys.look_again() and len(keys.ring.secrets) == 2
    (directory / "cluster.key").write_bytes(b"spoilt")
    touched(directory / "cluster.key")
    assert not keys.look_again() and len(keys.ring.secrets) == 2
    with pytest.raises(InputError, match="No token was made"):
        store.revoke(directory, "carol", NOW)


def test_revocations_are_forgotten_once_their_tokens_have_expired(directory: Path) -> None:
    _, short = token(directory, "ann", 60)
    _, long = token(directory, "bob", 10_000)
    store.revoke(directory, "ann", NOW)
    store.revoke(directory, long.id, NOW + timedelta(seconds=600))
    assert set(json.loads((directory / "revoked.json").read_bytes())) == {long.id} and short.id != long.id


def test_a_certificate_that_nobody_would_accept_is_refused_at_the_start(directory: Path) -> None:
    keys = Keys(directory)
    keys.check("b.example", NOW)
    with pytest.raises(InputError, match=r"for b\.example, localhost.* not for 10\.0\.0\.9.*--host 10\.0\.0\.9"):
        keys.check("10.0.0.9", NOW)
    with pytest.raises(InputError, match="ended on"):
        keys.check("b.example", NOW + timedelta(days=1000))


def test_nothing_that_is_shown_holds_a_secret(directory: Path) -> None:
    text, rights = token(directory)
    said = json.dumps(store.show(directory)) + repr(Keys(directory)) + repr(Keys(directory).ring)
    assert rights.id in said and "b.example" in said
    secret = json.loads((directory / "cluster.key").read_bytes())["secrets"][0]["key"]
    assert secret not in said and text.rpartition(".")[2] not in said and "PRIVATE" not in said


def test_damaged_files_are_one_sentence_without_their_content(directory: Path) -> None:
    for name in ("cluster.key", "revoked.json", "token.pub"):
        before = (directory / name).read_bytes()
        (directory / name).write_bytes(b'["hunter2"]')
        with pytest.raises(InputError, match="damaged") as fault:
            Keys(directory)
        assert "hunter2" not in str(fault.value)
        (directory / name).write_bytes(before)
