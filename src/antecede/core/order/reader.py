"""The Reader's end of every Order with marks: what lies behind, what blocks a message, what precedes what.

Everything a stamp says is in marks (stream, n); this file decides what they mean. For each stream `front` says that all
messages up to n lie behind; `above` holds single marks above it. A message lies behind because it was delivered,
because a delivered message names it as a cause, or because it was *skipped*: late on arrival, expired, gone. A skip
puts one mark behind and nothing else: not the message's causes, not its sender's earlier messages. A message that needs
a skipped one therefore needs what the skipped one needed (H7), and this is why stamps of skipped messages are kept.

Dense streams count without holes (vectors), so reaching n means all below. Sparse streams name only messages addressed
to the reader (the context graph), so a mark stands for itself. Loose streams (`unordered.py`) have no order at all: a
mark lies behind by itself, and `front` reaches it once the messages before it, which each of them names, lie behind
too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from antecede.core.message import Envelope, Mark, Stamp, id_of_mark, is_loose
from antecede.core.order.past import UNKNOWN, Past, Unordered

__all__ = ["AHEAD", "Reader", "everything"]

AHEAD = 4096
"""Numbers that one frame makes a process look at one by one, and one more for each stream or range it names: a frame
that names far ones must not keep others waiting. The rest comes when these have. Raising it costs time per frame;
lowering it, after a long absence, requests."""


def everything(stream: str) -> bool:
    """Every stream concerns a reader of one stream: a function with a name, so that a reader can be saved."""
    return True


class Reader(Past):
    def __init__(self, concerns: Callable[[str], bool], *, dense: bool) -> None:
        super().__init__(concerns, dense=dense)
        self.watched: dict[str, dict[int, list[Any]]] = {}
        self.freed: list[Any] = []
        """The watchers of marks that now lie behind, in the order in which they began to watch."""

    def look_at(self, concerns: Callable[[str], bool]) -> None:
        """Only streams that concern the process count, in everything below."""
        self._concerns = concerns

    def arrived(self, envelope: Envelope) -> Envelope:
        """A stamp as it came from a broker; most say what they mean."""
        return envelope

    # -- what lies behind ------------------------------------------------------------------------------------------

    def stale(self, stamp: Stamp) -> bool:
        """Whether a message lies behind already, by its mark in any one of the streams that concern this process.

        A cut may be of one group only: a message that it cuts off there may still be owed in another group.
        """
        cut_off = owed = False
        for stream, n in stamp.own:
            if self._concerns(stream):
                if not self.behind(stream, n):
                    owed = True
                elif n > self.cut.get(stream, 0):
                    return True
                else:
                    cut_off = True
        return cut_off and not owed

    def cut_off(self, stamp: Stamp) -> bool:
        """Behind the cut at which this reader began."""
        cut = self.cut
        return bool(cut) and any(n <= cut.get(stream, 0) for stream, n in stamp.own)

    def precedes(self, a: Stamp, b: Stamp) -> bool:
        covers = b.covers
        for stream, n in a.own:
            if n <= covers.get(stream, 0) and self._concerns(stream):
                return True
        return False

    # -- what blocks -----------------------------------------------------------------------------------------------

    def missing(self, stamp: Stamp) -> list[Mark]:
        """What to ask for, each mark once: the marks that block, one for each message; where streams have no holes all
        that is missing before the message (000, 002: one solicitation brings every predecessor)."""
        if not self.dense:
            return self._missing_messages(stamp)
        marks: dict[Mark, None] = {}
        for one in (stamp, *self._skipped_by(stamp)) if self.skips else (stamp,):
            for stream, n in (*one.needs, *one.covers.items()):
                reached = self.front.get(stream, 0)
                if n > reached and self._concerns(stream):
                    above = self.above.get(stream, ())
                    for k in range(reached + 1, min(n, reached + max(AHEAD - len(marks), 1)) + 1):
                        if k not in above:
                            marks[(stream, k)] = None
        return list(marks)

    def _missing_messages(self, stamp: Stamp) -> list[Mark]:
        marks: dict[str, Mark] = {}
        for one in (stamp, *self._skipped_by(stamp)) if self.skips else (stamp,):
            for mark in one.needs:
                stream, n = mark
                if not self.behind(stream, n) and self._concerns(stream):
                    marks.setdefault(id_of_mark(mark), mark)
        return list(marks.values())

    def _sure(self, stamp: Stamp) -> bool:
        """Whether all that this message needs lies behind by delivery: then so does all it covers."""
        if self.skips or self.cut:
            for stream, n in stamp.needs:
                here = self.skips.get(stream)
                if (here and n in here) or n <= self.cut.get(stream, 0):
                    return False
        return True

    # -- what moves ------------------------------------------------------------------------------------------------

    def delivered(self, stamp: Stamp, *, forced: bool) -> None:
        """`stamp`'s message and all it covers lie behind. Where all its needs were delivered, `covers` is behind
        already; it is looked at where one was skipped, lies before the cut, or is missing at a deadline (`forced`).
        Example: q:1 needs p:2 and covers p:1 and p:2. p:2 came after p:1; where p:2 was skipped, p:1 may be missing."""
        if is_loose(stamp.own[0][0]):
            self._put_loose(stamp.own, stamp.covers)
            return
        if forced or not self._sure(stamp):
            for stream, n in stamp.covers.items():
                if n > self.front.get(stream, 0) and self._concerns(stream):
                    self._advance(stream, n)
        front = self.front
        for stream, n in stamp.own:
            if n > front.get(stream, 0) and self._concerns(stream):
                self._advance(stream, n)
            elif self.cut and stream in self.watched:
                self._free(stream, n, n)

    def skipped(self, own: tuple[Mark, ...], stamp: Stamp | None) -> None:
        """The marks of one message, and nothing else, lie behind. `stamp` is what messages that need it need instead;
        None: that is not known."""
        if is_loose(own[0][0]):
            self._put_loose(own, {} if stamp is None else stamp.covers)
            return
        if stamp is None:
            stamp = UNKNOWN
        elif self.blocker(stamp) is None:
            stamp = None  # nothing is missing before it, and nothing ever will be
        for stream, n in own:
            if n <= self.front.get(stream, 0) or not self._concerns(stream):
                continue
            self.skips.setdefault(stream, {})[n] = stamp
            self.above.setdefault(stream, set()).add(n)
            self._free(stream, n, n)
            self._compact(stream)

    def give_up(self, own: tuple[Mark, ...], stamp: Stamp | None) -> None:
        """The marks of one message are skipped, since nobody in reach can supply it any more."""
        self.given_up.update(own)
        self.skipped(own, stamp)

    def settled(self, streams: Mapping[str, int]) -> None:
        """Streams are settled up to these marks: nobody asks any more which of their messages were given up."""
        self.given_up = {mark for mark in self.given_up if mark[1] > streams.get(mark[0], 0)}

    def _put_loose(self, own: tuple[Mark, ...], before: Mapping[str, int]) -> None:
        for stream, n in own:
            front = self.front.get(stream, 0)
            if n <= front or not self._concerns(stream):
                continue
            above, named = self.above.setdefault(stream, set()), self._before.setdefault(stream, {})
            above.add(n)
            named[n] = before.get(stream, 0)
            self._reach(stream, front)

    def _reach(self, stream: str, front: int) -> None:
        """All of a loose stream up to `front` lies behind; then so do numbers above it that form a chain with it."""
        above, named = self.above.get(stream, set()), self._before.get(stream, {})
        while True:
            for k in [k for k in named if k <= front]:
                del named[k]
                above.discard(k)
            reached = [k for k, one in named.items() if one <= front]
            if not reached:
                break
            front = max(reached)
        self.front[stream] = front
        if not above and stream in self.above:
            del self.above[stream], self._before[stream]

    def offered(self, stream: str, n: int) -> Sequence[int]:
        """The numbers to look at when a peer has n: in a dense stream all up to n; in a loose one also those that
        messages here name as the one before them."""
        if is_loose(stream):
            return sorted({n, *self._before.get(stream, {}).values()})
        front = self.front.get(stream, 0)
        return range(front + 1, min(n, front + AHEAD) + 1) if self.dense else (n,)

    def start_at(self, cut: Mapping[str, int]) -> None:
        """All messages up to a cut lie behind: a newcomer begins there."""
        for stream, n in cut.items():
            if self._concerns(stream) and n > self.front.get(stream, 0):
                self.cut[stream] = n
                self._pass_to(stream, n)

    def retire(self, marks: Mapping[str, int]) -> None:
        """Streams are over everywhere, up to these marks: a message of theirs that never came here never will."""
        for stream, n in marks.items():
            if n > self.front.get(stream, 0) and self._concerns(stream):
                self._pass_to(stream, n)

    def _pass_to(self, stream: str, n: int) -> None:
        """All of a stream up to n lies behind, whether it came or not."""
        if is_loose(stream):
            self._reach(stream, n)
        else:
            self._advance(stream, n)

    def forget(self, streams: Iterable[str]) -> None:
        """Nothing is known of these streams any more."""
        for stream in streams:
            for known in (self.front, self.above, self.skips, self._before, self.cut):
                known.pop(stream, None)

    def take_over(self, unordered: Unordered) -> None:
        for stream, (front, beyond) in unordered.items():
            self.front[stream] = front
            if beyond:
                self.above[stream], self._before[stream] = {n for n, _ in beyond}, dict(beyond)

    def _advance(self, stream: str, n: int) -> None:
        before = self.front.get(stream, 0)
        self.front[stream] = n
        here = self.skips.get(stream)
        if here:
            for k in [k for k in here if k <= n]:
                del here[k]
            if not here:
                del self.skips[stream]
        above = self.above.get(stream)
        if above:
            above.difference_update([k for k in above if k <= n])
            self._compact(stream)
        if stream in self.watched:
            self._free(stream, before + 1, self.front[stream])

    def _compact(self, stream: str) -> None:
        above = self.above[stream]
        n = self.front.get(stream, 0)
        while n + 1 in above:
            n += 1
            above.discard(n)
        self.front[stream] = n
        if not above:
            del self.above[stream]

    # -- who waits for what ----------------------------------------------------------------------------------------

    def watch(self, mark: Mark, token: Any) -> None:
        self.watched.setdefault(mark[0], {}).setdefault(mark[1], []).append(token)

    def _free(self, stream: str, low: int, high: int) -> None:
        here = self.watched.get(stream)
        if not here:
            return
        if high - low < len(here):  # usually one mark of the many that are waited for
            numbers = [n for n in range(low, high + 1) if n in here]
        else:
            numbers = sorted(n for n in here if low <= n <= high)
        for n in numbers:
            self.freed.extend(here.pop(n))
        if not here:
            del self.watched[stream]
