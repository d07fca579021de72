"""A second witness: order judged from payloads alone, without a single row's `kind`, `after` or `cut`.

Decided in this file: a test payload lists the ids its sender had seen when it published; whoever delivers a message
after another one that (through any chain of payloads) had seen it, delivered out of order. The witness shares nothing
with the oracle but the names of its verdicts: when both are silent, two independent accounts agree.
"""

from __future__ import annotations

from collections.abc import Iterable

from antecede.trace.report import Finding

__all__ = ["read_payload", "seen_payload", "witness"]

MARK = b"saw "


def seen_payload(ids: Iterable[str]) -> bytes:
    """
    >>> seen_payload(["p:1", "q:7"])
    b'saw p:1 q:7'
    """
    return MARK + " ".join(ids).encode()


def read_payload(payload: bytes) -> frozenset[str]:
    """The ids in it; what is not such a payload has seen nothing."""
    return frozenset(payload[len(MARK) :].decode().split()) if payload.startswith(MARK) else frozenset()


def witness(deliveries: Iterable[tuple[str, int, str, bytes]]) -> list[Finding]:
    """Inversions and duplicates among (process, step, message, payload); a publisher's own messages may be among them.

    >>> early, late = ("r", 0, "q:1", b"saw p:1"), ("r", 1, "p:1", b"saw ")
    >>> [f.text for f in witness([early, late])]
    ['delivered p:1 after q:1, whose sender had seen it']
    """
    by_process: dict[str, list[tuple[int, str]]] = {}
    saw: dict[str, frozenset[str]] = {}
    for process, step, message, payload in deliveries:
        by_process.setdefault(process, []).append((step, message))
        saw[message] = read_payload(payload)
    past: dict[str, set[str]] = {}
    for message in saw:
        _close(message, saw, past)
    findings = []
    for process, mine in sorted(by_process.items()):
        overtaken: dict[str, str] = {}
        """id -> the delivered message whose sender had seen it."""
        done: set[str] = set()
        for step, message in sorted(mine):
            if message in done:
                findings.append(Finding("duplicate", process, message, None, step, f"delivered {message} twice"))
                continue
            done.add(message)
            if message in overtaken:
                other = overtaken[message]
                text = f"delivered {message} after {other}, whose sender had seen it"
                findings.append(Finding("inversion", process, message, other, step, text))
            for name in past[message]:
                overtaken.setdefault(name, message)
    return findings


def _close(message: str, saw: dict[str, frozenset[str]], past: dict[str, set[str]]) -> None:
    """All that `message` had seen, directly or through what it had seen. No recursion: chains are long."""
    path, on_path = [message], {message}
    while path:
        top = path[-1]
        deeper = next((name for name in saw.get(top, ()) if name not in past and name not in on_path), None)
        if deeper is not None and top not in past:
            path.append(deeper)
            on_path.add(deeper)
            continue
        if top not in past:
            past[top] = set(saw.get(top, ())).union(*(past.get(name, ()) for name in saw.get(top, ())))
        on_path.discard(path.pop())
