"""A machine as plain values and back (PROTOCOLS s2: `freeze`, `thaw`), so that it can be saved, compared and copied.

Decided here: every object a machine reaches is written once, in a table, and named by its place there, so that what was
shared is shared again (a list of effects that three parts append to, a message in two indexes). No code is in it: only
classes and functions of `antecede.core`, and of modules whose recipes were registered, are named, and they are looked
up, never called. What is not memory is left out: dice are the driver's and are handed in again; caches begin empty.

`freeze` is exact: what is thawed behaves as the original would. `likeness` is for comparing situations and cannot be
thawed: it also leaves out what can make no difference (when a message came, the numbers that break ties) and can say
times relative to now. Equal likeness means equal behaviour from now on; equal behaviour may have unequal likeness.
"""

from __future__ import annotations

import enum
import sys
from collections import deque
from collections.abc import Callable, Iterable
from types import BuiltinMethodType, FunctionType, MethodType
from typing import Any

from antecede.core.machine import Dice, Machine
from antecede.core.state.likeness import ROOM, at_home, name_of, plan_of
from antecede.errors import RemoteProtocolError

__all__ = ["EPOCH_US", "freeze", "likeness", "thaw"]

EPOCH_US = 1_200_000_000_000_000
"""Where a driver's clock must begin for times to be told from other numbers (in 2008, counted from 1970)."""

LONG_AGO_US = 60_000_000
"""A time so long ago that nothing is waited for or remembered since: how much longer makes no difference."""

_LEAST_TIME = EPOCH_US // 2
_SCALARS = frozenset((type(None), bool, int, float, str, bytes))
_CONTAINERS = frozenset((dict, list, set, deque))


def freeze(machine: Machine) -> list[Any]:
    """Lists, dicts with names as keys, and scalars: what `wire.freeze` makes canonical bytes of."""
    return _Freezer(machine, None).run(machine)


def likeness(machine: Machine, now_us: int | None) -> list[Any]:
    """As `freeze`, without what makes no difference. `now_us`: say times relative to it (the clock must begin at or
    after EPOCH_US, and nothing may depend on where a clock began: no deadlines)."""
    return _Freezer(machine, (now_us,)).run(machine)


class _Freezer:
    def __init__(self, machine: Machine, alike: tuple[int | None] | None) -> None:
        self.dice = getattr(machine, "dice", None)
        self.alike = alike is not None
        self.now_us = alike[0] if alike is not None else None
        self.names: dict[str, int] = {}
        self.places: dict[int, int] = {}
        self.objects: list[Any] = []
        self.constants = _constants()

    def run(self, machine: Machine) -> list[Any]:
        root = self._place(machine)
        table: list[Any] = []
        for thing in self.objects:  # grows while it is walked: no recursion, however deep a graph is
            table.append(self._entry(thing))
        return [list(self.names), table, root]

    def _place(self, thing: object) -> int:
        place = self.places[id(thing)] = len(self.objects)
        self.objects.append(thing)
        return place

    def _value(self, thing: Any) -> Any:
        kind = thing.__class__
        if kind in _SCALARS:
            if kind is int and thing > _LEAST_TIME and self.now_us is not None:
                return ["@", max(thing - self.now_us, -LONG_AGO_US)]
            return thing
        if kind is tuple:
            return ["t", *map(self._value, thing)]
        place = self.places.get(id(thing))
        if place is not None:
            return ["r", place]
        if kind in _CONTAINERS:
            return ["r", self._place(thing)]
        if thing is self.dice:
            return ["dice"]
        if kind is frozenset:
            return ["z", *map(self._value, _sorted(thing))]
        if kind is MethodType or (kind is BuiltinMethodType and isinstance(thing.__self__, dict | list | set | deque)):
            return ["m", self._value(thing.__self__), thing.__name__]
        if kind is FunctionType:
            return ["f", name_of(thing)]
        if isinstance(thing, enum.Enum):
            return ["e", name_of(kind), thing.name]
        constant = self.constants.get(id(thing))
        if constant is not None:
            return ["c", constant]
        return ["r", self._place(thing)]

    def _entry(self, thing: Any) -> list[Any]:
        kind = thing.__class__
        if kind is dict:
            pairs: list[Any] = ["d"]
            for pair in thing.items():
                pairs += map(self._value, pair)
            return pairs
        if kind is list:
            return ["l", *map(self._value, thing)]
        if kind is set:
            return ["s", *map(self._value, _sorted(thing))]
        if kind is deque:
            return ["q", *map(self._value, thing)]
        return ["o", self.names.setdefault(plan_of(kind).name, len(self.names)), self._attributes(thing, kind)]

    def _attributes(self, thing: Any, kind: type) -> dict[str, Any]:
        plan = plan_of(kind)
        names: Iterable[str] = plan.slots
        if hasattr(thing, "__dict__"):
            names = (*names, *sorted(name for name in thing.__dict__ if name not in plan.caches))
        found = {}
        for name in names:
            try:
                part = getattr(thing, name)
            except AttributeError:
                continue  # a slot that was never filled
            if self.alike and name in plan.alike:
                part = plan.alike[name](thing, part)
            found[name] = self._value(part)
        return found


def _sorted(things: Iterable[Any]) -> list[Any]:
    try:
        return sorted(things)
    except TypeError:
        return sorted(things, key=repr)


_known: tuple[int, dict[int, str]] = (0, {})


def _constants() -> dict[int, str]:
    """Objects that are names of a module (a sentinel, tested with `is`): they are named, not written."""
    global _known
    count, constants = _known
    if len(sys.modules) != count:
        modules = [name for name in sys.modules if at_home(name)]
        found: dict[int, list[tuple[bool, str]]] = {}
        for module in modules:
            public = () if hasattr(sys.modules[module], "__path__") else getattr(sys.modules[module], "__all__", ())
            for name, value in list(vars(sys.modules[module]).items()):
                if at_home(type(value).__module__):
                    found.setdefault(id(value), []).append((name not in public, f"{module}:{name}"))
        constants = {place: min(names)[1] for place, names in found.items()}
        _known = (len(sys.modules), constants)
    return constants


# -- back ----------------------------------------------------------------------------------------------------------


def thaw(plain: Any, dice: Dice) -> Any:
    """The machine, as it was. `dice`: what it draws from now on (to continue exactly, in the same state)."""
    try:
        return _Thawer(plain, dice).run()
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as fault:
        raise RemoteProtocolError(f"this is no saved machine: {fault}") from None


class _Thawer:
    def __init__(self, plain: Any, dice: Dice) -> None:
        names, self.table, self.root = plain
        self.dice = dice
        self.kinds = [_class(name) for name in names]
        self.objects: list[Any] = []

    def run(self) -> Any:
        make: dict[str, Callable[[], Any]] = {"d": dict, "l": list, "s": set, "q": deque}
        for entry in self.table:
            if entry[0] == "o":
                kind = self.kinds[entry[1]]
                self.objects.append(kind.__new__(kind))
            else:
                self.objects.append(make[entry[0]]())
        for thing, entry in zip(self.objects, self.table, strict=True):
            self._fill(thing, entry)
        return self.objects[self.root]

    def _fill(self, thing: Any, entry: list[Any]) -> None:
        value = self._value
        if entry[0] == "d":
            for place in range(1, len(entry), 2):
                thing[value(entry[place])] = value(entry[place + 1])
        elif entry[0] == "l" or entry[0] == "q":
            thing.extend(map(value, entry[1:]))
        elif entry[0] == "s":
            thing.update(map(value, entry[1:]))
        else:
            put = object.__setattr__  # also where the class is frozen
            for name, empty in plan_of(type(thing)).caches.items():
                put(thing, name, empty() if callable(empty) else empty)
            for name, part in entry[2].items():
                put(thing, name, value(part))

    def _value(self, part: Any) -> Any:
        if part.__class__ is not list:
            return part
        tag = part[0]
        if tag == "r":
            return self.objects[part[1]]
        if tag == "t":
            return tuple(map(self._value, part[1:]))
        if tag == "z":
            return frozenset(map(self._value, part[1:]))
        if tag == "dice":
            return self.dice
        if tag == "m":
            return getattr(self._value(part[1]), part[2])
        if tag == "f" or tag == "c":
            return _named(part[1])
        if tag == "e":
            return _class(part[1])[part[2]]
        raise ValueError(f"there is no tag {tag!r}")


def _named(name: str) -> Any:
    module, _, path = name.partition(":")
    if not at_home(module) or module not in sys.modules:
        raise ValueError(f"{name} is not of {ROOM}")
    thing: Any = sys.modules[module]
    for step in path.split("."):
        thing = getattr(thing, step)
    if not at_home(getattr(thing, "__module__", "") or type(thing).__module__):
        raise ValueError(f"{name} is not of {ROOM}")
    return thing


def _class(name: str) -> Any:
    kind = _named(name)
    if not isinstance(kind, type):
        raise ValueError(f"{name} is no class")
    return kind
