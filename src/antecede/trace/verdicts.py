"""The verdicts on single rows: inversion, gap, overdue, duplicate, idle, false; each is judged by what stood before it.

Decided in this file: the text of PROTOCOLS.md s1, line by line. Gap, idle and false go by the process's own clock, for
that is all it has; overdue by the simulator's clock where there is one, else within the stated skew it is in doubt.
"""

from __future__ import annotations

from antecede.trace.claims import Claims
from antecede.trace.history import History, Told, bits
from antecede.trace.ledger import Ledger
from antecede.trace.pairs import Receiver
from antecede.trace.record import Row, is_copy
from antecede.trace.report import Finding, ms

__all__ = ["Judge"]

CUT = 3
"""Names of a cut in a sentence."""


class Judge:
    """Walks through the rows of one process; `ledger` then says how it ended."""

    def __init__(
        self, receiver: Receiver, history: History, receivers: dict[str, Receiver], claims: Claims, skew_us: int
    ) -> None:
        self.receiver = receiver
        self.history = history
        self.receivers = receivers
        self.claims = claims
        self.skew_us = skew_us
        self.ledger = Ledger(receiver, history)
        self.findings: list[Finding] = []
        self.in_doubt: list[Finding] = []
        self.numbered = False
        """A client of `home` whose filters change: it knows the number of what is missing, not what it is. It may be a
        predecessor it is not owed, asked for in vain or passed at another broker, and no row says so."""
        self._waiting: dict[int, list[int]] = {}
        """predecessor -> messages that wait for it (each waits for one missing predecessor at a time)."""
        self._ready: dict[int, int] = {}
        """message -> the instant since which nothing keeps it."""

    def walk(self) -> None:
        for row in self.receiver.rows:
            self._idle_before(row)
            index = self.history.index.get(row.message) if row.message is not None else None
            if is_copy(row):
                if index is None:
                    self._find("unexplained", row, None, f"was handed a copy of {row.message}, which nobody published")
                continue
            if row.kind == "deliver":
                self._deliver(row, index)
            elif row.kind == "discard" and index is not None:
                why = self.claims.discard(row, self.ledger, index)
                if why is not None:
                    self._false(row, f"discarded {row.message} as {row.reason}", why, doubtful=row.reason == "gone")
                elif (doubt := self.claims.in_doubt(row, self.ledger, index)) is not None:
                    text = f"discarded {row.message} as {row.reason}, {doubt}"
                    self.in_doubt.append(Finding("false", row.process, row.message, None, row.step, text))
            elif row.kind in ("join", "move") and row.cut:
                why = self.claims.cut(row, self.ledger)
                if why is not None:
                    more = f" and {len(row.cut) - CUT:,} more" if len(row.cut) > CUT else ""
                    self._false(row, f"put {', '.join(row.cut[:CUT])}{more} behind itself at a {row.kind}", why)
            elif row.kind == "arrive" and index is None:
                self._find("unexplained", row, None, f"{row.message} arrived, but nobody published it")
            self.ledger.take(row)
            self._idle_after(row, index)

    # --- what is delivered ---------------------------------------------------------------------------------------

    def _deliver(self, row: Row, index: int | None) -> None:
        if index is None:
            self._find("unexplained", row, None, f"delivered {row.message}, which nobody published")
            return
        told, ledger = self.history.messages[index], self.ledger
        if row.reason == "own":
            if told.publisher != row.process or not ledger.delivered & told.bit:
                self._false(row, f"was handed {told.id} as its own", f"{told.publisher} published it, or not yet")
            elif ledger.asked_for & told.bit:
                self._find("duplicate", row, None, f"was handed its own {told.id} a second time")
            self._lateness(row, told)
            return
        if ledger.delivered & told.bit:
            own = " (it is its own)" if told.publisher == row.process else ""
            self._find("duplicate", row, None, f"delivered {told.id} a second time{own}")
            return
        if not ledger.arrived & told.bit:
            self._find("unexplained", row, None, f"delivered {told.id}, which never arrived here")
        if not any(self.history.matching(m.filter) & told.bit for m in self.receiver.memberships):
            self._find("unexplained", row, None, f"delivered {told.id}, which no filter of it matches")
        elif all(m.joined > row.step for m in self.receiver.memberships):
            self._find("unexplained", row, None, f"delivered {told.id} before it had joined anything")
        if ledger.past & told.bit:
            later = self._first_successor_out(told, row.step)
            self._find("inversion", row, later, f"delivered {told.id} after {later}, although {told.id} -> {later}")
        self._lateness(row, told)
        self._released(row, told)

    def _first_successor_out(self, told: Told, step: int) -> str:
        out = self.history.out[self.receiver.name]
        places = [(s, i) for i, s in out.items() if s < step and self.history.messages[i].ancestors & told.bit]
        return self.history.messages[min(places)[1]].id

    def _lateness(self, row: Row, told: Told) -> None:
        due_us = told.due_us(self.receiver.role)
        if due_us is None:
            return
        if row.true_us is not None:
            if row.true_us > due_us:
                self._find("overdue", row, None, f"delivered {told.id} {ms(row.true_us - due_us)} after its deadline")
        elif row.at_us - self.skew_us > due_us:
            self._find("overdue", row, None, f"delivered {told.id} {ms(row.at_us - due_us)} after its deadline")
        elif row.at_us + self.skew_us > due_us:
            text = f"delivered {told.id} within {ms(self.skew_us)} of its deadline, which is the skew of the clocks"
            self.in_doubt.append(Finding("overdue", row.process, told.id, None, row.step, text))

    def _released(self, row: Row, told: Told) -> None:
        """Gap, and the claim `deadline`: both ask whether the logical deadline, less the guard, has come."""
        missing = self._missing(row, told)
        if not missing and row.reason != "deadline":
            return
        logical_us = self.ledger.logical_deadline_us(told.index)
        release_us = None if logical_us is None else logical_us - self.ledger.guard_us
        if release_us is not None and row.at_us >= release_us:
            return
        when = f"{told.id} has no deadline"
        if release_us is not None:
            when = f"the logical deadline of {told.id} less guard is {ms(release_us)}"
        for index in missing:
            name = self.history.messages[index].id
            self._find("gap", row, name, f"delivered {told.id} at {ms(row.at_us)} without {name} ({when})")
        if row.reason == "deadline":
            self._false(row, f"released {told.id} by deadline", f"at {ms(row.at_us)} {when}")

    def _missing(self, row: Row, told: Told) -> list[int]:
        """Addressed predecessors that are neither delivered nor discarded nor expired, nor overtaken already."""
        ledger = self.ledger
        if not ledger.owed & told.bit:
            return []  # behind the cut: judged for inversion, overdue and duplicate only
        candidates = told.ancestors & ledger.owed & ~ledger.delivered & ~ledger.discarded & ~ledger.past
        return [i for i in bits(candidates) if ledger.in_time_at(i, row.at_us) and self._counts(i, told)]

    def _counts(self, predecessor: int, told: Told) -> bool:
        """At a subscriber: only if a broker it came from had the predecessor out before it.

        Where copies came from several brokers, one such broker is enough: its copy told the subscriber of the
        predecessor, and a later copy that knows less does not undo that.
        """
        if self.receiver.role != "subscriber":
            return True
        senders = self._senders(told.index)
        for peer in senders:
            if peer is None or peer not in self.receivers:
                return True  # nobody to answer for the order it came in
            if self.history.shed.get(self.receiver.name, {}).get(peer, 0) >> predecessor & 1:
                continue  # it had no more room for it, and says so itself
            out = self.history.out[peer]
            if predecessor in out and out[predecessor] < out.get(told.index, len(self.receivers[peer].rows)):
                return True
        return not senders

    def _senders(self, index: int) -> list[str | None]:
        """The brokers whose copies of a message count, the first of these that there are: copies since the last move
        (or the last `leave` of everything) from brokers that the subscriber was attached to when they came; copies
        since then from those it is attached to now, since a frame may bring what makes it join, and messages with it;
        copies from before, which it dropped. Example: s holds m from C and leaves: m is dropped. B's frame brings m
        again, and s joins at B: B alone answers for the order of m."""
        ledger = self.ledger
        came, early = ledger.senders.get(index, []), ledger.early.get(index, [])
        recent = [peer for step, peer in came if step >= ledger.fresh_from]
        joining = [peer for step, peer in early if step >= ledger.fresh_from and ledger.attached(peer)]
        return recent or joining or [peer for _, peer in came]

    # --- what is held --------------------------------------------------------------------------------------------

    def _idle_before(self, row: Row) -> None:
        """At an instant later than the one that made it ready, nothing may be held any more."""
        if not self._ready or row.true_us is None:
            return
        for index in [i for i, since in self._ready.items() if since < row.true_us]:
            since = self._ready.pop(index)
            if self.numbered and self.history.messages[index].ancestors & ~self.ledger.settled:
                continue
            name = self.history.messages[index].id
            text = f"still holds {name} at {ms(row.true_us)}, although nothing keeps it since {ms(since)}"
            self.findings.append(Finding("idle", row.process, name, None, row.step, text))

    def _idle_after(self, row: Row, index: int | None) -> None:
        if row.true_us is None:
            return
        if row.kind in ("move", "crash") or (row.kind == "leave" and not self.ledger.owed):
            self._waiting.clear()  # what was held is dropped
            self._ready.clear()
        elif row.kind == "leave":
            self._ready = {i: since for i, since in self._ready.items() if i in self.ledger.must}
        if index is None:
            return
        if row.kind == "arrive":
            if index in self.ledger.must and not self.ledger.settled >> index & 1:
                self._wait(index, row.true_us)
        elif row.kind in ("deliver", "discard", "publish") and row.reason != "duplicate":
            if row.reason != "foreign" or index not in self.ledger.must or self.ledger.last_copy_binds(index):
                self._ready.pop(index, None)
            if not self.ledger.settled >> index & 1:
                return  # `foreign`: this copy is not held, but another may still come
            for waiter in self._waiting.pop(index, ()):
                if waiter in self.ledger.must and not self.ledger.settled >> waiter & 1:
                    self._wait(waiter, row.true_us)

    def _wait(self, index: int, now_us: int) -> None:
        missing = self.history.messages[index].ancestors & self.receiver.ever & ~self.ledger.settled
        if missing:
            self._waiting.setdefault(missing.bit_length() - 1, []).append(index)
        else:
            self._ready.setdefault(index, now_us)

    # --- findings ------------------------------------------------------------------------------------------------

    def _find(self, verdict: str, row: Row, other: str | None, text: str) -> None:
        self.findings.append(Finding(verdict, row.process, row.message, other, row.step, text))

    def _false(self, row: Row, claim: str, why: str, *, doubtful: bool = False) -> None:
        """Without a common clock who held what when cannot be told for certain."""
        target = self.in_doubt if doubtful and row.true_us is None else self.findings
        target.append(Finding("false", row.process, row.message, None, row.step, f"{claim}, but {why}"))
