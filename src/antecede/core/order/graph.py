"""Context graph with projected predecessors (001 s2.3; Peterson et al. 1989; PROTOCOLS s3.3, s3.7).

A broker keeps id -> (groups, predecessors). What it publishes follows the leaves of its graph and becomes the leaf.
Between brokers the message's own node travels with those of its ancestors that are not yet stable; to a subscriber only
its immediate predecessors *among what is addressed to it* travel, found by walking up through messages of other groups.
With deadlines something may be skipped, so the projection also names the newest predecessor of every sender: otherwise
a held message cannot be seen to precede another one through a missing third (trap 1).

A node may be forgotten once it and all its ancestors have expired, never before: an expired message still carries order
(H7). Where nothing expires, it may be forgotten once it and all its ancestors lie behind at every broker and at their
subscribers: a stable message that some subscriber lacks must still be named to it (trap 4). Nor at once then: a broker
that is about to join took over a graph before it, and is not in anybody's view yet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush

from antecede.core.frames import Node
from antecede.core.interest import Interest, stream_of
from antecede.core.marks import join, put
from antecede.core.message import Envelope, Mark, Message, Stamp, id_of_mark
from antecede.core.order.writer import Writer

__all__ = ["GraphWriter"]

SPARE = 16
"""So many expired streams may be named, and as many again as there are others, before they are dropped."""


class Entry:
    """A node in this broker's graph, with what was worked out from it."""

    __slots__ = ("dropped", "gone", "marks", "needs", "node", "order", "past", "preds", "stable_us", "tops", "until_us")

    def __init__(self, node: Node, order: int) -> None:
        self.node = node
        self.order = order
        self.preds: list[Entry] = []
        self.marks = tuple((stream_of(node[0], group), node[1]) for group in node[2])
        self.needs: dict[tuple[str, ...], tuple[Mark, ...]] = {}
        self.tops: dict[str, int] = {}
        self.until_us: int | None = node[4]
        self.stable_us: int | None = None
        self.gone = False
        self.past = False
        self.dropped = False


class GraphWriter(Writer):
    def __init__(
        self, name: str, interest: Interest, *, deadlines: bool, slack_us: int, grace_us: int, whole: bool = False
    ) -> None:
        super().__init__()
        self.name = name
        self.interest = interest
        self.whole = whole
        """Whether subscribers get the graph too, and read it with a Writer of their own (`psync`)."""
        self._whole: dict[str, Envelope] = {}
        """Messages as they went to subscribers, while they are the same for all."""
        self.deadlines = deadlines
        self.wants_stable = not deadlines
        """Whether what is stable must be found out. With deadlines nodes retire by themselves, unless there is one that
        has none, or follows such a one."""
        self.slack_us = slack_us
        self.grace_us = grace_us
        self.graph: dict[str, Entry] = {}
        self.leaves: dict[str, Entry] = {}
        self.rank = 0
        self.clock: dict[str, int] = {}
        """Marks of everything delivered here and before it."""
        self._last: Entry | None = None
        self._newest: dict[str, int] = {}
        """Per stream, the newest node that is kept (with deadlines): a stream without one has expired altogether."""
        self._expiry: list[tuple[int, int, str]] = []
        self._order = 0
        self._cut: Mapping[str, int] = {}

    def look_at(self, interest: Interest) -> None:
        """A subscriber that reads the graph itself has said what it wants."""
        self.interest = interest

    # -- writing ---------------------------------------------------------------------------------------------------

    def stamp(self, message: Message, after: Sequence[Stamp] | None) -> Stamp:
        if after is None:
            before = list(self.leaves.values())
        else:
            before = [stamp.extra for stamp in after if isinstance(stamp.extra, Entry)]
            if self._last is not None and self._last not in before:
                before.append(self._last)
        preds = tuple((entry.node[0], entry.node[1]) for entry in before)
        node = (message.sender, message.seq, message.topics, preds, message.deadline_us)
        entry = self._add(message.id, node)
        self._last = entry
        self.rank += 1
        self._become_leaf(message.id, entry)
        return self._local(entry, self.rank)

    def _become_leaf(self, message_id: str, entry: Entry) -> None:
        for sender, seq in entry.node[3]:
            self.leaves.pop(f"{sender}:{seq}", None)
        self.leaves[message_id] = entry
        self._note_past(entry)

    def _local(self, entry: Entry, rank: int) -> Stamp:
        return Stamp(entry.marks, self._needs(entry, self.interest), entry.tops, rank, entry)

    def _add(self, message_id: str, node: Node) -> Entry:
        self._order += 1
        entry = self.graph[message_id] = Entry(node, self._order)
        until = node[4]
        for sender, seq in node[3]:
            pred = self.graph.get(f"{sender}:{seq}")
            if pred is not None:
                entry.preds.append(pred)
                if until is not None:
                    until = None if pred.until_us is None else max(until, pred.until_us)
        entry.until_us = until
        if until is None:
            self.wants_stable = True
        if self.deadlines:
            entry.tops = self._alive(_merge(entry.preds))
            put(self._newest, entry.marks)
        if until is not None:
            heappush(self._expiry, (until + self.slack_us, self._order, message_id))
        return entry

    def _alive(self, tops: dict[str, int]) -> dict[str, int]:
        """Without streams of which all has expired: nobody holds or takes any of it, and senders come and go."""
        if len(tops) > 2 * len(self._newest) + SPARE:
            return {stream: n for stream, n in tops.items() if stream in self._newest}
        return tops

    # -- reading ---------------------------------------------------------------------------------------------------

    def arrived(self, envelope: Envelope) -> Envelope:
        """Take in the nodes that came along; work out what this broker must wait for."""
        nodes = envelope.stamp.extra
        if not isinstance(nodes, tuple):
            return envelope
        for node in self._unknown(nodes):
            self._add(f"{node[0]}:{node[1]}", node)
        entry = self.graph.get(envelope.message.id)
        if entry is None:
            return envelope
        return Envelope(envelope.message, self._local(entry, envelope.stamp.rank))

    def _unknown(self, nodes: tuple[Node, ...]) -> list[Node]:
        """The nodes that are not in the graph, causes first as they came. All that precedes a node that is in the graph
        came with that node: so only causes of unknown nodes are looked for, backwards from the message itself, which is
        last."""
        graph = self.graph
        found: list[Node] = []
        wanted = {nodes[-1][:2]} if nodes else set()
        for node in reversed(nodes):
            if node[:2] in wanted:
                wanted.discard(node[:2])
                if f"{node[0]}:{node[1]}" not in graph and not self._is_dropped(node):
                    found.append(node)
                    wanted.update([pred for pred in node[3] if f"{pred[0]}:{pred[1]}" not in graph])
                if not wanted:
                    break
        found.reverse()
        return found

    def _needs(self, entry: Entry, interest: Interest) -> tuple[Mark, ...]:
        """The nearest predecessors that are addressed to `interest`, each by all its marks there: a cut may put one
        behind that is still owed in another group."""
        key = interest.filters
        stack = [entry]
        while stack:
            one = stack[-1]
            if key in one.needs:
                stack.pop()
                continue
            named = [p for p in one.preds if not p.gone and interest.wants(p.node[2])]
            through = [p for p in one.preds if p not in named or (self._cut and self._cut_off(p, interest))]
            waiting = [p for p in through if key not in p.needs]
            if waiting:
                stack.extend(waiting)
                continue
            needs: dict[Mark, None] = {}
            for pred in one.preds:
                if pred in named:
                    needs.update((mark, None) for mark in pred.marks if interest.concerns(mark[0]))
                if pred in through:
                    needs.update(dict.fromkeys(pred.needs[key]))
            one.needs[key] = tuple(needs)
            stack.pop()
        return entry.needs[key]

    def learn(self, envelope: Envelope) -> None:
        entry = envelope.stamp.extra
        if isinstance(entry, Entry):
            self._become_leaf(envelope.message.id, entry)
        if envelope.stamp.rank > self.rank:
            self.rank = envelope.stamp.rank

    # -- for others ------------------------------------------------------------------------------------------------

    def relay(self, envelope: Envelope) -> Envelope:
        """As it travels between brokers: its node and those ancestors that are not yet stable, causes first."""
        entry = envelope.stamp.extra
        if not isinstance(entry, Entry):
            return envelope
        found = {entry.order: entry}
        stack = [entry]
        while stack:
            for pred in stack.pop().preds:
                if pred.order not in found and not pred.dropped:
                    found[pred.order] = pred
                    stack.append(pred)
        nodes = tuple(found[order].node for order in sorted(found))
        return Envelope(envelope.message, Stamp(entry.marks, (), {}, envelope.stamp.rank, nodes))

    def bare(self, envelope: Envelope) -> Envelope:
        """With its own node only: where the whole graph comes along."""
        entry = envelope.stamp.extra
        if not isinstance(entry, Entry):
            return envelope
        return Envelope(envelope.message, Stamp(entry.marks, (), {}, envelope.stamp.rank, (entry.node,)))

    def nodes(self) -> tuple[Node, ...]:
        return tuple(entry.node for entry in self.graph.values())

    def known(self, mark: Mark) -> Stamp | None:
        """What a message that never came would have needed, where its node is known."""
        entry = self.graph.get(id_of_mark(mark))
        return None if entry is None else self._local(entry, 0)

    def past(self) -> Mapping[str, int]:
        return self.clock

    def _note_past(self, entry: Entry) -> None:
        """A message was delivered or published: it and all before it are past. (What a held one came with is not.)"""
        stack = [entry]
        while stack:
            one = stack.pop()
            if not one.past:
                one.past = True
                stack.extend(one.preds)
                put(self.clock, one.marks)

    def start_at(self, cut: Mapping[str, int]) -> None:
        """Of a group that lost everything this much lies behind; in other groups its ancestors may still be owed."""
        self._cut = cut

    def _cut_off(self, entry: Entry, interest: Interest) -> bool:
        """Whether a message lies behind the cut of this broker: to name it is then not enough, since a process that
        began behind that cut waits neither for it nor for what precedes it."""
        return all(n <= self._cut.get(stream, 0) for stream, n in entry.marks if interest.concerns(stream))

    def gave_up(self, mark: Mark) -> None:
        """A message will never come: from now on predecessors are looked for behind it."""
        entry = self.graph.get(id_of_mark(mark))
        if entry is not None:
            entry.gone = True
            for other in self.graph.values():
                other.needs.clear()

    def adopt(self, nodes: Sequence[Node], dropped: Mapping[str, int]) -> None:
        """Take in whole graphs, perhaps of several brokers: predecessors before what follows them."""
        join(self.dropped, dropped)
        new = {f"{node[0]}:{node[1]}": node for node in nodes if f"{node[0]}:{node[1]}" not in self.graph}
        stack, entered = list(reversed(new)), set[str]()
        while stack:
            message_id = stack[-1]
            if message_id in self.graph:
                stack.pop()
                continue
            before = [f"{sender}:{seq}" for sender, seq in new[message_id][3]]
            missing = [one for one in before if one in new and one not in self.graph and one not in entered]
            entered.add(message_id)  # a circle, which nobody honest makes, ends here
            if missing:
                stack.extend(missing)
            else:
                self._add(message_id, new[message_id])
                stack.pop()

    def project(self, envelope: Envelope, interest: Interest) -> Envelope:
        entry = envelope.stamp.extra
        if not isinstance(entry, Entry):
            return envelope
        if self.whole:
            message_id = envelope.message.id
            if message_id not in self._whole:
                self._whole[message_id] = self.relay(envelope)
            return self._whole[message_id]
        needs = self._needs(entry, interest)
        if self.deadlines:  # what has expired everywhere, with all before it, is waited for by nobody
            needs = tuple(mark for mark in needs if id_of_mark(mark) in self.graph)
        return Envelope(envelope.message, Stamp(entry.marks, needs, interest.among(entry.tops), envelope.stamp.rank))

    # -- forgetting ------------------------------------------------------------------------------------------------

    def heard(self, stable: Mapping[str, int]) -> None:
        join(self.stable, stable)

    def expire(self, now_us: int) -> None:
        """Let go of nodes that have expired: stamps made from now on need not name what nobody can deliver any more."""
        expiry = self._expiry
        while expiry and expiry[0][0] < now_us:
            message_id = heappop(expiry)[2]
            entry = self.graph.get(message_id)
            if entry is not None:
                self._retire(message_id, entry)

    def forget(self, now_us: int) -> None:
        self.expire(now_us)
        if not self.wants_stable:
            return
        stable = self.stable
        for message_id, entry in list(self.graph.items()):
            if entry.stable_us is None:
                if entry.gone or all(n <= stable.get(stream, 0) for stream, n in entry.marks):
                    entry.stable_us = now_us
            elif now_us < entry.stable_us + self.grace_us:
                continue
            elif all(p.dropped for p in entry.preds):
                self._retire(message_id, entry)
                join(self.dropped, dict(entry.marks))
                self._whole.clear()

    def _is_dropped(self, node: Node) -> bool:
        """Whether it comes from a broker that has not forgotten it yet: if it were taken in, it would travel again."""
        dropped = self.dropped
        return bool(dropped) and all(node[1] <= dropped.get(stream_of(node[0], group), 0) for group in node[2])

    def _retire(self, message_id: str, entry: Entry) -> None:
        """Forget a node: nobody will ever wait for its message again, nor for what precedes it."""
        del self.graph[message_id]
        self.leaves.pop(message_id, None)
        entry.dropped = True
        entry.preds = []
        for stream, n in entry.marks:
            if self._newest.get(stream) == n:
                del self._newest[stream]


def _merge(preds: Sequence[Entry]) -> dict[str, int]:
    """Newest ancestor per stream: what the predecessors cover, and they themselves. Concurrent ones share most of what
    they cover: one of them is copied, and from the others only those ancestors are looked at that it does not cover."""
    if not preds:
        return {}
    if len(preds) == 1:
        return {**preds[0].tops, **dict(preds[0].marks)}
    largest = max(preds, key=_breadth)
    base = {**largest.tops, **dict(largest.marks)}
    tops = base.copy()
    seen = set(preds)
    stack = [entry for entry in preds if entry is not largest]
    while stack:
        entry = stack.pop()
        news = False
        for stream, n in entry.marks:
            if n > base.get(stream, 0):
                news = True
                if n > tops.get(stream, 0):
                    tops[stream] = n
        if news:
            stack += [pred for pred in entry.preds if pred not in seen]
            seen.update(entry.preds)
    return tops


def _breadth(entry: Entry) -> int:
    return len(entry.tops)
