"""The cluster's secrets: one seals, at most two are accepted, none is printed."""

from __future__ import annotations

import pytest

from antecede.errors import InputError
from antecede.live.keys.ring import Ring


def test_a_new_secret_is_accepted_at_once_and_used_from_its_moment_on() -> None:
    first = Ring.new()
    ring = first.rotated(1000, now_s=500)
    old, new = ring.secrets
    assert old == first.secrets[0] and ring.named(new.id) == new and ring.named("none") is None
    assert ring.current(999) == old and ring.current(1000) == new
    with pytest.raises(InputError, match="not in use yet"):
        ring.rotated(2000, now_s=999)
    last = ring.rotated(2000, now_s=1001)
    assert last.named(old.id) is None and last.current(1500) == new and last.current(2000) == last.secrets[1]


def test_keys_for_two_purposes_differ_and_no_secret_is_printed() -> None:
    ring = Ring.new()
    secret = ring.secrets[0]
    derived = {secret.derived(b"a"), secret.derived(b"b"), secret.derived(b"a", b"salt"), secret.key}
    assert len(derived) == 4 and all(len(one) == 32 for one in derived)
    assert secret.derived(b"a") == secret.derived(b"a")
    assert repr(secret.key) not in repr(ring) and secret.id in repr(ring)
