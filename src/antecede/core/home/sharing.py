"""Which clients of a home broker share a channel: those with equal filters that are sent the same at the same time.

A channel (`order/channel.py`) does the work of a log once for all its clients. A client shares one as long as it is
sent exactly what the others are. It is *apart*, with a channel of its own,

    until it has acknowledged all it was sent: then nothing of what it was sent before matters any more
    where something was late at its last home: it is not sent that
    when it does not acknowledge             no more than WINDOW items may be on their way
    when it asks for something again         what it is told of causes must be what it was told before
    when it changes its filters              stored messages are replayed to it alone
    when it does not take a message          one of its marks lies where the client attached, or began
    when a message is the client's own       it is not sent to it; from then on it has fewer than others, for good

Example: Ann and Bob want `room/#` and share a channel. Ann's acknowledgements are lost: after 512 messages she is set
apart. They come through after all, she has acknowledged everything, and she shares again. Bob publishes to `room/7`: he
is apart until he attaches anew.

A client cannot tell whether it shares: that is the lemma, and `tests/core/home/test_sharing.py` compares with a broker
whose clients are all apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from antecede.core.content import Seen
from antecede.core.interest import Interest
from antecede.core.marks import join
from antecede.core.message import Envelope
from antecede.core.order.channel import Channel
from antecede.core.order.numbered import WINDOW, Log

__all__ = ["Sharing"]


class Audience:
    """The clients that share a channel."""

    __slots__ = ("acks", "began", "channel", "interest", "logs", "told")

    def __init__(self, interest: Interest, *, plain: bool) -> None:
        self.interest = interest
        self.channel = Channel(plain=plain)
        self.logs: dict[str, Log] = {}
        self.began: dict[str, int] = {}
        """Marks at or above all those at which its clients attached or began."""
        self.acks = 0
        """Acknowledgements since the floor was looked for."""
        self.told = 0
        """Up to here entries are as they are passed on."""

    def find_floor(self) -> None:
        self.acks = 0
        floor = min([log.acked + log.offset for log in self.logs.values()], default=0)
        if floor > self.channel.floor:
            self.channel.acknowledge(floor)

    def lowest(self) -> Mapping[str, int]:
        """Per stream, the lowest that one of the clients has not acknowledged."""
        self.find_floor()
        return self.channel.lowest

    def others(self, envelope: Envelope) -> list[str]:
        """Clients that are not to be sent this message like the rest: usually none. Every client takes a message whose
        marks all lie above `began`, and none has more on its way than the floor is behind: only otherwise are clients
        looked at one by one."""
        began, channel, others = self.began, self.channel, list[str]()
        if began and any(n <= began.get(stream, 0) for stream, n in envelope.stamp.own):
            others = [client for client, log in self.logs.items() if not log.takes(envelope)]
        if channel.top >= channel.floor + WINDOW:
            self.find_floor()
            if channel.top >= channel.floor + WINDOW:
                slow = [client for client, log in self.logs.items() if log.top >= log.acked + WINDOW]
                others += [client for client in slow if client not in others]
        return others

    def append(self, envelope: Envelope) -> bool:
        """True: it is the first message of this turn."""
        first = self.told == self.channel.top
        self.channel.name_causes(self.channel.append(envelope))
        return first

    def pass_on(self, passed_on: Callable[[Envelope], Envelope]) -> None:
        """The clients are sent now what was appended since this was last called."""
        channel = self.channel
        for index in range(max(self.told, channel.low) + 1, channel.top + 1):
            item = channel.entries[index]
            item.envelope = passed_on(item.envelope)
        self.told = channel.top


class Sharing:
    __slots__ = ("_alone", "_apart", "_audiences", "_fed", "_homes", "logs", "plain")

    def __init__(self, logs: dict[str, Log], *, plain: bool) -> None:
        self.logs, self.plain = logs, plain
        self._apart: dict[str, Log] = {}
        self._alone: set[str] = set()
        """Clients that publish what they subscribe to."""
        self._audiences: dict[tuple[str, ...], Audience] = {}
        self._homes: dict[str, Audience] = {}
        """Client -> where it shares."""
        self._fed: dict[str, None] = {}
        """Clients that were given something in this turn."""

    # -- who shares ------------------------------------------------------------------------------------------------

    def attach(self, client: str, log: Log) -> None:
        """A new attachment begins, apart."""
        self._leave(client)
        self._alone.discard(client)
        self.logs[client] = self._apart[client] = log

    def detach(self, client: str) -> None:
        if self.logs.pop(client, None) is not None:
            self._leave(client)
            self._apart.pop(client, None)
            self._alone.discard(client)

    def share(self, client: str) -> None:
        """From here on a client is sent what all of its interest are sent, if it has all that it was sent before."""
        log = self._apart.get(client)
        if log is None or client in self._alone or log.missed or not log.is_drained():
            return
        audience = self._audiences.get(log.interest.key)
        if audience is None:
            audience = self._audiences[log.interest.key] = Audience(log.interest, plain=self.plain)
        del self._apart[client]
        self._homes[client] = audience
        log.join(audience.channel)
        audience.logs[client] = log
        join(audience.began, log.frontier)
        join(audience.began, log.began)

    def set_apart(self, client: str) -> Log:
        log = self.logs[client]
        if log.shared:
            log.leave()
            self._leave(client)
            self._apart[client] = log
        return log

    def _leave(self, client: str) -> None:
        audience = self._homes.pop(client, None)
        if audience is not None:
            del audience.logs[client]
            if not audience.logs:
                del self._audiences[audience.interest.key]

    # -- what they are given ---------------------------------------------------------------------------------------

    def give(self, envelope: Envelope, seen: Seen) -> None:
        """A message was delivered: it goes into the channels of those who want it."""
        message, fed = envelope.message, self._fed
        news: list[Audience] = []
        for audience in [one for one in self._audiences.values() if one.interest.takes(message, seen)]:
            if message.sender in audience.logs:
                self._alone.add(message.sender)
                self.set_apart(message.sender)
            for client in audience.others(envelope) if audience.logs else ():
                self.set_apart(client)
            if audience.logs and audience.append(envelope):
                news.append(audience)
        mine: set[str] = set()
        for client, log in self._apart.items():
            if client != message.sender and log.interest.takes(message, seen) and log.append(envelope) is not None:
                mine.add(client)
        if news or not fed.keys() >= mine:  # in the order in which they attached
            for client in self.logs:
                if client in mine or (client in self._homes and self._homes[client] in news):
                    fed[client] = None

    def fed(self, passed_on: Callable[[Envelope], Envelope]) -> Iterable[str]:
        """The end of a turn: who was given something in it. `passed_on`: a message as it goes on from here."""
        fed, self._fed = self._fed, {}
        for audience in self._audiences.values() if fed else ():
            audience.pass_on(passed_on)
        return fed

    # -- what they have --------------------------------------------------------------------------------------------

    def acknowledged(self, client: str) -> None:
        """A client has acknowledged something. If that was all, it may share a channel; if it shares one, the channel
        may let go of what all its clients have now."""
        audience = self._homes.get(client)
        if audience is None:
            self.share(client)
        else:
            audience.acks += 1
            if audience.acks >= len(audience.logs):
                audience.find_floor()

    def lowest(self) -> Iterator[Mapping[str, int]]:
        """Per stream the lowest that a client has not acknowledged, for each channel."""
        for audience in self._audiences.values():
            yield audience.lowest()
        for log in self._apart.values():
            yield log.lowest
