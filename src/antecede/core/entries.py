"""How topics fall into groups: each is its own, or the entries of the cluster's table are the groups.

Streams, carriers and stamps are named by groups. Where each topic is a group, they grow with the topics; where a table
is given (filter -> the brokers that carry it, the same everywhere), they are named by its *entries*, and a million
topics cost them nothing. Decided here, for both:

- a topic falls under every entry that matches it, and under none it cannot be published;
- a broker is concerned with exactly the entries it carries. By overlap it would wait for marks of entries that share
  topics with its own, and never get them;
- a client's filters meet every entry with which they share a topic;
- a broker carries a filter if one entry that it carries covers it: only then does it get all that the filter matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from antecede.core.interest import Interest, Remembered, stream_of
from antecede.core.membership.news import split_name
from antecede.core.message import Envelope
from antecede.core.names import MAX_TOPIC, short
from antecede.core.topics import EVERYTHING, covers, is_filter, matches, overlaps, split_filter
from antecede.core.where import parse_where
from antecede.errors import InputError, RemoteProtocolError

__all__ = ["EACH", "REPLIES", "Entries", "Groups", "Interests", "with_replies"]

REPLIES = "$reply/#"
"""Where clients get replies to what they ask."""

INTERESTS = 1024
"""Filters of peers that are remembered with what they match. Raising it costs memory; lowering it, where many come and
go, the time to match anew."""


class Groups:
    """Each topic is a group of its own, and carried by whoever names it."""

    def of(self, topics: tuple[str, ...]) -> tuple[str, ...]:
        """The groups under which a message with these topics falls."""
        return topics

    def filters(self, groups: Iterable[str]) -> tuple[str, ...]:
        """What groups match, for the record."""
        return tuple(groups)

    def meets(self, filter: str, group: str) -> bool:
        """Whether a message of this group may match the filter."""
        return matches(filter, group)

    def carrying(self, brokers: Mapping[str, tuple[str, ...]], filters: Sequence[str]) -> list[str]:
        """The brokers (with the groups of each) that carry all of `filters`: every group anywhere that one of them
        matches, and some for each."""
        groups = dict.fromkeys(group for carried in brokers.values() for group in carried)
        wanted = [group for group in groups if any(matches(f, group) for f in filters)]
        return [
            name
            for name, carried in brokers.items()
            if all(group in carried for group in wanted) and all(any(matches(f, g) for g in carried) for f in filters)
        ]

    def carried(self, groups: tuple[str, ...]) -> Interest:
        """What a broker is concerned with that carries these groups."""
        return Interest(groups)

    def wanted(self, filters: tuple[str, ...]) -> Interest:
        """What a client is concerned with that wants these filters."""
        return Interest(filters)

    def check_topics(self, topics: tuple[str, ...]) -> None:
        """Refuse topics that cannot be published to here."""

    def check_filters(self, filters: Sequence[str]) -> None:
        """Refuse what no single broker could ever serve."""

    def everywhere(self, filters: Sequence[str]) -> bool:
        """Whether every broker carries these, whichever there will be."""
        return False

    def check_own(self, envelope: Envelope) -> None:
        """Refuse a publication whose streams are not those of its topics (its sender has another table), or that has
        another number there than its own."""


EACH = Groups()
"""Every topic is a group of its own: where nothing else is said."""


class Entries(Groups):
    """The entries of a table. Their names are numbers, by the order of their filters: so they are short on the wire,
    and the same however a table was written down.

    >>> table = Entries({"room/#": ("A", "B"), "+/door": ("C",), "$SYS/#": ()})
    >>> table.of(("room/door",)), table.of(("room/7/door",)), table.of(("hall",))
    (('1', '2'), ('2',), ())
    >>> table.carried_by("A"), table.carried_by("C.2"), table.filters(("1", "2"))
    (('0', '2'), ('0', '1'), ('+/door', 'room/#'))
    """

    def __init__(self, table: Mapping[str, Sequence[str]] | None = None) -> None:
        """`table`: filter -> the brokers that carry it; none named: all of them. No table: one entry for every topic,
        which all brokers carry."""
        if table is None:
            table = {EVERYTHING: ()}
        if not table:
            raise InputError("A table without entries carries nothing: leave it out, or name a filter and its brokers.")
        for filter in table:
            _check_filter(filter)
        self.table = {filter: tuple(dict.fromkeys(table[filter])) for filter in sorted(table)}
        """The entries in an order that is the same at every process."""
        self._filters = {str(place): filter for place, filter in enumerate(self.table)}
        self._groups: Callable[[tuple[str, ...]], tuple[str, ...]] = Remembered(
            self._work_out, about_topics=True
        ).__getitem__

    def of(self, topics: tuple[str, ...]) -> tuple[str, ...]:
        return self._groups(topics)

    def _work_out(self, topics: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name for name, filter in self._filters.items() if any(matches(filter, topic) for topic in topics))

    def filters(self, groups: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._filters[group] for group in groups)

    def meets(self, filter: str, group: str) -> bool:
        return group in self._filters and overlaps(filter, self._filters[group])

    def carried_by(self, broker: str) -> tuple[str, ...]:
        """The entries that a broker carries, whatever its incarnation."""
        name = split_name(broker)[0]
        carriers = self.table.values()
        return tuple(
            entry for entry, brokers in zip(self._filters, carriers, strict=True) if not brokers or name in brokers
        )

    def carrying(self, brokers: Mapping[str, tuple[str, ...]], filters: Sequence[str]) -> list[str]:
        """The brokers that carry all of `filters`: each is covered by an entry that the broker carries."""
        return [name for name, carried in brokers.items() if self._serves(carried, filters)]

    def _serves(self, carried: Iterable[str], filters: Sequence[str]) -> bool:
        wide = [self._filters[entry] for entry in carried if entry in self._filters]
        return all(any(covers(one, filter) for one in wide) for filter in filters)

    def carried(self, groups: tuple[str, ...]) -> Interest:
        return Carried(self, groups)

    def wanted(self, filters: tuple[str, ...]) -> Interest:
        return Meeting(self, filters)

    def check_topics(self, topics: tuple[str, ...]) -> None:
        for topic in topics:
            if "+" in topic or "#" in topic:
                raise InputError(f"{short(topic)} is a filter: a message has a topic without + or #.")
            if not self.of((topic,)):
                raise InputError(
                    f"No entry of the cluster's table matches {short(topic)}: publish to another topic, or add "
                    "an entry at every broker."
                )

    def check_filters(self, filters: Sequence[str]) -> None:
        for filter in filters:
            topics, where = split_filter(filter) if isinstance(filter, str) else (filter, None)
            _check_filter(topics)
            if where is not None:
                parse_where(where)
        named = dict.fromkeys(name for brokers in self.table.values() for name in brokers)
        carried = [self.carried_by(name) for name in ("", *named)]  # "": a broker that no entry names
        if any(self._serves(entries, filters) for entries in carried):
            return
        for filter in filters:
            if not any(self._serves(entries, (filter,)) for entries in carried):
                raise InputError(
                    f"No entry of the cluster's table covers {short(filter)}: subscribe to less, or widen an entry."
                )
        raise InputError(
            f"No broker carries all of {', '.join(map(short, filters))}: subscribe with fewer filters, or let one "
            "broker carry them all."
        )

    def everywhere(self, filters: Sequence[str]) -> bool:
        return self._serves(self.carried_by(""), filters)

    def check_own(self, envelope: Envelope) -> None:
        message = envelope.message
        groups = self.of(message.topics)
        if [stream for stream, _ in envelope.stamp.own] != [stream_of(message.series, group) for group in groups]:
            raise RemoteProtocolError(f"{message.id} is marked by another table of entries than ours")
        if any(n != message.seq for _, n in envelope.stamp.own):
            raise RemoteProtocolError(f"{message.id} is marked as another message of its sender")


def with_replies(table: Mapping[str, Sequence[str]] | None) -> Mapping[str, Sequence[str]] | None:
    """A table by which every broker carries replies, unless an entry says who does: a client could ask nothing where no
    broker carries both its own filters and the replies to it.

    >>> with_replies({"room/#": ["A"]})
    {'room/#': ['A'], '$reply/#': ()}
    >>> with_replies({"$#": ["A"]}), with_replies(None)
    ({'$#': ['A']}, None)
    """
    if not table or any(covers(filter, REPLIES) for filter in table):
        return table
    return {**table, REPLIES: ()}


class Carried(Interest):
    """A broker's: what falls under the entries it carries."""

    __slots__ = ("entries",)

    def __init__(self, entries: Entries, groups: tuple[str, ...]) -> None:
        super().__init__(groups)
        self.entries = entries
        self.key = ("@", *self.filters)

    def concerns_group(self, group: str) -> bool:
        return group in self.filters

    def _wants(self, topics: tuple[str, ...]) -> bool:
        return any(group in self.filters for group in self.entries.of(topics))


class Meeting(Interest):
    """A client's: what its filters match, and every entry that they meet."""

    __slots__ = ("entries",)

    def __init__(self, entries: Entries, filters: tuple[str, ...]) -> None:
        super().__init__(filters)
        self.entries = entries

    def concerns_group(self, group: str) -> bool:
        return any(self.entries.meets(filter, group) for filter in self.filters)


class Interests:
    """Of peers, remembered: they remember themselves what they match."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._known: dict[tuple[bool, tuple[str, ...]], Interest] = {}

    def known(self, filters: tuple[str, ...], *, carried: bool) -> Interest:
        """`carried`: of a broker, by the groups that it carries."""
        key = (carried, filters)
        interest = self._known.get(key)
        if interest is None:
            if len(self._known) >= INTERESTS:
                self._known.clear()
            interest = self._groups.carried(filters) if carried else self._groups.wanted(filters)
            self._known[key] = interest
        return interest


def _check_filter(filter: str) -> None:
    if not isinstance(filter, str) or not is_filter(filter) or len(filter) > MAX_TOPIC or "\0" in filter:
        raise InputError(
            f"{short(filter)} is no filter: write it like room/1, room/+ or room/#, each wildcard a level by itself."
        )
