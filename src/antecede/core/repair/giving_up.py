"""Messages that cannot be had any more (PROTOCOLS s3.1, s3.6): who says so, whom to ask then, and when to give up.

A message with a deadline waits for its causes until then. One without would wait for ever for a cause that is gone: so
whoever is asked for that cause says that it is gone there, once its sender has left or once everybody had it and it was
let go of. When all processes that could have the cause have said so, and `grace_us` has passed, the cause is given up:
no message waits without a bound. Example: S holds q:2, which needs p:1; p crashed before anybody had p:1. Brokers A and
B say that p:1 is gone there; S gives p:1 up and delivers q:2.

The rule, in the order in which it is gone through. The example goes on: now p:3 is addressed to G1 and G2, and p:1 and
p:2 may be too. S holds q:2, which names p:3 in G1, and r:1, which names p:3 in G2. p crashed with all it had sent.

1. Each process that says that p:3 is gone in G1 is noted (`_lacked_by`), once p has been away for `grace_us`; if p is
   in view, once somebody has said so for `grace_us`. A broker whose client p still sends p:3 does neither (`home`): it
   waits, and does not say that p:3 is gone, so the others wait too.
2. All that could have p:3 in G1 must have said so. Whoever gets it after all is struck out (`has`).
3. In a sparse stream nobody knows which messages of p stand before p:3 in G1 (`_unknown_before`: p:1 and p:2). Requests
   for p:3 ask for them as well. Those that are asked for by themselves must come or go first.
4. p:3 may be had in another stream still (`_lacked_elsewhere`). Until that is known p:3 and what goes with it are
   *doomed*: whoever lacks them counts without a further grace. S asks for all of p that held messages name, up
   to p:3: so for p:3 in G2. If somebody has p:3 there, it comes, and nothing is given up.
5. When everybody lacks p:3 in G2 too, p:3 is given up, and of p:1 and p:2 what has not come (`_give_up`), each in all
   its streams at once (`_let_go`). From then on they are *lost*: a message that names one of them in a third stream
   does not wait for it (`missing`).

Where no process is left that could have p:3, `orphaned` begins at step 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from antecede.core.effects import Discard
from antecede.core.frames import Gone
from antecede.core.message import Mark, Stamp, id_of_mark, series_of
from antecede.core.order.reader import AHEAD
from antecede.core.repair.asking import TRIES_UNTIMED, Want

if TYPE_CHECKING:
    from antecede.core.roles.receiver import Receiver

__all__ = ["Losses"]


class Losses:
    def __init__(self, receiver: Receiver) -> None:
        self.receiver = receiver
        self.inbox, self.reader, self.wants = receiver.inbox, receiver.reader, receiver.wants
        self.writer = receiver.writer
        self._lacks: dict[Mark, set[str]] = {}
        """Processes that have said that a message is gone there."""
        self._lost: set[str] = set()
        """The messages that were given up: in one stream, and so in all."""
        self._heard_us: dict[Mark, int] = {}
        """When a process first said that a message is gone there, although its sender is in view."""
        self._doomed: set[str] = set()
        """Messages that everybody lacks in one stream: they are given up when nothing more may come before them."""
        self._named: dict[str, dict[Mark, None]] | None = None
        """Per sender, what held messages name, while one frame is looked at."""

    # -- whom to ask -----------------------------------------------------------------------------------------------

    def ask_anew(self) -> None:
        """The view changed: a process that left may have passed on, before, what others said they lack."""
        self._lacks.clear()
        self._heard_us.clear()
        self._doomed.clear()

    def has(self, mark: Mark, peer: str) -> None:
        """A process that said that a message is gone there has got it after all."""
        if mark in self._lacks:
            self._lacks[mark].discard(peer)

    def whom_to_ask(self, mark: Mark, want: Want) -> Sequence[str]:
        """The processes to ask for a message, in turn: first the one that seems to have it (perhaps a relay in none of
        its groups), and none that has said that it is gone there."""
        receiver, hint = self.receiver, want.hint
        sources = receiver.sources(mark)
        if hint in sources:
            first = sources.index(hint)
            sources = [*sources[first:], *sources[:first]]
        elif want.tries < TRIES_UNTIMED and receiver.may_ask(hint):
            sources = [hint, *sources]
        if not sources and want.tries < 8 * TRIES_UNTIMED:  # somebody may have it by another of its groups
            sources = receiver.others_to_ask()
        lacking = self._lacks.get(mark, ())
        return [source for source in sources if source not in lacking] or sources

    def missing(self, stamp: Stamp) -> list[Mark]:
        """What to ask for. Messages that were given up are passed in streams, too, in which nobody had named them."""
        reader = self.reader
        missing = reader.missing(stamp)
        while lost := [mark for mark in missing if id_of_mark(mark) in self._lost] if self._lost else []:
            for mark in lost:
                reader.give_up((mark,), None)
            missing = reader.missing(stamp)
        return missing

    # -- giving up -------------------------------------------------------------------------------------------------

    def on_gone(self, frame: Gone, sender: str, now_us: int) -> None:
        receiver = self.receiver
        for envelope in frame.headers:
            deadline = envelope.message.deadline_us
            if deadline is not None and now_us > deadline:
                receiver.skip_expired(receiver.arrived(envelope), sender, now_us)
        for stream, _, n in frame.lacks:
            if receiver.reads_only and (stream, n) not in self.wants.wants:
                self._lacks.setdefault((stream, n), set()).add(sender)
        for stream, _, n in frame.lacks:
            self._lacked_by((stream, n), sender, now_us)
        self._named = None
        receiver.want_blocked(sender, now_us)

    def _lacked_by(self, mark: Mark, peer: str, now_us: int) -> None:
        """Give a message up once its sender has left, or a process has said that it is gone, for `grace_us`, and every
        process that could have it lacks it."""
        receiver = self.receiver
        want = self.wants.get(mark)
        if want is None or not want.endless or not self.reader.lacks(mark):
            return
        left = receiver.absent_since(mark, want.since_us)
        if left is None:
            left = self._heard_us.setdefault(mark, now_us)
        if now_us < left + receiver.settings.grace_us and id_of_mark(mark) not in self._doomed:
            return
        if receiver.is_being_sent(mark, now_us):
            return
        lacking = self._lacks.setdefault(mark, set())
        if peer not in lacking:
            lacking.add(peer)
            self.wants.hurry(mark, now_us)
        sources = receiver.sources(mark)
        if not sources or not all(source in lacking for source in sources):
            return  # where there are none it is `orphaned`
        if any(earlier in self.wants.wants for earlier in self._unknown_before(mark)):
            return  # they come or go first
        if self._lacked_elsewhere(mark, peer, now_us):
            self._give_up(mark, now_us)

    def _lacked_elsewhere(self, mark: Mark, hint: str, now_us: int) -> bool:
        """Whether a message that is gone in one stream is gone in the others too. In each stream other messages of its
        sender may stand before it, of which nothing is known; they go with it. So all that is missing of its sender is
        asked for first: if something stands there, it has come then."""
        if self.reader.by_itself(mark[0]) or self.writer.known(mark) is not None:
            return True
        self._doomed.update(map(id_of_mark, (*self._unknown_before(mark), mark)))
        over = True
        for named in self._named_of(series_of(mark[0])):
            one = (named[0], min(named[1], mark[1]))  # what comes after it does not go with it
            if one[0] == mark[0] or not self.reader.lacks(one) or id_of_mark(one) in self._lost:
                continue
            if not self._everybody_lacks(named) and not self._everybody_lacks(one):
                self.wants.want(one, hint, None, now_us, patience_us=0)
                over = False
        return over

    def _everybody_lacks(self, mark: Mark) -> bool:
        """And so what may stand before it, in a sparse stream: all of that was asked for with it."""
        return self._lacks.get(mark, set()).issuperset(self.receiver.sources(mark))

    def _named_of(self, series: str) -> Iterable[Mark]:
        """What held messages name of one sender. Those that are delivered meanwhile name nothing that is missing."""
        if self._named is None:
            self._named = {}
            concerns = self.receiver.interest.concerns
            for stamp in [envelope.stamp for envelope in self.inbox.envelopes()]:
                for mark in (*stamp.needs, *stamp.covers.items()):
                    if concerns(mark[0]):
                        self._named.setdefault(series_of(mark[0]), {})[mark] = None
        return self._named.get(series, ())

    def orphaned(self, mark: Mark, now_us: int) -> int | None:
        """No process is left to ask for a message: when to look again; None: not at all."""
        receiver = self.receiver
        want = self.wants.wants[mark]
        left = receiver.absent_since(mark, want.since_us)
        if left is None or not want.endless:
            return None  # whoever comes into view makes it wanted again
        if now_us < left + receiver.settings.grace_us:
            return left + receiver.settings.grace_us
        over, self._named = self._lacked_elsewhere(mark, want.hint, now_us), None
        if not over:
            return now_us + receiver.settings.retry_us
        self._give_up(mark, now_us)
        return None

    def _give_up(self, mark: Mark, now_us: int) -> None:
        receiver = self.receiver
        overtaken = self._overtaken(series_of(mark[0]))
        for one in (*self._unknown_before(mark), mark):
            self._let_go(one, self.writer.known(one), claim=one == mark or one[1] > overtaken)
        self.writer.gave_up(mark)
        self.inbox.deliver_ready(now_us)
        receiver.want_blocked(None, now_us)

    def _overtaken(self, series: str) -> int:
        """The number up to which a sender's messages may have been overtaken here, at a deadline, in one of their
        groups. Of those nobody knows whether they went to another group and are lost, or another process has them."""
        if not self.receiver.settings.deadlines:
            return 0
        front = self.reader.front
        return max((n for stream, n in front.items() if series_of(stream) == series), default=0)

    def _unknown_before(self, mark: Mark) -> list[Mark]:
        """Of a message of which nothing is known nobody can say which of its sender's came before it to its group,
        unless every number stands for one. All were asked for with it, for at least `grace_us`; those that did not
        come, and are not asked for on their own account, are as lost as it is."""
        receiver = self.receiver
        stream, n = mark
        if self.reader.by_itself(stream) or self.writer.known(mark) is not None:
            return []  # they are asked for by themselves
        before = [(stream, k) for k in range(max(self.reader.upto(stream), n - AHEAD) + 1, n)]
        if receiver.reads_only:  # its brokers have passed all of that: they say which of it cannot be had
            sources = set(receiver.sources(mark))
            before = [m for m in before if sources <= self._lacks.get(m, set())]
        return [m for m in before if self.reader.lacks(m) and id_of_mark(m) not in self.inbox.seen]

    def _let_go(self, mark: Mark, known: Stamp | None, *, claim: bool) -> None:
        """All of its marks at once: a message is in several streams, and one mark left would hold its successors."""
        receiver = self.receiver
        message_id = id_of_mark(mark)
        marks = {mark: None}
        marks.update((want, None) for want in self.wants.wants if id_of_mark(want) == message_id)
        if known is not None:
            marks.update(dict.fromkeys(known.own))
        for one in marks:
            self.wants.drop(one)
            self._lacks.pop(one, None)
            self._heard_us.pop(one, None)
        if claim and not receiver.passed_by_others() and message_id not in self._lost:
            receiver.say(Discard(message_id, "gone"))
        self._lost.add(message_id)
        self._doomed.discard(message_id)
        self.reader.give_up(tuple(marks), known)

    # -- what was given up -----------------------------------------------------------------------------------------

    def settled(self, streams: Mapping[str, int]) -> None:
        """Streams are settled up to these marks: nobody asks any more which of their messages were given up."""
        self.reader.settled(streams)
        self._lost = set(map(id_of_mark, self.reader.given_up))
