"""Tokens: who made one, until when, for what; every alteration is refused, and no sentence repeats the token."""

from __future__ import annotations

from base64 import urlsafe_b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.live.keys.rights import EXPIRED, MISSING, REVOKED, WRONG, Refusal, claimed
from antecede.live.keys.ring import Ring
from antecede.live.keys.tokens import PROOF_S, judge, make_proof, make_token, proves, rights_for

KEY = Ed25519PrivateKey.generate()
RIGHTS = rights_for("ann", ("room/#",), ("#",), 1000)
TOKEN = make_token(RIGHTS, KEY)
DEEP = "antb." + urlsafe_b64encode(b'{"x":' + b"[" * 4_000).decode() + ".e30"


def test_a_token_says_what_it_was_made_for() -> None:
    assert judge(TOKEN, 999.9, KEY.public_key(), ()) == RIGHTS == claimed(TOKEN)


@pytest.mark.parametrize(
    ("token", "now_s", "revoked", "reason"),
    [
        ("", 0, (), MISSING),
        (TOKEN, 1000, (), EXPIRED),
        (TOKEN, 0, (RIGHTS.id,), REVOKED),
        (make_token(RIGHTS, Ed25519PrivateKey.generate()), 0, (), WRONG),
        ("password", 0, (), WRONG),
        (TOKEN + "x" * 9000, 0, (), WRONG),
        (TOKEN.replace("ant1", "ant2"), 0, (), WRONG),
        (TOKEN + "\xff", 0, (), WRONG),
    ],
)
def test_whoever_has_not_the_right_one_is_told_why(
    token: str, now_s: float, revoked: tuple[str, ...], reason: str
) -> None:
    said = judge(token, now_s, KEY.public_key(), revoked)
    assert isinstance(said, Refusal) and said.reason == reason
    assert not token or token not in said.sentence
    assert TOKEN.rpartition(".")[2] not in said.sentence


@settings(max_examples=200)
@given(st.integers(0, len(TOKEN) - 1), st.integers(0, 127))
def test_whatever_is_altered_nothing_else_is_believed(place: int, code: int) -> None:
    altered = TOKEN[:place] + chr(code) + TOKEN[place + 1 :]
    said = judge(altered, 0, KEY.public_key(), ())
    assert said == RIGHTS if altered == TOKEN else isinstance(said, Refusal) or said == RIGHTS


def test_a_token_needs_filters_and_a_name_that_can_be() -> None:
    for name, filters in (("ann", ("a#",)), ("a:b", ("a",)), ("ann.1", ("a",))):
        with pytest.raises(InputError):
            rights_for(name, filters, (), 1)
    assert rights_for(None, (), ("#",), 1).name.startswith("c")


def test_brokers_prove_that_they_have_the_secret_for_a_minute() -> None:
    ring = Ring.new()
    proof = make_proof("A", ring, 5000)
    assert proves(proof, ring, 5000) and proves(proof, ring, 5000 + PROOF_S)
    assert proves(proof, ring.rotated(6000, 5000), 5000)
    assert not proves(proof, ring, 5000 + 3 * PROOF_S) and not proves(proof, ring, 5000 - 2 * PROOF_S)
    assert not proves(proof, Ring.new(), 5000)
    code = proof.rpartition(".")[2]
    flipped = code[:10] + ("A" if code[10] != "A" else "B") + code[11:]
    for bad in ("", "antb..", DEEP, proof[:-4], proof.replace(code, flipped), TOKEN, "antb.e30.e30"):
        assert not proves(bad, ring, 5000)
