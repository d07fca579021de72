"""`false`: every claim of a protocol, recomputed. A claim excuses nothing; an untrue one is a finding by itself.

Decided in this file: when each `reason` of a discard is untrue, and which messages a `cut` may put behind a receiver.
"""

from __future__ import annotations

from collections.abc import Callable

from antecede.core.message import COLLECTED
from antecede.trace.history import History, bits, filters_of, sheds, time_of
from antecede.trace.holders import Holders
from antecede.trace.ledger import Ledger
from antecede.trace.pairs import Receiver
from antecede.trace.record import Row
from antecede.trace.report import ms

__all__ = ["Claims"]


def _life_of(process: str) -> tuple[str, int]:
    """A name without its incarnation, and that; 0: the first.

    >>> _life_of("ann.2"), _life_of("ann"), _life_of("v1.0")
    (('ann', 2), ('ann', 0), ('v1.0', 0))
    """
    name, _, life = process.rpartition(".")
    return (name, int(life)) if name and life.isascii() and life.isdigit() and life[0] != "0" else (process, 0)


class Claims:
    """Each method returns why the claim in the row is untrue, as the end of a sentence, or None if it holds."""

    def __init__(self, history: History, receivers: dict[str, Receiver], holders: Holders) -> None:
        self.history = history
        self.receivers = receivers
        self.holders = holders
        self.unrecorded: set[str] = set()
        """Processes that a cut names and that have no records here."""
        self._rules: dict[str, Callable[[Row, Ledger, int], str | None]] = {
            "late": self._too_late,
            "expired": self._too_late,
            "superseded": self._superseded,
            "overflow": self._overflow,
            "foreign": self._foreign,
            "gone": self._gone,
        }

    def discard(self, row: Row, ledger: Ledger, index: int) -> str | None:
        if sheds(row):
            return self._shed(row, ledger, index)
        if row.peer not in (None, row.process):
            return f"it cannot be {row.peer}'s fate"
        if row.reason == "duplicate":
            known = ledger.copies.get(index, 0) >= 2 or ledger.delivered >> index & 1
            return None if known else "it is the first copy here"
        rule = self._rules.get(row.reason or "")
        if rule is None:
            return "there is no such reason"
        why = rule(row, ledger, index)
        second = ledger.heeded.get(index, 0) >= 2 and ledger.outcomes.get(index)
        if why is None and row.reason != "foreign" and second:
            return "the first copy has its outcome already, a second is `duplicate`"
        return why

    def _too_late(self, row: Row, ledger: Ledger, index: int) -> str | None:
        due_us = self.history.messages[index].due_us(ledger.receiver.role)
        if due_us is None:
            return "it has no deadline"
        if ledger.in_time_at(index, row.at_us):
            return f"at {ms(row.at_us)} it is in time (deadline {ms(due_us)}, guard {ms(ledger.guard_us)})"
        return None

    def _superseded(self, row: Row, ledger: Ledger, index: int) -> str | None:
        return None if ledger.past >> index & 1 else "no successor of it has been delivered or published here"

    def _overflow(self, row: Row, ledger: Ledger, index: int) -> str | None:
        return None if ledger.here >> index & 1 else "it never arrived here since it joined"

    def _shed(self, row: Row, ledger: Ledger, index: int) -> str | None:
        """What a broker has no more room for, for one of its clients: it must have had it."""
        client = self.receivers.get(row.peer or "")
        if client is not None and client.role != "subscriber":
            return f"{row.peer} is no client"
        return (
            None if ledger.delivered >> index & 1 else f"it was not delivered here, so it did not wait for {row.peer}"
        )

    def _foreign(self, row: Row, ledger: Ledger, index: int) -> str | None:
        if self._no_concern(ledger, index) or ledger.may_ignore(index):
            return None
        return "a filter matches it and it does not lie behind the cut"

    def _no_concern(self, ledger: Ledger, index: int) -> bool:
        """No filter matches, or it lies behind a cut, or it is its own."""
        return not ledger.owed >> index & 1 or bool(ledger.behind >> index & 1)

    def in_doubt(self, row: Row, ledger: Ledger, index: int) -> str | None:
        """What holds only if the copy was of an attachment that is over, which no row can tell."""
        if row.reason != "foreign" or self._no_concern(ledger, index) or not ledger.may_ignore(index):
            return None
        if ledger.attached(ledger.last_from[index]):
            return "which holds only of a copy of an attachment that is over"
        return None

    def _gone(self, row: Row, ledger: Ledger, index: int) -> str | None:
        if not ledger.in_time_at(index, row.at_us) or not ledger.owed >> index & 1:
            return None  # expired by now, or not for this process: nobody owes it
        holder = self.holders.serving(index, time_of(row), row.process)
        return None if holder is None else f"{holder} still holds it"

    def cut(self, row: Row, ledger: Ledger) -> str | None:
        """At `join`: what the peer, or we, or an earlier life of ours delivered, published or discarded, or learned as
        past. At `move`: our past.

        Of unordered messages only those that are named: a sender's earlier ones are hidden with them, had or not.
        """
        behind = self.history.closure(row.cut or ())
        allowed = ledger.delivered | ledger.past
        for mine in self.receivers[row.process].rows[: row.step]:
            if mine.kind == "join":
                allowed |= self.history.closure(mine.cut or ())
        peer = self.receivers.get(row.peer) if row.peer is not None else None
        named = 0
        for name in row.cut or ():
            index = self.history.index.get(name)
            if index is not None:
                named |= 1 << index
            elif self.history.let_go(name) is None:
                return self._unknown(name)
        if row.kind == "join":
            allowed |= ledger.discarded & ~ledger.gone  # what it called gone has not been judged if it was not owed
            for other in [*([] if peer is None else [peer]), *self._earlier_lives(row.process)]:
                allowed |= self._past_of(other, row)
        relevant = named
        for filter in filters_of(row):
            relevant |= self.history.matching(filter) & behind & ~self.history.unordered
        wrong = relevant & ~allowed
        if not wrong:
            return None
        name = self.history.messages[next(bits(wrong))].id
        if row.kind == "join":
            return f"{row.peer} had not delivered, published or discarded {name}, nor had {row.process} discarded it"
        return f"{name} is not in the past of what {row.process} delivered or published"

    def _unknown(self, name: str) -> str:
        """Why nothing can be said of a name in a cut."""
        stream = name.rpartition(":")[0]
        sender = stream.partition(COLLECTED)[0].rstrip("~")
        if sender and sender not in self.history.processes:
            self.unrecorded.add(sender)
            return f"the records of {sender} are not here, so nobody can say what {name} is"
        if stream.endswith(COLLECTED):
            return f"{sender} has not let go of so many messages ({name})"
        return f"nobody published {name}"

    def _earlier_lives(self, process: str) -> list[Receiver]:
        """Who comes back may begin where it was: what its earlier lives had lies behind it."""
        name, life = _life_of(process)
        return [
            one for one in self.receivers.values() if _life_of(one.name)[0] == name and _life_of(one.name)[1] < life
        ]

    def _past_of(self, peer: Receiver, row: Row) -> int:
        """All that lies behind `peer` at that instant; without a common clock: at its end."""
        mask = 0
        for theirs in peer.rows:
            if row.true_us is not None and theirs.true_us is not None and theirs.true_us > row.true_us:
                break
            if theirs.kind == "join":
                mask |= self.history.closure(theirs.cut or ())
            index = self.history.index.get(theirs.message) if theirs.message is not None else None
            if index is None:
                continue
            told = self.history.messages[index]
            if theirs.kind in ("deliver", "publish"):
                mask |= told.ancestors | told.bit
            elif theirs.kind == "discard" and theirs.reason not in ("duplicate", "foreign"):
                mask |= told.bit
        return mask
