"""Datagrams between brokers, sealed: encrypted, authenticated, good once, and for one receiver.

A sealed datagram is `kind 1, secret's id 4, epoch 12, seconds 4, number 8` and then AES-256-GCM over the rest, which
authenticates this head too. The key is derived (HKDF-SHA256) from the secret, the sender's epoch, drawn anew each time
a process starts, and the receiver's name without its incarnation; the number counts what was sent with it and is the
nonce, so none is used twice with one key, and a datagram for one broker means nothing to another.

Decided here: a number is accepted once, and only within a window below the greatest. A datagram whose seconds are too
far from this broker's clock is refused, so that who was silent for longer can be forgotten; and so is one from before
this broker began, so that what was recorded then cannot be replayed now. What is refused is counted by its reason and
never answered.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from antecede.core.membership.news import split_name
from antecede.live.keys.refusals import Refusals
from antecede.live.keys.rights import Refusal
from antecede.live.keys.ring import ID_BYTES, Ring, Secret

__all__ = ["FORGED", "FRESH_S", "OVERHEAD", "REPLAYED", "STALE", "Sealing"]

SEALED = 0x83
EPOCH = 12
HEAD = 1 + ID_BYTES + EPOCH + 4 + 8
OVERHEAD = HEAD + 16
"""Bytes by which a datagram grows."""
WINDOW = 4096
"""Numbers below the greatest that may still come. Costs half a kilobyte per sender."""
FRESH_S = 60
"""How far the clocks of two brokers may differ, and how long a datagram may take."""
BEFORE_S = 2
"""How much older than the first datagram that came another one may be."""
SENDERS = 256
"""Epochs that are remembered before those that have been silent are forgotten."""

FORGED, REPLAYED, STALE = "forged datagram", "replayed datagram", "stale datagram"
_FORGED, _REPLAYED = Refusal(FORGED, ""), Refusal(REPLAYED, "")


class Window:
    """Which numbers came."""

    __slots__ = ("cipher", "heard_s", "seen", "top")

    def __init__(self, cipher: AESGCM) -> None:
        self.cipher = cipher
        self.top = 0
        self.seen = 0
        """Bit j: number top - j came."""
        self.heard_s = 0.0

    def had(self, number: int) -> bool:
        back = self.top - number
        return back >= WINDOW or (back >= 0 and bool(self.seen >> back & 1))

    def add(self, number: int) -> None:
        if number > self.top:
            self.seen = (self.seen << min(number - self.top, WINDOW) | 1) & ((1 << WINDOW) - 1)
            self.top = number
        else:
            self.seen |= 1 << self.top - number


class Sealing:
    overhead = OVERHEAD

    def __init__(self, ring: Callable[[], Ring], now_s: Callable[[], float], refusals: Refusals) -> None:
        """`ring`: asked each time, since secrets are rotated; `now_s`: the clock that all brokers share."""
        self._ring, self._now_s, self._refusals = ring, now_s, refusals
        self._epoch = os.urandom(EPOCH)
        self._out: dict[tuple[str, str], tuple[AESGCM, list[int]]] = {}
        self._in: dict[bytes, Window] = {}
        self._since_s: int | None = None

    def __repr__(self) -> str:
        return "Sealing()"

    def seal(self, receiver: str, datagram: bytes) -> bytes:
        now_s = self._now_s()
        secret = self._ring().current(now_s)
        base = split_name(receiver)[0]
        to = (secret.id, base)  # as the key: two counters for one key would use a nonce twice
        known = self._out.get(to)
        if known is None:
            if len(self._out) >= SENDERS:
                self._out.clear()
                self._epoch = os.urandom(EPOCH)  # numbers begin anew, so keys must
            known = self._out[to] = _cipher(secret, self._epoch, base), [0]
        cipher, number = known
        number[0] += 1
        head = b"".join(
            (
                bytes((SEALED,)), bytes.fromhex(secret.id), self._epoch, (int(now_s) & 0xFFFFFFFF).to_bytes(4, "big"),
                number[0].to_bytes(8, "big"),
            )
        )  # fmt: skip
        return head + cipher.encrypt(b"\0\0\0\0" + head[-8:], datagram, head)

    def open(self, sealed: memoryview, receiver: str, source: str) -> bytes | None:
        """What is in a datagram for `receiver`; None: it is not to be believed, and was counted."""
        opened = self._judged(sealed, split_name(receiver)[0])
        if isinstance(opened, bytes):
            return opened
        self._refusals.add(opened.reason, source, opened.sentence)
        return None

    def _judged(self, sealed: memoryview, base: str) -> bytes | Refusal:
        if len(sealed) <= OVERHEAD or sealed[0] != SEALED:
            return _FORGED
        head = bytes(sealed[:HEAD])
        secret = self._ring().named(head[1 : 1 + ID_BYTES].hex())
        if secret is None:
            return _FORGED
        name = head[1 : 1 + ID_BYTES + EPOCH] + base.encode()
        number, window = int.from_bytes(head[-8:], "big"), self._in.get(name)
        cipher = _cipher(secret, head[1 + ID_BYTES : 1 + ID_BYTES + EPOCH], base) if window is None else window.cipher
        try:
            opened = cipher.decrypt(b"\0\0\0\0" + head[-8:], sealed[HEAD:], head)
        except InvalidTag:
            return _FORGED
        if window is not None and window.had(number):
            return _REPLAYED
        now_s = self._now_s()
        sent_s = int.from_bytes(head[-12:-8], "big")
        off_s = sent_s - int(now_s)
        if self._since_s is None:
            self._since_s = int(now_s) - BEFORE_S
        if abs(off_s) > FRESH_S or sent_s < self._since_s:
            return Refusal(STALE, f"{abs(off_s)} s {'ahead of' if off_s > 0 else 'behind'} this clock")
        if window is None:
            self._forget(now_s)
            window = self._in[name] = Window(cipher)
        window.add(number)
        window.heard_s = now_s
        return opened

    def _forget(self, now_s: float) -> None:
        """Forget senders that were silent for longer than a datagram is good for: nothing of theirs can be replayed."""
        if len(self._in) >= SENDERS:
            self._in = {name: one for name, one in self._in.items() if one.heard_s > now_s - 3 * FRESH_S}


def _cipher(secret: Secret, epoch: bytes, receiver: str) -> AESGCM:
    return AESGCM(secret.derived(b"datagrams to " + receiver.encode(), epoch))
