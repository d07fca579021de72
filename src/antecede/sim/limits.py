"""What is too much to simulate. Decided in this file: the largest and least of each knob that counts.

Beyond these a run would not fit into any machine (processes, messages, bytes) or outlast its clock (eleven days): a
slip of the finger, most likely, and better refused than begun.
"""

from __future__ import annotations

from antecede.errors import InputError

__all__ = ["LEAST", "MOST", "SCENARIOS", "refuse_absurd"]

MANY = 100_000
LONG_MS = 1e9
MOST: dict[str, float] = {
    **dict.fromkeys(("brokers", "subscribers", "homes", "fanout", "view", "view_below", "times", "sites", "alpha"),
                    MANY),
    **dict.fromkeys(("messages", "burst"), 100_000_000),
    **dict.fromkeys(("round_ms", "nap_ms", "detect_ms", "skew_ms", "jump_ms", "guard_ms", "hop_ms", "warmup_ms",
                     "delay_ms", "deadline_ms", "remember_ms"), LONG_MS),
    **dict.fromkeys(("rate", "move", "join", "leave", "grow", "limit_s"), 1e6),
    "payload_bytes": 1_000_000,
    **dict.fromkeys(("link_kbytes_s", "cpu_us", "buffer", "window"), 1e9),
}  # fmt: skip


LEAST: dict[str, float] = {"rate": 1e-3, "round_ms": 0.1, "nap_ms": 0.1}
"""Below these a run would never end: publications days apart, a round every instant."""

SCENARIOS = 10_000_000
"""Of a sweep, each some milliseconds at least."""


def refuse_absurd(scenario: object) -> None:
    """One sentence for the first knob that is beyond its limit; of a range its end counts."""
    for name, most in MOST.items():
        value = getattr(scenario, name)
        value = value[1] if isinstance(value, tuple) else value
        if value is not None and value > most:
            shown = f"{value:,}" if isinstance(value, int) else f"{value:g}"
            raise InputError(f"{name} is {shown}: at most {most:,.0f} can be simulated.")
    for name, least in LEAST.items():
        if getattr(scenario, name) < least:
            raise InputError(f"{name} is {getattr(scenario, name):g}: it must be at least {least:g}.")
