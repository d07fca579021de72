"""The dumb twin of the kernel, slow and obvious: it keeps every row and asks each question anew."""

from __future__ import annotations

from dataclasses import dataclass, field

NEVER = 2**63 - 1


@dataclass
class Line:
    """One row of a table, in the order of arrival."""

    name: str | None
    needs: list[str] = field(default_factory=list)
    at: int = 0
    late: int = NEVER
    due: int = NEVER
    other: str | None = None


@dataclass
class Outcome:
    fate: str
    pos: int | None = None
    by: str | None = None
    missing: tuple[str, ...] = ()
    revealed: int = 0


class Twin:
    def __init__(self, lines: list[Line], *, numbered: bool = False) -> None:
        self.lines = lines
        self.numbered = numbered
        self.came: dict[str, int] = {}
        """name -> the row that brought it."""
        self.passed: dict[str, int] = {}
        self.delivered: list[int] = []
        self.outcomes: dict[int, Outcome] = {}
        self.held: list[int] = []
        self.now = -(2**63)

    # -- questions -------------------------------------------------------------------------------------------------

    def names(self, i: int) -> list[str]:
        return [n for n in (self.lines[i].name, self.lines[i].other) if n is not None and self.came.get(n) == i]

    def needs(self, i: int) -> list[str]:
        line = self.lines[i]
        return [n for n in dict.fromkeys(line.needs) if n is not None and n not in (line.name, line.other)]

    def passed_at(self, name: str) -> int | None:
        found = [p for other, p in self.passed.items() if other == name or (self.numbered and lower(name, other))]
        return min(found) if found and name not in self.came else None

    def behind(self, name: str, asked: tuple[str, ...] = ()) -> bool:
        i = self.came.get(name)
        if i is None:
            return self.passed_at(name) is not None
        if i in self.held:
            return False
        if self.outcomes[i].fate == "late" and name not in self.passed:
            return all(n not in asked and self.behind(n, (*asked, name)) for n in self.needs(i))
        return True

    def missing_before(self, i: int) -> set[str]:
        """Names that have not come, seen through late rows."""
        found, stack, seen = set(), list(self.needs(i)), set()
        while stack:
            name = stack.pop()
            if name in seen or self.behind(name):
                continue
            seen.add(name)
            if name not in self.came:
                found.add(name)
                stack.extend(self.earlier(name))
            elif self.came[name] not in self.held:
                stack.extend(self.needs(self.came[name]))
        return found

    def late_before(self, i: int) -> set[str]:
        """Late rows that come right before this one and wait for something."""
        found, stack = set(), list(self.needs(i))
        while stack:
            name = stack.pop()
            if name not in self.came:
                stack.extend(set(self.earlier(name)) - found)
            elif name not in found and self.came[name] not in self.held and not self.behind(name):
                found.add(name)
                stack.extend(self.needs(self.came[name]))
        return found

    def earlier(self, name: str) -> list[str]:
        """Numbered: what came of the same sender and is not held, before this number."""
        return [n for n, j in self.came.items() if self.numbered and j not in self.held and lower(n, name)]

    def held_before(self, i: int) -> set[int]:
        """Held rows that come right before this one, seen through late rows and, numbered, through missing ones."""
        found, stack, seen = set(), list(self.needs(i)), set()
        while stack:
            name = stack.pop()
            if name in seen or self.behind(name):
                continue
            seen.add(name)
            if name not in self.came:
                if self.numbered:
                    found |= {j for j in self.held for n in self.names(j) if lower(n, name)} - {i}
                    stack.extend(self.earlier(name))
            elif self.came[name] in self.held:
                found.add(self.came[name])
            else:
                stack.extend(self.needs(self.came[name]))
        return found

    def all_before(self, i: int) -> set[int]:
        found: set[int] = set()
        stack = [i]
        while stack:
            for j in self.held_before(stack.pop()) - found:
                found.add(j)
                stack.append(j)
        return found

    # -- the rules -------------------------------------------------------------------------------------------------

    def run(self, *, finish: bool = True) -> dict[int, Outcome]:
        for i in range(len(self.lines)):
            self.arrive(i)
        if finish:
            self.expire(NEVER)
            self.skip()
        return self.outcomes

    def arrive(self, i: int) -> None:
        line = self.lines[i]
        if line.at > self.now:
            self.now = line.at
            self.expire(self.now)
        if line.name is None:
            self.outcomes[i] = Outcome("invalid")
            return
        if self.came.get(line.name) is not None:
            self.outcomes[i] = Outcome("duplicate")
            return
        passed = self.passed_at(line.name)
        if passed is None and line.other is not None:
            passed = self.passed_at(line.other)
        for name in (line.name, line.other):
            if name is not None:
                self.came.setdefault(name, i)
        late = self.now > line.late
        if passed is not None:
            for name in self.names(i):
                self.passed.setdefault(name, passed)
            self.outcomes[i] = Outcome("late" if late else "superseded")
            self.outcomes[i].revealed = self.supersede(self.needs(i), passed)
        elif late:
            self.outcomes[i] = Outcome("late")
        elif line.name in line.needs or (line.other is not None and line.other in line.needs):
            self.outcomes[i] = Outcome("cycle")
        else:
            self.held.append(i)
            self.settle("causes") if not self.missing_before(i) else None
            if i in self.held and line.due < self.now:
                self.force(i)
        self.settle("causes")
        self.untangle()

    def supersede(self, names: list[str], passed: int) -> int:
        """All these and what is before them, whatever became of it, precede something that is out since `passed`."""
        stack, walked = list(names), set[str]()
        while stack:
            name = stack.pop()
            i = self.came.get(name)
            if name in walked:
                continue
            walked.add(name)
            if i is None:
                stack += [n for j in self.held for n in self.names(j) if self.numbered and lower(n, name)]
                stack += [n for n in self.earlier(name) if not self.behind(n)]
            elif i not in self.delivered:
                stack += self.needs(i)
        revealed = 0
        for name in walked:
            i = self.came.get(name)
            if i is None:
                self.passed[name] = min(passed, self.passed.get(name, passed))
            elif i in self.delivered:
                revealed += self.delivered.index(i) > passed
            else:
                if i in self.held:
                    self.held.remove(i)
                    self.outcomes[i] = Outcome("superseded")
                for one in self.names(i):
                    self.passed.setdefault(one, passed)
        return revealed

    def settle(self, by: str) -> None:
        while True:
            ready = [i for i in self.held if all(self.behind(n) for n in self.needs(i))]
            if not ready:
                return
            self.out(min(ready), by)

    def untangle(self) -> None:
        """Circles of rows without a bound that wait for nothing but themselves come out, and what this frees."""
        while closed := self.closed():
            for i in closed:
                if i in self.held:
                    self.held.remove(i)
                    self.outcomes[i] = Outcome("cycle")
                for name in self.names(i):
                    self.passed.setdefault(name, len(self.delivered))
            self.settle("skip")

    def closed(self) -> list[int]:
        """Rows, held or late, that wait for others which all wait for them."""
        waits: dict[int, set[int]] = {}
        for i in {*self.held, *(self.came[name] for name in self.came)}:
            open_now = [name for name in self.needs(i) if not self.behind(name)]
            waiting = i in self.held or (self.outcomes[i].fate == "late" and not all(map(self.behind, self.names(i))))
            if waiting and (i not in self.held or self.lines[i].due == NEVER):
                waits[i] = {self.came.get(name, -1) for name in open_now}
        reach = {i: set(first) for i, first in waits.items()}
        for _ in waits:
            for i in reach:
                for j in list(reach[i]):
                    reach[i] |= reach.get(j, {-1})
        return sorted(i for i in waits if reach[i] and all(j in reach and i in reach[j] for j in reach[i]))

    def expire(self, now: int) -> None:
        while True:
            due = [(self.lines[i].due, i) for i in self.held if self.lines[i].due < now]
            if not due:
                return
            self.force(min(due)[1])
            self.settle("causes")
            self.untangle()

    def force(self, i: int, by: str | None = None) -> None:
        group = self.all_before(i) | {i}
        late = {name for j in group for name in self.late_before(j)}
        before = {j: self.held_before(j) for j in group}
        by = by or ("deadline" if self.lines[i].due == self.lines[i].late else "wait")
        while group:
            free = [j for j in group if not before[j] & group]
            if free:
                j = min(free)
                group.discard(j)
                lost = self.missing_before(j)
                for name in lost:
                    self.passed[name] = len(self.delivered)
                self.out(j, by)
                continue
            for j in sorted(on_a_cycle({j: before[j] & group for j in group})):
                group.discard(j)
                for name in self.needs(j):
                    if name not in self.came and not self.behind(name):
                        self.passed[name] = len(self.delivered)
                self.held.remove(j)
                self.outcomes[j] = Outcome("cycle")
        for name in late:
            for lost in self.missing_before(self.came[name]):
                self.passed[lost] = len(self.delivered)
            self.passed.setdefault(name, len(self.delivered))

    def out(self, i: int, by: str) -> None:
        self.held.remove(i)
        missing = tuple(n for n in self.needs(i) if n not in self.came or self.came[n] not in self.delivered)
        self.outcomes[i] = Outcome("delivered", len(self.delivered), by, missing)
        self.delivered.append(i)

    def skip(self) -> None:
        for i in list(self.held):
            if i in self.held:
                self.force(i, "skip")
                self.settle("skip")
                self.untangle()
        for outcome in self.outcomes.values():
            if outcome.by == "skip" and not outcome.missing:
                outcome.by = "causes"


def lower(name: str, other: str) -> bool:
    """`name` is an earlier number of the same sender."""
    a, _, m = name.rpartition(":")
    b, _, n = other.rpartition(":")
    return a == b and m.isdecimal() and n.isdecimal() and int(m) < int(n)


def on_a_cycle(sources: dict[int, set[int]]) -> set[int]:
    reach = {node: set(first) for node, first in sources.items()}
    for _ in sources:
        for node in reach:
            for other in list(reach[node]):
                reach[node] |= reach.get(other, set())
    return {node for node, found in reach.items() if node in found}
