"""The claims, in the order of the papers. To add one: a file here with its CLAIM, its line below, its test."""

from __future__ import annotations

from importlib import import_module

from antecede.errors import InputError
from antecede.lab.claim import Claim

__all__ = ["MODULES", "all_claims", "claim_named"]

MODULES = (
    "late", "responsiveness", "properties", "drift", "piggyback", "memory",  # 000, 002
    "overhead", "views", "partial_views", "log_rounds", "colours", "safety", "liveness", "steps",
    "convergence", "certainty", "atomic",  # 001
    "redundancy", "pull_cost", "lost_interest", "fanout", "minimum",  # 003
    "near", "distance", "scalar", "one_sender", "perturbed", "perturb_readings", "management", "moves", "small_memory",
    "acks", "implosion", "broadcast", "in_time",  # 004
    "deliverable", "growth", "home", "readings", "repairs",  # ours
)  # fmt: skip


def all_claims() -> list[Claim]:
    claims: list[Claim] = [import_module(f"{__name__}.{module}").CLAIM for module in MODULES]
    return claims


def claim_named(name: str) -> Claim:
    known = {claim.name: claim for claim in all_claims()}
    if name not in known:
        raise InputError(f"There is no claim {name!r}; there are {', '.join(known)}.")
    return known[name]
