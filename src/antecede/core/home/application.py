"""A client of `home` as its application sees it: queues it reads at its own pace, and a frontier to go on from.

Decided here: what a queue changes for the rest of the client. What waits in one has come (it is acknowledged, and no
home sends it again), but it is not in the client's past before it is handed over. What is decided about the queues
themselves is in `handover.py`. A driver adds this to the loop of `core/machine.py`; a client without a queue delivers
each message as soon as it is ready, and nothing here has an effect:

    app = client.application
    app.resume(frontier)            before all else: it is a later life of the client whose frontier this was
    app.open(queue, filters, size=, policy=, own=)         then client.subscribe(all filters of all queues, at, now_us)
    app.ready(queue)                how many messages may be handed over now
    messages, effects = app.hand_over(queue, limit, now_us)         they are delivered: each is a Deliver effect, which
                                    is its row; carry out the effects, then give them to the application
    app.stop(queue)                 nothing more is let in; then client.subscribe(the filters of the others, at, now_us)
    app.close(queue, now_us)        then client.subscribe(the filters that are left, at, now_us)
    app.frontier()                  what was handed over, as a small value to save (`wire.save`)

`Dropped` effects are the fates of one queue, `Discard` effects those of the client; both may come with any call of the
client. Its `wake` finds what turned late in a queue. What no queue wants is a Deliver effect at once, as without
queues: so a driver may take some topics itself. Give the client a guard that exceeds the bound of its clock
(`Settings.guard_us`, `clock_bound_us`) by what the application needs to come and take: what its logical deadline forces
out is put into its queue when the guard begins, and is late when only the bound of the clock is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from antecede.core.effects import Effect
from antecede.core.home.frontier import Frontier, begin_at
from antecede.core.home.handover import Handover, as_published
from antecede.core.marks import Marks, beyond, cut_of, join, loose_of, newest_of, ordered_of, put, waited_for
from antecede.core.message import Envelope, Message, Publication, id_of_mark
from antecede.core.order.unordered import LooseReader

if TYPE_CHECKING:
    from antecede.core.home.client import Client

__all__ = ["Application"]


class Application:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.upper, self.heard, self.causes, self.missed = client.upper, client.heard, client.causes, client.missed
        self.handover = Handover(self)
        self.had: LooseReader | None = None
        """Which unordered messages were handed over; None: there is no queue, and never was."""
        self._resumed: dict[str, int] = {}
        """What its earlier life had, the newest of each sender, until a publication of this one has said so."""

    # -- for the driver --------------------------------------------------------------------------------------------

    def open(self, queue: str, filters: Sequence[str], *, size: int, policy: str, own: bool = False) -> None:
        """From now on what matches `filters` waits in this queue until it is taken, at most `size` messages; `policy`:
        what happens when it is full (`queue.POLICIES`); `own`: also what this client publishes itself."""
        self.handover.open(queue, filters, size, policy, own)
        if self.had is None:
            self.had = LooseReader()
            self.had.take_over(self.heard.unordered())

    def stop(self, queue: str) -> None:
        """A queue lets nothing in from now on; what waits there can still be taken, after its filters are given up."""
        self.handover.stop(queue)

    def close(self, queue: str, now_us: int) -> list[Effect]:
        self.handover.close(queue, now_us)
        return self._made_room(now_us)

    def ready(self, queue: str) -> int:
        return self.handover.ready(queue)

    def hand_over(self, queue: str, limit: int, now_us: int) -> tuple[list[Message], list[Effect]]:
        blocks = self.handover.blocks
        messages = self.handover.take(queue, limit, now_us)
        return messages, self._made_room(now_us) if blocks else self.client.flush(now_us)

    def _made_room(self, now_us: int) -> list[Effect]:
        """A queue may have room again: then the home hears what the client has acknowledged."""
        self.client.acknowledge_some(now_us)
        return self.client.flush(now_us)

    def frontier(self) -> Frontier:
        """What was handed over or published, for a later life of this client to begin after."""
        client = self.client
        had = self.heard if self.had is None else self.had
        marks = dict(self.upper.past())
        began = beyond(client.start_marks, marks)
        return Frontier(client.name, marks, dict(began), had.unordered(), self.upper.rank)

    def resume(self, frontier: Frontier) -> None:
        """Begin where an earlier life of this client was: nothing of that is sent again, and all it publishes follows.
        Its filters begin where it subscribes: whatever its home holds beyond the frontier is owed."""
        frontier.check(self.client.name)
        self.client.begin_behind(frontier.began)
        self.heard.take_over(frontier.loose)
        begin_at(self.upper, frontier)
        self._resumed = newest_of(frontier.marks)
        loose = {stream: max((front, *dict(beyond))) for stream, (front, beyond) in frontier.loose.items()}
        self.causes.forgotten = newest_of({**frontier.marks, **loose})

    # -- for the client --------------------------------------------------------------------------------------------

    def extend(self, frontier: dict[str, int], *, attaching: bool) -> None:
        """What waits is not to be sent again, although it is not in the client's past. A new home is told of the newest
        one by one (`waiting`): what goes before them may still come, if they are never taken."""
        waiting = self.handover.carried()[1] if attaching else self.handover.waiting()
        for stamp in waited_for(one.envelope.stamp for one in waiting):
            join(frontier, stamp.covers)
            put(frontier, stamp.own)

    def retire(self, marks: Marks) -> None:
        """Unordered messages of streams that are over everywhere: nobody need remember that they came."""
        for heard in (self.heard, self.had):
            if heard is not None:
                heard.forget([s for s, n in loose_of(marks).items() if (heard.newest(s) or 0) <= n])

    def waiting(self) -> tuple[str, ...]:
        return tuple(one.envelope.message.id for one in self.handover.carried()[0])

    def put_back(self, envelope: Envelope, now_us: int) -> bool:
        """Whether a message that comes after its logical deadline still gets into a queue. The deadline has forced out
        a message that follows it; if the application has not taken that one yet, this one takes its place before it.
        Without queues the other one is delivered already."""
        original = as_published(envelope)
        past = self.upper.past() if self.handover.queues else None
        if past is None or any(n <= past.get(stream, 0) for stream, n in original.stamp.own):
            return False
        self.handover.put_before(original, envelope.stamp.own[0][1], now_us)
        return True

    def declared(self, publication: Publication) -> tuple[str, ...] | None:
        """The causes of a publication that names none, for the record. They are all that was delivered, which rows of
        this life tell; the first publication tells the rest."""
        if not self._resumed or publication.order != "causal":
            return None
        past, self._resumed = {**self._resumed}, {}
        join(past, ordered_of(self.client.tops))
        return cut_of(past)

    # -- for the queues --------------------------------------------------------------------------------------------

    def missing(self, envelope: Envelope, reason: str) -> tuple[str, ...]:
        """Why, in ids: what a message was forced out without, or waited for until it was late; or what went out before
        one that is superseded. Of others' topics in the same group it cannot be told whether they are wanted."""
        client, stamp = self.client, envelope.stamp
        if reason == "superseded":
            return self.causes.recent_after(stamp)
        past, began = self.upper.past(), client.start_marks
        marks = [(s, n) for s, n in stamp.needs if n > max(past.get(s, 0), began.get(s, 0))]
        return tuple(dict.fromkeys(id_of_mark(mark) for mark in marks if client.may_want(mark[0])))

    def admitted(self, envelope: Envelope) -> None:
        """A message has entered its queues: it need not be sent again."""
        if envelope.message.order == "none":
            self.heard.delivered(envelope.stamp, forced=False)

    def delivered(self, envelope: Envelope, now_us: int) -> None:
        """A message was handed over: its Deliver effect comes right before this."""
        if self.had is not None and envelope.message.order == "none":
            self.had.delivered(envelope.stamp, forced=False)
        self.client.delivered(envelope, now_us)

    def dropped(self, envelope: Envelope, now_us: int) -> None:
        """A message was dropped without having been delivered, or was held until it was late."""
        if envelope.message.order != "none":
            self.missed.note(envelope.message.id, now_us)
