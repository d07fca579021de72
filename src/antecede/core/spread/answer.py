"""Answering requests, and giving up (PROTOCOLS s3.1, s3.6): what is sent, what is said to be gone, what is let go of.

An answer holds what was asked for and is kept or held here, is wanted by the asker and still in time; there are no
empty answers. For what expired its header is sent, so that nobody waits for it. Where there are no deadlines and a
message can no longer come from its sender, or was let go of because everybody had it, it is said that it cannot be had
here; after `grace_us`, when everybody who could have it lacks it, it is given up: nothing waits without a bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from antecede.core.effects import Answer, Discard, Send
from antecede.core.frames import Data, Gone, Ranges, Request
from antecede.core.message import LOOSE, Envelope, Mark, Stamp, header_of, id_of_mark
from antecede.core.spread.solicit import TRIES_UNTIMED, Want

if TYPE_CHECKING:
    from antecede.core.tier import Tier

__all__ = ["BATCH", "Answers", "in_time"]

BATCH = 32
"""Messages per answering frame: fits a datagram with small payloads, and losing one frame costs little."""


def in_time(envelope: Envelope, now_us: int) -> bool:
    deadline = envelope.message.deadline_us
    return deadline is None or now_us <= deadline


class Answers:
    __slots__ = ("_given_up", "_heard_us", "_lacks", "_lost", "tier")

    def __init__(self, tier: Tier) -> None:
        self.tier = tier
        self._lacks: dict[Mark, set[str]] = {}
        self._given_up: set[Mark] = set()
        self._lost: set[str] = set()
        """The messages those marks mean: given up in one stream, a message is lost in all."""
        self._heard_us: dict[Mark, int] = {}
        """When somebody first said that a mark cannot be had there, although its sender is in view."""

    def ask_anew(self) -> None:
        """The view changed: whoever left may have passed on, before, what others said they lack."""
        self._lacks.clear()
        self._heard_us.clear()

    def has(self, mark: Mark, peer: str) -> None:
        """It got it after all."""
        if mark in self._lacks:
            self._lacks[mark].discard(peer)

    def whom_to_ask(self, mark: Mark, want: Want) -> Sequence[str]:
        """Whoever seems to have it first (perhaps a relay that is in none of its groups), then the others in turn, but
        nobody who has said that it cannot be had there."""
        tier, hint = self.tier, want.hint
        sources = tier.sources(mark)
        if hint in sources:
            first = sources.index(hint)
            sources = [*sources[first:], *sources[:first]]
        elif want.tries < TRIES_UNTIMED and hint in tier.members and tier.interest_of(hint) is not None:
            sources = [hint, *sources]
        if not sources and want.tries < 8 * TRIES_UNTIMED:  # somebody may have it by another of its groups
            sources = [peer for peer in tier.peers() if peer in tier.members and not tier.serves(peer)]
        lacking = self._lacks.get(mark, ())
        return [source for source in sources if source not in lacking] or sources

    def settled(self, streams: Mapping[str, int]) -> None:
        """Of what everybody has, nobody asks any more which of it was given up."""
        self._given_up = {mark for mark in self._given_up if mark[1] > streams.get(mark[0], 0)}
        self._lost = set(map(id_of_mark, self._given_up))

    def on_request(self, frame: Request, sender: str, now_us: int) -> None:
        tier = self.tier
        interest = tier.interest_of(sender)
        if interest is None:
            return
        ranges = tier.ranges_from(sender, frame.ranges)
        found = [e for e in tier.store.find(ranges) if in_time(e, now_us) and interest.wants(e.message.topics)]
        found += [e for e in self._held_within(ranges) if interest.wants(e.message.topics)]
        for start in range(0, len(found), BATCH):
            batch = tuple(tier.answer_for(e, sender) for e in found[start : start + BATCH])
            tier.out.append(Answer(sender, tuple(e.message.id for e in batch)))
            tier.out.append(Send((sender,), Data(batch, answer=True)))
        headers = [e for e in tier.store.find(ranges) if not in_time(e, now_us)]
        headers += tier.store.find_headers(ranges)
        gone = tuple(tier.answer_for(e, sender) for e in headers if interest.wants(e.message.topics))
        lacks = self._lacked(ranges, sender, now_us)
        if gone or lacks:
            tier.out.append(Send((sender,), Gone(tuple(map(header_of, gone)), lacks)))

    def _held_within(self, ranges: Ranges) -> list[Envelope]:
        tier = self.tier
        if not tier.inbox.held:
            return []
        wanted = {
            (stream, n) for stream, low, high in ranges for n in tier.inbox.marks.get(stream, ()) if low < n <= high
        }
        if not wanted:
            return []
        return [h.envelope for h in tier.inbox.held.values() if any(mark in wanted for mark in h.envelope.stamp.own)]

    def _lacked(self, ranges: Ranges, peer: str, now_us: int) -> Ranges:
        """Of senders that left, and of what settled: what cannot be had here, so that nobody waits for it for ever.

        To a peer: what is not here. To the tier below, which has nobody else to ask: what will never be, because this
        process gave it up, let it go or began behind it.
        """
        tier = self.tier
        if tier.settings.deadlines:
            return ()  # deadlines bound every wait
        lacks = []
        for stream, low, high in ranges:
            settled = tier.stability.settled.get(stream, 0)
            for n in range(low + 1 if tier.reader.dense and LOOSE not in stream else high, high + 1):
                if n <= settled or tier.absent_since((stream, n), now_us) is not None:
                    never = n <= max(settled, tier.reader.cut.get(stream, 0)) or self._is_over((stream, n))
                    if not self._is_here((stream, n)) and (never or not tier.serves(peer)):
                        if tier.serves(peer) and LOOSE not in stream:
                            lacks += [(stream, k - 1, k) for k in range(low + 1, n) if self._is_past((stream, k))]
                        lacks.append((stream, n - 1, n))
        return tuple(lacks)

    def _is_past(self, mark: Mark) -> bool:
        """Neither here nor waited for."""
        message_id = id_of_mark(mark)
        return not self._is_here(mark) and all(id_of_mark(one) != message_id for one in self.tier.wants.wants)

    def _is_here(self, mark: Mark) -> bool:
        """The message, by whatever group: not every number of its sender stands for one in this group."""
        message_id = id_of_mark(mark)
        return message_id in self.tier.store.by_id or message_id in self.tier.inbox.held

    def _is_over(self, mark: Mark) -> bool:
        """It was given up here, and nothing that is known to precede it is waited for any more: whoever is told so
        passes all of that with it."""
        known = self._known(mark)
        return mark in self._given_up and (known is None or self.tier.reader.blocker(known) is None)

    def _known(self, mark: Mark) -> Stamp | None:
        """What is known of a message that is not here."""
        return None if self.tier.writer is None else self.tier.writer.known(mark)

    def on_gone(self, frame: Gone, sender: str, now_us: int) -> None:
        tier = self.tier
        for envelope in frame.headers:
            deadline = envelope.message.deadline_us
            if deadline is not None and now_us > deadline:
                tier.skip_expired(tier.arrived(envelope), now_us)
        for stream, _, n in frame.lacks:
            if tier.writer is None and (stream, n) not in tier.wants.wants:
                self._lacks.setdefault((stream, n), set()).add(sender)
        for stream, _, n in frame.lacks:
            self._lacked_by((stream, n), sender, now_us)
        tier.want_blocked(sender, now_us)

    def _lacked_by(self, mark: Mark, peer: str, now_us: int) -> None:
        """Give a mark up once its sender has been gone, or it was said to be, for `grace_us`, and everybody who could
        have it lacks it."""
        tier = self.tier
        want = tier.wants.wants.get(mark)
        if want is None or tier.settings.deadlines or not tier.is_missing(mark):
            return
        left = tier.absent_since(mark, want.since_us)
        if left is None:
            left = self._heard_us.setdefault(mark, now_us)
        if now_us < left + tier.settings.grace_us:
            return
        lacking = self._lacks.setdefault(mark, set())
        if peer not in lacking:
            lacking.add(peer)
            tier.wants.hurry(mark, now_us)
        sources = tier.sources(mark)
        if not sources or not all(source in lacking for source in sources):
            return  # where there are none it is `orphaned`
        if all(earlier not in tier.wants.wants for earlier in self._unknown_before(mark)):  # they come or go first
            self._give_up(mark, now_us)

    def _give_up(self, mark: Mark, now_us: int) -> None:
        tier = self.tier
        for one in (*self._unknown_before(mark), mark):
            self._let_go(one, self._known(one))
        if tier.writer is not None:
            tier.writer.gave_up(mark)
        tier.inbox.settle(now_us)
        tier.want_blocked(None, now_us)

    def _let_go(self, mark: Mark, known: Stamp | None) -> None:
        """All of its marks at once: a message is in several streams, and one mark left would hold its successors."""
        tier = self.tier
        message_id = id_of_mark(mark)
        marks = {mark: None}
        for held in tier.inbox.held.values():
            marks.update((need, None) for need in held.envelope.stamp.needs if id_of_mark(need) == message_id)
        marks.update((want, None) for want in tier.wants.wants if id_of_mark(want) == message_id)
        if known is not None:
            marks.update(dict.fromkeys(known.own))
        for one in marks:
            tier.wants.drop(one)
            self._lacks.pop(one, None)
            self._heard_us.pop(one, None)
            self._given_up.add(one)
        self._lost.add(message_id)
        tier.out.append(Discard(message_id, "gone"))
        tier.reader.skipped(tuple(marks), known)

    def missing(self, stamp: Stamp) -> list[Mark]:
        """What to ask for. Messages that were given up are passed in streams, too, in which nobody had named them."""
        reader = self.tier.reader
        missing = reader.missing(stamp)
        while lost := [mark for mark in missing if id_of_mark(mark) in self._lost] if self._lost else []:
            for mark in lost:
                self._given_up.add(mark)
                reader.skipped((mark,), None)
            missing = reader.missing(stamp)
        return missing

    def _unknown_before(self, mark: Mark) -> list[Mark]:
        """Of a message of which nothing is known nobody can say which of its sender's came before it to its group.

        All were asked for with it, for at least `grace_us`; those that did not come are as lost as it is.
        """
        tier = self.tier
        stream, n = mark
        if LOOSE in stream or tier.reader.dense or self._known(mark) is not None:
            return []  # they are asked for by themselves
        before = [(stream, k) for k in range(tier.reader.front.get(stream, 0) + 1, n)]
        if tier.writer is None:  # its brokers have passed all of that: they say which of it cannot be had
            before = [m for m in before if set(tier.sources(mark)) <= self._lacks.get(m, set())]
        return [m for m in before if tier.is_missing(m) and id_of_mark(m) not in tier.inbox.seen]

    def orphaned(self, mark: Mark, now_us: int) -> int | None:
        """Nobody is left to ask: when to look again; None: not at all."""
        tier = self.tier
        want = tier.wants.wants[mark]
        left = tier.absent_since(mark, want.since_us)
        if left is None or tier.settings.deadlines or not want.backed:
            return None  # whoever comes into view makes it wanted again
        if now_us < left + tier.settings.grace_us:
            return left + tier.settings.grace_us
        self._give_up(mark, now_us)
        return None
