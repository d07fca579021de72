"""What is too much to simulate. Decided in this file: the largest value of each knob that counts or measures.

Beyond these a run would not fit into any machine (processes, messages, bytes) or outlast its clock (eleven days): a
slip of the finger, most likely, and better refused than begun.
"""

from __future__ import annotations

from antecede.errors import InputError

__all__ = ["MOST", "refuse_absurd"]

MANY = 100_000
LONG_MS = 1e9
MOST: dict[str, float] = {
    **dict.fromkeys(("brokers", "subscribers", "homes", "fanout", "view", "sites", "alpha"), MANY),
    **dict.fromkeys(("messages", "burst"), 100_000_000),
    **dict.fromkeys(("round_ms", "nap_ms", "detect_ms", "skew_ms", "jump_ms", "guard_ms", "hop_ms", "warmup_ms",
                     "delay_ms", "deadline_ms"), LONG_MS),
    **dict.fromkeys(("rate", "move", "join", "leave", "grow", "limit_s"), 1e6),
    "payload_bytes": 1_000_000,
}  # fmt: skip


def refuse_absurd(scenario: object) -> None:
    """One sentence for the first knob that is beyond its limit; of a range its end counts."""
    for name, most in MOST.items():
        value = getattr(scenario, name)
        value = value[1] if isinstance(value, tuple) else value
        if value is not None and value > most:
            shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
            raise InputError(f"{name} is {shown}: at most {most:,.0f} can be simulated.")
