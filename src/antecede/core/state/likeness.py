"""What of a machine is memory, and what of its memory can make a difference: the rules of `freeze`, one line each.

Decided here: which attributes only remember what can be worked out again (they are never saved), and which can make no
difference to anything a machine does from now on (they do not count when two situations are compared). Whoever adds an
attribute need not add it here: it is then saved, and counts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from antecede.errors import InputError

__all__ = ["ALIKE", "CACHES", "FORGOTTEN", "ROOM", "Plan", "admit", "at_home", "name_of", "plan_of"]

ROOM = "antecede.core"
"""Where everything a machine is made of lives."""

_guests: set[str] = set()


def admit(module: str) -> None:
    """Machines may be made of this module's classes and functions too: it holds a recipe of somebody else's."""
    _guests.add(module)


def at_home(module: str) -> bool:
    return module.startswith(ROOM) or module in _guests


CACHES: dict[str, dict[str, Any]] = {
    "Envelope": {"size": -1, "stamp_size": -1, "wire": None},
    "Base": {"size": -1, "control": -1},
    "Store": {"_offers": dict},
    "Stability": {"_laggards": dict},
    "RoundBroker": {"_kept": dict},
    "Channel": {"_ready": dict},
    "HomeBroker": {"_batches": dict},
    "GraphWriter": {"_whole": dict},
    "Seen": {"_message": None, "_fields": dict, "_answers": dict},
}
"""Class -> attributes that only remember what can be worked out again, and what they begin with."""

FORGOTTEN = ("Remembered",)
"""Mappings that are caches as a whole."""


def _in_turn(heap: list[Any]) -> tuple[Any, ...]:
    """A heap of (time, tick, what): only their order counts, and only of what is still there."""
    entries = sorted(heap, key=lambda entry: entry[:2])
    return tuple((entry[0], entry[2]) for entry in entries if not getattr(entry[2], "gone", False))


def _caught_up(writer: Any, memory: Any) -> Any:
    """What a vector's Writer remembers once nothing is left unread: it may read any time before it is asked."""
    writer.catch_up()
    return memory


ALIKE: dict[tuple[str, str], Callable[[Any, Any], Any]] = {
    ("Inbox", "_due"): lambda inbox, due: _in_turn(due),
    ("Solicitation", "_next"): lambda wants, due: _in_turn(due),
    ("Store", "_expiry"): lambda store, due: _in_turn(due),
    ("Inbox", "_tick"): lambda inbox, tick: None,
    ("Solicitation", "_tick"): lambda wants, tick: None,
    ("Store", "_tick"): lambda store, tick: None,
    ("Inbox", "seen"): lambda inbox, seen: tuple(sorted(seen)),  # when they came decides when they are forgotten
    # Where no graph is cut by it, it only decides what is let go of after `grace_us`: no small scenario is so long.
    ("Stability", "confirmed"): lambda stability, told: told if stability.wants_stable else None,
    ("Stability", "_since"): lambda stability, since: None,
    ("Stability", "_looked_us"): lambda stability, at_us: None,  # when it looks again, not what it sees
    ("Store", "version"): lambda store, version: version > 0,
    ("Rounds", "_in_step"): lambda rounds, peers: tuple(
        sorted(peer for peer, version in peers.items() if version >= rounds.store.version)
    ),
    ("Rounds", "_goal"): lambda rounds, goal: None if rounds.steady else goal,
    ("Want", "tries"): lambda want, tries: tries if tries < 12 else 12 + (tries - 12) % 420,  # whose turn, of up to 7
    ("Unacked", "tries"): lambda one, tries: min(tries, 16),
    ("Unacked", "place"): lambda one, place: None,  # they stand in this order
    ("Outbox", "_published"): lambda outbox, published: None,
    ("Outbox", "_due"): lambda outbox, due: None,  # when each is due it says itself
    ("Receiver", "settings"): lambda process, settings: None,  # the same for ever
    ("Solicitation", "settings"): lambda wants, settings: None,
    ("Receiver", "_interests"): lambda process, known: None,
    ("VectorWriter", "_leaves"): _caught_up,
    ("VectorWriter", "_tips"): _caught_up,
    ("VectorWriter", "_unread"): _caught_up,
    ("Broker", "_routes"): lambda broker, known: None,
}
"""(Class, attribute) -> what of it can make a difference, given its owner; for `likeness` alone."""


class Plan(NamedTuple):
    """What of a class is saved, and how."""

    name: str
    slots: tuple[str, ...]
    caches: dict[str, Any]
    alike: dict[str, Callable[[Any, Any], Any]]


_plans: dict[type, Plan] = {}


def plan_of(kind: type) -> Plan:
    """A class that only puts off work says as what it is saved (`SAVED_AS`): a stamp is a stamp, looked at or not."""
    plan = _plans.get(kind)
    if plan is None:
        saved_as = vars(kind).get("SAVED_AS", kind)
        if saved_as is not kind:
            plan = _plans[kind] = plan_of(saved_as)
            return plan
        if issubclass(kind, dict | list | set | tuple) and kind.__name__ not in FORGOTTEN:
            raise InputError(f"this state cannot be saved: what is in a {kind.__qualname__} has no rule here")
        slots: dict[str, None] = {}
        caches: dict[str, Any] = {}
        alike: dict[str, Callable[[Any, Any], Any]] = {}
        for base in reversed(kind.__mro__):
            own = base.__dict__.get("__slots__", ())
            slots.update(dict.fromkeys((own,) if isinstance(own, str) else own))
            caches.update(CACHES.get(base.__name__, {}))
            alike.update({name: how for (owner, name), how in ALIKE.items() if owner == base.__name__})
        saved = tuple(name for name in slots if name not in caches and name not in ("__dict__", "__weakref__"))
        plan = _plans[kind] = Plan(name_of(kind), saved, caches, alike)
    return plan


def name_of(thing: Any) -> str:
    name = f"{thing.__module__}:{thing.__qualname__}"
    if not at_home(thing.__module__) or "<" in name:
        where = f"at the top of a module of {ROOM} or of your plugin"
        raise InputError(f"this state cannot be saved: {name} is not defined {where}")
    return name
