"""Beyond the loopback there must be keys, and the sentence says how to make them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.keys import store
from antecede.live.keys.needed import keys_for


def test_on_the_loopback_keys_are_used_only_if_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    usual = tmp_path / "antecede" / "keys"
    with pytest.raises(InputError, match=r"antecede keys init --host 10\.0\.0\.1"):
        keys_for([("127.0.0.1", 7400), ("10.0.0.1", 7400)], None)
    store.init(usual, ["10.0.0.1"], datetime.now(UTC))
    assert keys_for([("127.0.0.1", 7400), ("::1", 1)], None) is None
    for places, directory in (([("10.0.0.1", 1)], None), ([("127.0.0.1", 1)], usual)):
        keys = keys_for(places, directory)
        assert keys is not None and keys.directory == usual
    with pytest.raises(InputError, match="keys init"):
        keys_for([("127.0.0.1", 1)], tmp_path / "none")
