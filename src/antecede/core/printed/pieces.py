"""Parts with one repair missing: each is the repaired part but for one thing, as the paper's text has it.

Decided here: what exactly is taken away. Which repair that is, and where the part goes, is said in `undone`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antecede.core.frames import Data, Frame, Node, Request
from antecede.core.interest import Interest, group_of
from antecede.core.message import Envelope, Mark, Stamp, sender_of
from antecede.core.order.graph import Entry, GraphWriter
from antecede.core.order.matrix import MatrixWriter
from antecede.core.order.rounds import RoundsWriter
from antecede.core.order.vector import VectorWriter
from antecede.core.printed.colour import integer_of
from antecede.core.repair.answering import Answers
from antecede.core.repair.asking import Solicitation, Want
from antecede.core.repair.store import Store
from antecede.core.roles.member import Member

__all__ = [
    "BelowAnswers", "CarelessRounds", "EdgelessGraph", "ForgetfulVector", "GaplessVector", "ImmediateGraph",
    "LateMatrix", "NearGraph", "OneAsk", "OthersStore", "OwnColour", "TrustingMember", "WaitingGraph",
]  # fmt: skip


def _but_of(sender: str, needs: Sequence[Mark]) -> tuple[Mark, ...]:
    return tuple(mark for mark in needs if sender_of(mark[0]) != sender)


# -- asking and answering (000, 002, 003) ------------------------------------------------------------------------------


class BelowAnswers(Answers):
    """SOLICIT-RECV: `<` the upper vector, not up to it."""

    def on_request(self, frame: Request, sender: str, now_us: int) -> None:
        below = tuple((stream, low, high - 1) for stream, low, high in frame.ranges if high - 1 > low)
        super().on_request(Request(below, frame.lasting), sender, now_us)


class TrustingMember(Member):
    """RPY-RECV: every message of an answer is delivered."""

    def on_frame(self, frame: Frame, sender: str, now_us: int) -> None:
        if not (isinstance(frame, Data) and frame.answer):
            super().on_frame(frame, sender, now_us)
            return
        for envelope in frame.envelopes:
            held = self.inbox.held.get(envelope.message.id)
            if held is not None:
                self.inbox._remove(held)
            self.inbox.seen[envelope.message.id] = now_us
            self.inbox._deliver(self.arrived(envelope), "causes", now_us)
        self.inbox.deliver_ready(now_us)


class OneAsk(Solicitation):
    """Whoever sent what needs it is asked, once."""

    def _hopeless(self, want: Want, now_us: int) -> bool:
        return want.tries > 0 or super()._hopeless(want, now_us)


class OthersStore(Store):
    """DLVD_Q: what was delivered, not what was sent."""

    own = ""

    def add(self, envelope: Envelope) -> None:
        if envelope.message.sender != self.own:
            super().add(envelope)


# -- vectors (000, 002, 003) -------------------------------------------------------------------------------------------


class GaplessVector(VectorWriter):
    """A sender's entry is only compared as newer: its earlier messages are not waited for."""

    def arrived(self, envelope: Envelope) -> Envelope:
        stamp = envelope.stamp
        needs = _but_of(envelope.message.sender, stamp.needs)
        return Envelope(envelope.message, Stamp(stamp.own, needs, stamp.covers, stamp.rank, stamp.extra))


class ForgetfulVector(VectorWriter):
    """Vectors of groups one is not in are not merged."""

    mine: Interest

    def _take_in(self, stamp: Stamp) -> None:
        concerns = self.mine.concerns
        needs = tuple(mark for mark in stamp.needs if concerns(mark[0]))
        covers = {stream: n for stream, n in stamp.covers.items() if concerns(stream)}
        super()._take_in(Stamp(stamp.own, needs, covers, stamp.rank, stamp.extra))


# -- the graph (001 s2.3) ----------------------------------------------------------------------------------------------


class WaitingGraph(GraphWriter):
    """A broker waits for all that precedes a message, whatever groups it is for."""

    def _local(self, entry: Entry, rank: int) -> Stamp:
        everything = dict.fromkeys(mark for pred in entry.preds for mark in pred.marks)
        return Stamp(entry.marks, tuple(everything), entry.tops, rank, entry)


class ImmediateGraph(GraphWriter):
    """To a subscriber go the immediate predecessors that are for it, not what stands behind the others."""

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        entry, projected = envelope.stamp.extra, super().project(envelope, interest)
        if isinstance(entry, Entry):
            near = {mark for pred in entry.preds if interest.wants(pred.node[2]) for mark in pred.marks}
            projected.stamp.needs = tuple(mark for mark in projected.stamp.needs if mark in near)
        return projected


class NearGraph(GraphWriter):
    """... and only those, with deadlines too: not the newest of each sender."""

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        projected = super().project(envelope, interest)
        if isinstance(envelope.stamp.extra, Entry):
            projected.stamp.covers = {}
        return projected


class EdgelessGraph(GraphWriter):
    """A node goes with its message's deadline, and its edges with it."""

    def _add(self, message_id: str, node: Node) -> Entry:
        entry = super()._add(message_id, node)
        if node[4] is not None:
            self._expiry = [one for one in self._expiry if one[2] != message_id]
            self._expiry.append((node[4] + self.slack_us, entry.order, message_id))
            self._expiry.sort()
        return entry


# -- rounds and colours (001 s2.2, 004) --------------------------------------------------------------------------------


class CarelessRounds(RoundsWriter):
    """A message may be of the round of something its sender has delivered."""

    def learn(self, envelope: Envelope) -> None:
        VectorWriter.learn(self, envelope)


class LateMatrix(MatrixWriter):
    """MB2 before MB3: a message carries the matrix in which it is itself."""

    def _local(self, own: tuple[Mark, ...], covers: Mapping[str, int], round: int) -> Stamp:
        stamp = super()._local(own, covers, round)
        stamp.needs = (*stamp.needs, *(mark for mark in own if group_of(mark[0]) == self.place))
        return stamp


class OwnColour(MatrixWriter):
    """MS2, MS3: the colour that travels is the message's own, not its predecessor's."""

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        projected = super().project(envelope, interest)
        projected.stamp.rank = integer_of(envelope.message.seq, self.clock.colours)
        return projected
