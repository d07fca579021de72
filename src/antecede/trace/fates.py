"""What became of every pair: exactly one fate each; and the two verdicts on pairs, stuck and undelivered.

Decided in this file: the order of the fates (the first that applies), when a deadline counts as passed (at the end of
a quiet run nothing more can come, so every deadline does), and that `lost` needs evidence: a `gone` row, or that
nobody who survived holds the message or something it must wait for. What fits nothing is `unexplained`, a finding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from antecede.trace.history import History, Told, bits
from antecede.trace.holders import Holders
from antecede.trace.ledger import Ledger
from antecede.trace.pairs import Receiver
from antecede.trace.report import FATES, Finding, Report

__all__ = ["Fates"]


class Fates:
    def __init__(
        self,
        history: History,
        receivers: dict[str, Receiver],
        ledgers: dict[str, Ledger],
        holders: Holders,
        skew_us: int,
    ) -> None:
        self.history = history
        self.receivers = receivers
        self.ledgers = ledgers
        self.holders = holders
        self.skew_us = skew_us
        self.quiet = all(r.end is not None and r.end.reason == "quiet" for r in receivers.values() if r.correct)
        """Nothing in flight and nothing to send, anywhere."""

    def judge(self, report: Report) -> None:
        """Count every pair under its fate; report what is stuck or undelivered."""
        for receiver in self.receivers.values():
            ledger = self.ledgers[receiver.name]
            by_role = report.fates_by_role.setdefault(receiver.role, dict.fromkeys(FATES, 0))
            delivered = receiver.pairs & ledger.delivered
            counts = {"delivered": delivered.bit_count()}
            for index in bits(receiver.pairs & ~delivered):
                told = self.history.messages[index]
                fate = self._fate(receiver, ledger, told)
                finding = self._stuck(receiver, ledger, told) or self._undelivered(receiver, told, fate)
                if finding is None and fate is None:
                    finding = self._finding("unexplained", receiver, told, "has no fate: no rule accounts for it")
                if finding is not None:
                    report.findings.append(finding)
                report.left_out.append((told.id, receiver.name, fate or "pending"))
                counts[fate or "pending"] = counts.get(fate or "pending", 0) + 1
            for fate, count in counts.items():
                report.fates[fate] += count
                by_role[fate] += count
            report.pairs += receiver.pairs.bit_count()
            if receiver.tail_unknown:
                report.unknown_tails.append(receiver.name)

    def _finding(self, verdict: str, receiver: Receiver, told: Told, text: str, step: int | None = None) -> Finding:
        return Finding(verdict, receiver.name, told.id, None, step, f"{told.id} {text}")

    # --- fates ---------------------------------------------------------------------------------------------------

    def _fate(self, receiver: Receiver, ledger: Ledger, told: Told) -> str | None:
        """The first that applies, `delivered` excepted; None where none does."""
        rules: tuple[tuple[str, Callable[[Receiver, Ledger, Told], bool]], ...] = (
            ("superseded", self._is_superseded),
            ("late", self._is_late),
            ("overflow", lambda r, b, m: bool((b.overflowed | b.shed) & m.bit)),
            ("expired", self._is_expired),
            ("departed", lambda r, b, m: not r.standing & m.bit),
            ("pending", self._is_pending),
            ("lost", self._is_lost),
        )
        return next((fate for fate, applies in rules if applies(receiver, ledger, told)), None)

    def _final_us(self, receiver: Receiver, told: Told) -> float:
        """The last instant, by the receiver's clock, at which it could still have got the message."""
        if not receiver.standing & told.bit:
            return receiver.ended_at_us(told.bit)
        return math.inf if self.quiet else receiver.rows[-1].at_us

    def _passed(self, receiver: Receiver, ledger: Ledger, told: Told) -> bool:
        due_us = told.due_us(receiver.role)
        return due_us is not None and self._final_us(receiver, told) > due_us - ledger.guard_us

    def _is_superseded(self, receiver: Receiver, ledger: Ledger, told: Told) -> bool:
        """It came in time or never, and a successor was out: here, or at a home broker that owed it and had it not."""
        if ledger.came & told.bit and not ledger.in_time & told.bit:
            return False
        if (ledger.overflowed | ledger.shed | ledger.outlasted | ledger.moved_away) & told.bit:
            return False  # it was here, or at its broker, and would have been delivered
        if not receiver.standing & told.bit:
            return bool(ledger.past_when_left & told.bit)  # what came out after it had left is not to blame
        return bool(ledger.past & told.bit) or self._superseded_at_home(receiver, told)

    def _superseded_at_home(self, receiver: Receiver, told: Told) -> bool:
        """A broker of this subscriber owed it, had it not, and a successor was out there."""
        for peer in receiver.homes(told.bit) if receiver.role == "subscriber" else ():
            theirs = self.ledgers.get(peer)
            if theirs is not None and theirs.past & ~theirs.delivered & self.receivers[peer].ever & told.bit:
                return True
        return False

    def _is_late(self, receiver: Receiver, ledger: Ledger, told: Told) -> bool:
        """It came, but could not be handed over by its deadline; also: it was held when its client moved."""
        if not ledger.came & told.bit or ledger.overflowed & told.bit:
            return False
        if not ledger.in_time & told.bit:
            return True
        return self._passed(receiver, ledger, told) or bool(ledger.moved_away & told.bit and not receiver.tail_unknown)

    def _is_expired(self, receiver: Receiver, ledger: Ledger, told: Told) -> bool:
        """It never came, the deadline passed, and somebody held it until then; or holds it still, and got it late."""
        due_us = told.due_us(receiver.role)
        if due_us is None or ledger.came & told.bit or not self._passed(receiver, ledger, told):
            return False
        return self.holders.until(told.index, due_us, self.skew_us) or self.holders.surviving(told.index)

    def _is_pending(self, receiver: Receiver, ledger: Ledger, told: Told) -> bool:
        """The records end before quiescence, and before its deadline where it has one."""
        return receiver.tail_unknown or not (self.quiet or self._passed(receiver, ledger, told))

    def _is_lost(self, receiver: Receiver, ledger: Ledger, told: Told) -> bool:
        if ledger.gone & told.bit:
            return True
        if told.due_us(receiver.role) is None:
            return not self._obtainable(receiver, told)
        return not ledger.came & told.bit  # it never came, and `expired` found nobody who has it or had it to the last

    # --- verdicts on pairs ---------------------------------------------------------------------------------------

    def _stuck(self, receiver: Receiver, ledger: Ledger, told: Told) -> Finding | None:
        """Came in time at a correct receiver, no successor out by then, never delivered, and not by the doing of its
        application: that had no room for it, or left it in its queue for too long."""
        step = ledger.must.get(told.index)
        if step is None or not receiver.standing & told.bit or (ledger.overflowed | ledger.outlasted) & told.bit:
            return None
        settled = (ledger.past | ledger.discarded) & told.bit
        if receiver.tail_unknown and not settled:
            return None
        if not settled and not self._passed(receiver, ledger, told):
            return None  # still waiting, and rightly so
        text = f"arrived in time at step {step}, with no successor delivered by then, and was never delivered"
        return self._finding("stuck", receiver, told, text, step)

    def _undelivered(self, receiver: Receiver, told: Told, fate: str | None) -> Finding | None:
        if told.due_us(receiver.role) is not None or not self.quiet or not receiver.standing & told.bit:
            return None
        if fate in ("superseded", "overflow", "departed") or not self._obtainable(receiver, told):
            return None
        if fate == "late" and (self.ledgers[receiver.name].past & told.bit or self._superseded_at_home(receiver, told)):
            return None  # held when its client moved; one with a deadline that follows it went out here, or there
        if self.ledgers[receiver.name].gone & told.bit and not self.holders.served(told.index, receiver.name):
            return None  # it was let go of everywhere, and that was said here
        text = "was never delivered, although it and all that goes before it could be had"
        return self._finding("undelivered", receiver, told, text)

    def _obtainable(self, receiver: Receiver, told: Told) -> bool:
        """Whether a correct broker of this receiver (or itself, if it serves) could get it and all it waits for."""
        if receiver.role != "subscriber":
            return self._can_get(receiver.name, told)
        peers = self._homes_of(receiver.name)
        wanted = [told, *(self.history.messages[i] for i in bits(self._awaited(receiver, told)))]
        return all(any(self._can_get(peer, one) for peer in peers) for one in wanted)

    def _can_get(self, broker: str, told: Told) -> bool:
        """Whether it has it, or it is addressed to it and somebody who answers has it and all it waits for."""
        ledger = self.ledgers[broker]
        if ledger.delivered & told.bit:
            return True
        receiver = self.receivers[broker]
        if not receiver.ever >> told.index & 1:
            return False
        wanted = [told, *(self.history.messages[i] for i in bits(self._awaited(receiver, told)))]
        return all(self._within_reach(broker, one) for one in wanted)

    def _awaited(self, receiver: Receiver, told: Told) -> int:
        """Predecessors without a deadline that this receiver must still wait for."""
        ledger = self.ledgers[receiver.name]
        mask = told.ancestors & receiver.standing & ~ledger.delivered & ~ledger.past & ~ledger.discarded
        return sum(1 << i for i in bits(mask) if self.history.messages[i].due_us(receiver.role) is None)

    def _within_reach(self, broker: str, told: Told) -> bool:
        """Whether somebody in reach who answers has it; or nobody ever had it but its publisher, which is there to the
        end with a correct broker of its own in reach, and repeats until it is heard."""
        if self.holders.served(told.index, broker):
            return True
        if not self.receivers[told.publisher].correct or not self.holders.kept_to(told.index, told.publisher):
            return False
        end_us = self.holders.end_us
        return any(self.holders.in_reach(home, broker, end_us) for home in self._homes_of(told.publisher))

    def _homes_of(self, client: str) -> list[str]:
        """The correct brokers it is attached to at the end and not parted from."""
        known = [p for p in self.ledgers[client].peers if p in self.receivers and self.receivers[p].correct]
        return [p for p in known if not self.holders.apart(client, p)]
