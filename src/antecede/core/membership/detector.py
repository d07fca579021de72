"""The failure detector: pings (SWIM: Das, Gupta, Motivala 2002), and how the news gets around.

Each period a process pings one peer, in a shuffled round of all; a peer that does not answer is pinged by a few others,
and one that answers none of them by the end of the period is a suspect. A suspect is pinged every period, and told that
it is one, so that it can refute with a greater number; after a time that grows with the logarithm of the view it is
dead. News rides on pings and answers, each item so often that it reaches all; every so often two processes tell each
other all they know, and a process that is believed dead is told so, in case it is not. Example: A pings B and hears
nothing; C pings B for A and hears nothing: B is a suspect. B hears of it in time and says so: it is alive.

Members and brokers decide about everybody. A broker pings the subscribers that name it, and those of brokers that are
gone. Subscribers ping their own brokers only, themselves, speak for themselves only, and decide about nobody: a
subscriber that cannot reach a broker (`lost`) leaves it, no more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from antecede.core.effects import Effect, Send
from antecede.core.frames import Ping, PingRequest, Pong, Sync
from antecede.core.machine import Dice
from antecede.core.membership.news import ALIVE, DEAD, SUSPECT, News, beats, last_of_two, split_name
from antecede.core.membership.table import Table
from antecede.core.spread.chance import some_of

__all__ = ["Detector", "Probing"]

NEWS = 8
"""Items that ride on one frame. Raising it costs bytes, lowering it time until all know of a burst of changes."""
TOLD = 3
"""An item is told so many times the logarithm of the view. Raising it costs bytes; what still misses it is synced."""
SUSPECTS = 8
"""Suspects pinged in one period beside the one whose turn it is."""


@dataclass(slots=True, frozen=True)
class Probing:
    """How pings go; times in microseconds. Each says what raising it costs."""

    period_us: int = 300_000
    """Between two pings. Costs time until a crash is found; lowering it costs frames."""
    timeout_us: int = 100_000
    """How long an answer is waited for before others are asked to ping. At most half a period."""
    proxies: int = 3
    """How many others ping. Costs frames; lowering it costs wrong suspicions under loss."""
    suspicion: int = 3
    """How many periods, times the logarithm of the view, a suspect has to refute. Costs time until a crash is found."""
    sync: int = 16
    """Periods between full exchanges. Costs time until what news missed is mended; lowering it costs bytes."""

    forget: int = 0
    """Periods for which others are told of subscribers that are out; 0: for ever. Costs bytes whenever two exchange all
    they know; it must exceed the time in which a crash is found."""

    def found_us(self, count: int) -> int:
        """By when a crash is usually known to all of `count` processes."""
        return self.period_us * (2 + (2 + self.suspicion) * count.bit_length())


class Probe:
    __slots__ = ("asked", "sent_us", "target")

    def __init__(self, target: str, sent_us: int) -> None:
        self.target = target
        self.sent_us = sent_us
        self.asked = False
        """Whether others were asked to ping it."""


class Detector:
    def __init__(self, table: Table, probing: Probing, dice: Dice, out: list[Effect]) -> None:
        self.table = table
        self.probing = probing
        self.dice = dice
        self.out = out
        self.lost: dict[str, None] = {}
        """Subscribers: brokers that could not be reached for as long as a suspect has to refute."""
        self.expelled_by: str | None = None
        """The process that said that this one is dead."""
        self._decides = table.me.role != "subscriber"
        self._at_us = 0
        self._period_at = 0
        self._periods = 0
        self._number = 0
        self._probes: dict[int, Probe] = {}
        self._relays: dict[int, tuple[str, int, int]] = {}
        """Number of a ping for another -> (for whom, its number, when it was sent)."""
        self._turn: list[str] = []
        self._heard: dict[str, int] = {}
        self._ends: dict[str, int] = {}
        """Suspect -> when it is dead (for a subscriber: lost)."""
        self._told: dict[str, int] = {}
        """Item of news that is still going around -> how often it was told."""

    # -- time ------------------------------------------------------------------------------------------------------

    def begin(self, at_us: int) -> None:
        """The first ping comes within a period, at a time that differs between processes."""
        self._at_us = at_us
        self._period_at = at_us + 1 + int(self.dice.random() * self.probing.period_us)

    def next_us(self) -> int:
        """When `tick` has something to do."""
        timeout_us = self.probing.timeout_us
        asks = [probe.sent_us + timeout_us for probe in self._probes.values() if not probe.asked]
        return min([self._period_at, *asks, *self._ends.values()])

    def tick(self, at_us: int) -> None:
        self._at_us = at_us
        for number, probe in self._probes.items():
            if not probe.asked and at_us >= probe.sent_us + self.probing.timeout_us:
                probe.asked = True
                if self._decides and not self._answered(probe):
                    self._ask_others(number, probe.target)
        for name in [name for name, end_us in self._ends.items() if at_us >= end_us]:
            self._give_up(name)
        if at_us >= self._period_at:
            self._period_at = at_us + self.probing.period_us
            self._new_period()

    def _new_period(self) -> None:
        probes, self._probes = self._probes, {}
        for probe in probes.values():
            if not self._answered(probe):
                self._suspect(probe.target)
        old_us = self._at_us - 2 * self.probing.period_us
        self._relays = {n: relay for n, relay in self._relays.items() if relay[2] > old_us}
        targets = self._targets()
        self._heard = {name: heard_us for name, heard_us in self._heard.items() if name in self.table.entries}
        self._turn = [name for name in self._turn if name in targets] or self._shuffled(targets)
        due = [self._turn.pop()] if self._turn else []
        due += [name for name in self._ends if name in targets and name not in due][:SUSPECTS]
        for name in due:
            self._number += 1
            self._probes[self._number] = Probe(name, self._at_us)
            self.out.append(Send((name,), Ping(self._number, self._news_for(name))))
        self._periods += 1
        if self._periods % self.probing.sync == 0:
            for name in some_of(self.dice, [name for name in targets if name in self.table.voters()], 1):
                self.sync(name, reply=True)

    def _shuffled(self, names: list[str]) -> list[str]:
        left = list(names)
        return [left.pop(int(self.dice.random() * len(left))) for _ in names]

    def _answered(self, probe: Probe) -> bool:
        return self._heard.get(probe.target, -1) >= probe.sent_us

    def _targets(self) -> list[str]:
        """The peers that this process pings."""
        table, me = self.table, self.table.me
        if not self._decides:
            return [name for name in me.at if not table.is_out(name)]
        voters = set(table.voters())
        return [n.name for n in table.present() if n.name != me.name and self._mine(n, me.name, voters)]

    def _mine(self, news: News, me: str, voters: set[str]) -> bool:
        return news.role != "subscriber" or me in news.at or voters.isdisjoint(news.at)

    def _ask_others(self, number: int, target: str) -> None:
        others = [name for name in self.table.voters() if name not in (target, self.table.name)]
        for name in some_of(self.dice, others, self.probing.proxies):
            self.out.append(Send((name,), PingRequest(number, target, self._news_for(name))))

    # -- suspicion -------------------------------------------------------------------------------------------------

    def suspicion_us(self) -> int:
        """How long a suspect has to refute."""
        return self.probing.period_us * self.probing.suspicion * max(2, len(self.table.present()).bit_length())

    def _suspect(self, name: str) -> None:
        known = self.table.get(name)
        if known is None or known.final:
            return
        if not self._decides:
            self._ends.setdefault(name, self._at_us + self.suspicion_us())
        elif known.state == ALIVE:
            self.learn(replace(known, state=SUSPECT))

    def _give_up(self, name: str) -> None:
        del self._ends[name]
        known = self.table.get(name)
        if not self._decides:
            self.lost[name] = None
        elif known is not None and known.state == SUSPECT:
            self.learn(replace(known, state=DEAD))

    def heard(self, name: str) -> None:
        """A frame came from a process."""
        self._heard[name] = self._at_us
        if not self._decides:
            self._ends.pop(name, None)
            self.lost.pop(name, None)

    # -- news ------------------------------------------------------------------------------------------------------

    def learn(self, news: News) -> None:
        if not self.table.merge(news):
            return
        if news.final:
            self.lost.pop(news.name, None)
            self._ends.pop(news.name, None)
        if self._decides:
            self._told[news.name] = 0
            if news.state == SUSPECT:
                self._ends.setdefault(news.name, self._at_us + self.suspicion_us())
            else:
                self._ends.pop(news.name, None)

    def say(self, **changes: object) -> None:
        """Something new about this process itself: it counts more than whatever was said of it before."""
        me = self.table.me
        self.learn(replace(me, number=me.number + 1, **changes))  # type: ignore[arg-type]

    def hear(self, news: tuple[News, ...], sender: str) -> None:
        """What `sender` says. A subscriber speaks for itself only; what others say of this process may end it. Two
        subscribers under one name lose it."""
        me = self.table.me
        for one in news:
            if one.name == me.name:
                if one.final:
                    self.expelled_by = sender
                elif one.state == SUSPECT and beats(one, self.table.me):
                    self.table.entries[me.name] = replace(self.table.me, number=one.number)
                    self.say(state=ALIVE)
            elif one.name == sender or self._believes(sender):
                base, life = split_name(one.name)
                if base == split_name(me.name)[0] and life > split_name(me.name)[1]:
                    self.expelled_by = sender  # its place is taken
                elif self._decides or one.role != "subscriber":
                    known = self.table.get(one.name)
                    both = None if known is None else last_of_two(one, known)
                    self.learn(one if both is None else both)

    def _believes(self, sender: str) -> bool:
        known = self.table.get(sender)
        return known is not None and known.role != "subscriber" and not known.final

    def _news_for(self, to: str) -> tuple[News, ...]:
        """What rides on a frame: itself, what is thought of the receiver if it is suspected, then what was told least.
        To subscribers the newest about brokers, for they do not pass it on."""
        entries, me = self.table.entries, self.table.me
        known = entries.get(to)
        items = [me]
        if known is not None and known.state == SUSPECT:
            items.append(known)
        if not self._decides:
            return tuple(items)
        if known is not None and known.role == "subscriber":
            brokers = [news for news in entries.values() if news.role == "broker" and news.name != me.name]
            return (*items, *brokers[-NEWS:])
        enough = TOLD * max(1, len(entries)).bit_length()
        for name in sorted(self._told, key=self._told.__getitem__)[:NEWS]:
            self._told[name] += 1
            if self._told[name] >= enough:
                del self._told[name]
            if name in entries and name not in (me.name, to):
                items.append(entries[name])
        return tuple(items)

    # -- frames ----------------------------------------------------------------------------------------------------

    def receive(self, frame: Ping | PingRequest | Pong | Sync, sender: str) -> None:
        self.hear(frame.news, sender)
        if isinstance(frame, Ping):
            self.out.append(Send((sender,), Pong(frame.number, self.table.name, self._news_for(sender))))
        elif isinstance(frame, PingRequest):
            self._number += 1
            self._relays[self._number] = (sender, frame.number, self._at_us)
            self.out.append(Send((frame.target,), Ping(self._number, self._news_for(frame.target))))
        elif isinstance(frame, Pong):
            self.heard(frame.of)
            relay = self._relays.pop(frame.number, None)
            if relay is not None:
                self.out.append(Send((relay[0],), Pong(relay[1], frame.of, self._news_for(relay[0]))))
        elif frame.reply:
            self.sync(sender, reply=False)
        elif not self._decides:
            self.table.keep_only({news.name for news in frame.news})

    def sync(self, to: str, *, reply: bool) -> None:
        """Tell a process all news, and ask for all of its own."""
        known = self.table.get(to)
        told: tuple[News, ...] = (self.table.me,)
        if self._decides:
            told = tuple(self.table.told_to("" if known is None else known.role, to))
        self.out.append(Send((to,), Sync(told, reply)))
