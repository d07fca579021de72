"""What becomes of every row of one causal domain: delivered, held, late, superseded, duplicate or on a cycle.

These are the rules of core/deadline/inbox.py for tables: names instead of stamps, plain data instead of objects, so
that a ready row costs a few lookups and a domain with a hundred thousand names can be saved between two micro-batches.
Tests hold it against the Inbox itself and against a slow twin.

A row has a name (and perhaps a second one) and needs other names. In this order it is: a repeat (`duplicate`), behind
already (`superseded`, or `late` when its time is over too), too late (`late`; it alone is skipped: whoever needs it
needs what it needed), ready (`delivered`, and whatever waited for it), or held. Of several rows that are ready the one
that came first goes first. Rows without a bound that wait for each other and for nothing else come out as a `cycle` at
once, and what needs them goes on without them. A held row whose time is up goes out after everything held that precedes
it, in causal order; what is still missing before them lies behind from then on. All of these are released by its
`deadline` (the Inbox says `causes` of those among them that an earlier one of them made ready).

Of a name that never came nothing else is known. What a superseded row tells of its own causes when it comes at last
holds from then on: those not out yet are superseded too, those that went out after what overtook it are counted as
`revealed`. Numbered domains with vector clocks name all causes, so nothing is revealed there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

from antecede.spark.order.behind import CAME, NEVER, Behind, Held, Ready, Rules
from antecede.spark.order.cycles import on_cycles, without_hope

__all__ = ["FATES", "REASONS", "Domain"]

DELIVERED, LATE, SUPERSEDED, DUPLICATE, CYCLE, INVALID = range(6)
FATES = ("delivered", "late", "superseded", "duplicate", "cycle", "invalid")
CAUSES, DEADLINE, WAIT, SKIP, BOUND = range(5)
REASONS = ("causes", "deadline", "wait", "skip", "bound")


class Domain(Behind):
    __slots__ = ("_by", "_due", "_line", "no", "odd", "out", "pos", "rest")

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.pos = 0
        self.no = 0
        self.out: list[int] = []
        """Slots of delivered rows in their order; the last has position `pos` - 1."""
        self.odd: dict[int, tuple[int, list[str]]] = {}
        """Of those, the ones with something to tell: slot -> by what it was released, what is missing."""
        self.rest: list[tuple[int, int, int]] = []
        """Slot, fate and how much it revealed, of rows that are not delivered."""
        self._due: list[tuple[int, int, Held]] = []
        self._line: deque[Held] = deque()
        self._by = CAUSES

    # -- arrivals --------------------------------------------------------------------------------------------------

    def take(
        self,
        slots: Iterable[int],
        names: Iterable[str | None],
        others: Iterable[str | None],
        needs: Iterable[Sequence[str] | None],
        ats: Iterable[int],
        lates: Iterable[int],
        dues: Iterable[int],
    ) -> None:
        """Rows in the order of their arrival. All that happens to a ready row is in this loop: calls would cost more.

        `ats` when it came, `lates` until when it is in time, `dues` until when it may wait (at most `lates`).
        """
        past, held, waits, due_heap, front, old = self.past, self.held, self._waits, self._due, self.front, self.old
        get, append = past.get, self.out.append
        now, pos = self.now, self.pos
        turn = self.turn_at()
        for slot, name, other, wanted, at, late, due in zip(
            slots, names, others, needs, ats, lates, dues, strict=False
        ):
            if at > now:
                now = self.now = at
                if due_heap and due_heap[0][0] < now:
                    self.pos = pos
                    self._expire(now)
                    pos = self.pos
                if now >= turn:
                    self.forget()
                    turn = self.turn_at()
            if not name:
                self.rest.append((slot, INVALID, 0))
                continue
            if (
                name in past
                or now > late
                or name in held
                or (other is not None and get(other, 0) < CAME)
                or ((front or old) and self.is_behind(name))
            ):
                self.pos = pos
                self._discard(slot, name, other, wanted or (), now > late)
                pos = self.pos
                continue
            if wanted:
                for need in wanted:
                    if get(need, CAME) < 0:
                        break
                else:
                    wanted = None
                if wanted is not None:
                    self.pos = pos
                    self._hold(slot, name, other, wanted, late, due)
                    pos = self.pos
                    continue
            past[name] = pos
            append(slot)
            pos += 1
            if other is not None:
                past.setdefault(other, pos - 1)
            if waits and (name in waits or other in waits):
                self.pos = pos
                ready: Ready = []
                self.free(name, ready)
                if other is not None:
                    self.free(other, ready)
                self._settle(ready)
                pos = self.pos
        self.pos = pos

    def _discard(self, slot: int, name: str, other: str | None, wanted: Sequence[str], late: bool) -> None:
        ready: Ready = []
        at_pos = self.passed_at(name)
        if at_pos is None and other is not None:
            at_pos = self.passed_at(other)
        row = Held(self.no, -1, name, other, wanted, NEVER, CAUSES, True)
        self.no += 1
        if self.past.get(name, CAME - 1) >= CAME or name in self.held:
            self.rest.append((slot, DUPLICATE, 0))
        elif at_pos is not None:  # it was passed over, and so was all before it
            self.put_behind(row, CAME, ready)
            revealed = self._supersede(row.wants(), at_pos, ready)
            self.rest.append((slot, LATE if late else SUPERSEDED, revealed))
        else:
            self.rest.append((slot, LATE, 0))
            if self.is_old(name) or not self.watch(row):
                self.put_behind(row, CAME, ready)
            elif self.rules.max_held is not None:
                self._line_up(row, ready)
        self._settle(ready)

    def _supersede(self, names: list[str], at_pos: int, ready: Ready) -> int:
        """These precede what went out at `at_pos`, as does all before them. Returns how many went out after it."""
        revealed, stack, seen = 0, list(names), set(names)
        while stack:
            name = stack.pop()
            row = self.held.get(name)
            value = self.past.get(name)
            if row is not None:
                before = row.wants()
                self.let_go(row)
                if not row.ghost:
                    self.rest.append((row.slot, SUPERSEDED, 0))
                self.put_behind(row, CAME, ready)
            elif value is not None and value >= CAME:
                before = self.told.get(name, [])
                revealed += value > at_pos
            else:
                before = [one.name for one in self.implied(name)]
                if not self.is_old(name):
                    self.pass_over(name, at_pos, ready)
            stack += (one for one in before if one not in seen)
            seen.update(before)
        return revealed

    def _hold(self, slot: int, name: str, other: str | None, wanted: Sequence[str], late: int, due: int) -> None:
        """Something that it needs was not delivered."""
        row = Held(self.no, slot, name, other, wanted, due, DEADLINE if due == late else WAIT, False)
        self.no += 1
        ready: Ready = []
        if name in wanted or (other is not None and other in wanted):
            self.rest.append((slot, CYCLE, 0))
            self.put_behind(row, CAME, ready)
        elif not self.watch(row):
            self._deliver(row, CAUSES, ready)
        elif due < self.now:  # its waiting was over when it came, though it is not late
            self._force(row, row.by, ready)
        else:
            if due < NEVER:
                heappush(self._due, (due, row.no, row))
            if self.rules.max_held is not None:
                self._line_up(row, ready)
            if not ready and not self.loose:
                return
        self._settle(ready)

    def _line_up(self, row: Held, ready: Ready) -> None:
        """When too many wait the oldest wait no longer."""
        most, line = self.rules.max_held or 0, self._line
        line.append(row)
        while self.waiting > most and line:
            oldest = line.popleft()
            if not oldest.gone:
                self._force(oldest, BOUND, ready)
        if len(line) > 2 * self.waiting + 1024:
            self._line = deque(one for one in line if not one.gone)

    # -- ways out --------------------------------------------------------------------------------------------------

    def _settle(self, ready: Ready) -> None:
        """All that is ready goes out; then circles that now wait for nothing but themselves, and what this frees."""
        by = self._by
        while ready or self.loose:
            while ready:
                row = heappop(ready)[1]
                if not row.gone:
                    self.let_go(row)
                    self._deliver(row, self._by, ready)
            if self.loose:
                loose, self.loose = self.loose, []
                for row in without_hope(loose, self.held, NEVER):
                    self.let_go(row)
                    if not row.ghost:
                        self.rest.append((row.slot, CYCLE, 0))
                    self.put_behind(row, CAME, ready)
                self._by = SKIP
        self._by = by

    def _deliver(self, row: Held, by: int, ready: Ready) -> None:
        if row.ghost:
            self.put_behind(row, CAME, ready)
            return
        if self.gaps:
            missing = [need for need in row.wants() if self.undelivered(need)]
            if missing or by not in (CAUSES, SKIP):
                self.odd[row.slot] = (by, missing)
        self.out.append(row.slot)
        self.put_behind(row, self.pos, ready)
        self.pos += 1

    def _force(self, row: Held, by: int, ready: Ready) -> None:
        """`row` goes out now: after all that is held and precedes it, in causal order; what is missing is passed."""
        before, sources = self._before(row)
        targets: dict[int, list[int]] = {}
        for no, theirs in sources.items():
            for source in theirs:
                targets.setdefault(source, []).append(no)
        left = {no: len(theirs) for no, theirs in sources.items()}
        ripe = [(before[no].turn(), no) for no, count in left.items() if not count]
        heapify(ripe)
        while before:
            if ripe:
                going, cyclic = [heappop(ripe)[1]], False
            else:
                going, cyclic = sorted(on_cycles({no: sources[no] & before.keys() for no in before})), True
            for one in [before.pop(no) for no in going]:
                self._go(one, by, cyclic, ready)
                for target in targets.get(one.no, ()):
                    left[target] -= 1
                    if not left[target] and target in before:
                        heappush(ripe, (before[target].turn(), target))

    def _go(self, row: Held, by: int, cyclic: bool, ready: Ready) -> None:
        self.let_go(row)
        for need in [need for need in row.open if need not in self.held]:
            self.pass_over(need, self.pos, ready)
        if row.ghost or not cyclic:
            self._deliver(row, by, ready)
        else:
            self.rest.append((row.slot, CYCLE, 0))
            self.put_behind(row, CAME, ready)

    def _before(self, row: Held) -> tuple[dict[int, Held], dict[int, set[int]]]:
        """The row and all held rows that precede it, and for each the held rows that come right before it."""
        found, stack = {row.no: row}, [row]
        sources: dict[int, set[int]] = {}
        while stack:
            one = stack.pop()
            mine = sources[one.no] = set()
            for need in one.open:
                nearest = self.held.get(need)
                for source in self.implied(need) if nearest is None else (nearest,):
                    if source is not one:
                        mine.add(source.no)
                        if source.no not in found:
                            found[source.no] = source
                            stack.append(source)
        return found, sources

    # -- time ------------------------------------------------------------------------------------------------------

    def next_due(self) -> int:
        """Until when the next row may wait; NEVER when none waits with a bound."""
        due = self._due
        while due and due[0][2].gone:
            heappop(due)
        return due[0][0] if due else NEVER

    def expire(self, now: int) -> None:
        """It is `now`: nothing earlier will arrive."""
        self._expire(now)
        if now > self.now:
            turn, self.now = self.turn_at(), now
            if now >= turn:
                self.forget()

    def _expire(self, now: int) -> None:
        due = self._due
        while due and due[0][0] < now:
            row = heappop(due)[2]
            if not row.gone:
                ready: Ready = []
                self._force(row, row.by, ready)
                self._settle(ready)

    def finish(self) -> None:
        """Nothing will come any more: what may wait until some time goes out first, then all that still waits."""
        self._expire(NEVER)
        self._by = SKIP
        for row in sorted(self.rows(), key=is_ghost):
            if not row.gone:
                ready: Ready = []
                self._force(row, SKIP, ready)
                self._settle(ready)
        self._by = CAUSES

    # -- to plain values and back ----------------------------------------------------------------------------------

    def frozen(self) -> list[Any]:
        """Without what was handed out; slots are the caller's to renumber first."""
        past = self.past
        rows = [row.frozen() for row in self.rows()]
        kept = (self.gaps, self.told, self.front, self.old, self.ages)
        return [self.pos, self.no, self.now, list(past), list(past.values()), *kept, rows]

    @classmethod
    def thawed(cls, rules: Rules, value: list[Any]) -> Domain:
        self = cls(rules)
        self.pos, self.no, self.now, names, values, *kept, rows = value
        self.gaps, self.told, self.front, self.old, self.ages = kept
        self.past = dict(zip(names, values, strict=True))
        for fields in rows:
            row = Held(*fields[:-1])
            row.open = dict.fromkeys(fields[-1])
            self.keep(row)
            if row.due < NEVER:
                self._due.append((row.due, row.no, row))
            if rules.max_held is not None:
                self._line.append(row)
        heapify(self._due)
        return self


def is_ghost(row: Held) -> bool:
    return row.ghost
