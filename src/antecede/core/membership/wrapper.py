"""Any machine, with a view that it finds by itself: a Machine around a Machine, of which no recipe knows.

Decided here: frames of membership are dealt with here, all others go through, except from processes that are out: those
are told so and not listened to (no zombie). The machine inside is told each new view; its number, the epoch, only
rises. A newcomer asks its contacts who is there before the machine inside begins. Whoever is told that it is out
compares views: the weaker one yields, stops for good, and asks to be started again under its next name. A subscriber
moves by itself when a broker of its own is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from antecede.core.effects import Effect, Expelled, Send
from antecede.core.entries import EACH, Groups
from antecede.core.frames import Frame, Out, Ping, PingRequest, Pong, Sync
from antecede.core.machine import Dice, Machine, Peer
from antecede.core.membership.choose_broker import choose
from antecede.core.membership.detector import Detector, Probing
from antecede.core.membership.news import DEAD, LEFT, News, split_name
from antecede.core.membership.steady_clock import Steady
from antecede.core.membership.table import Claim, Table, claim_of
from antecede.core.message import Message, Publication
from antecede.core.spread.chance import some_of
from antecede.errors import InputError

__all__ = ["Managed", "admission"]

KNOCKS = 8
"""How many are knocked at in one go. Raising it costs frames to the dead; lowering it, where many have crashed, the
time until a side that was only cut off is found among them, and meanwhile each side gives up what the other has."""

STRANGERS = 1024
"""Of so many is it remembered that they were listened to before anything was known of them. Raising it costs time with
every frame while there are any; lowering it, where so many come at once and go unnoticed, what is kept for them."""


class Managed:
    def __init__(
        self, inner: Machine, peer: Peer, probing: Probing, dice: Dice, *, single: bool = False, groups: Groups = EACH
    ) -> None:
        """`single`: a subscriber is at one broker, not at several. `groups`: as the machine inside has them."""
        self.inner = inner
        self.name, self.role = inner.name, inner.role
        self.dice = dice
        self.probing = probing
        self.single = single
        self.groups = groups
        self.clock = Steady(probing.period_us)
        self.table = Table(News(peer.name, peer.role, peer.groups, peer.site))
        self.out: list[Effect] = []
        self.detector = Detector(self.table, probing, dice, self.out)
        self.epoch = 0
        """How many views the machine inside was given."""
        self.begun = False
        """Whether the machine inside has started; a newcomer must first know who is there."""
        self.over = False
        """This process was expelled, or left: it does nothing any more."""
        self.at: tuple[str, ...] = ()
        self.filters: tuple[str, ...] = ()
        self.refused: dict[str, None] = {}
        """Senders that were not listened to."""
        self._contacts: tuple[str, ...] = ()
        self._unknown: frozenset[str] = frozenset()
        """Contacts of whom nothing was known when this process last knocked."""
        self._tries = 0
        self._join_at: int | None = None
        self._knock_at = 0
        self._view: dict[str, Peer] = {}
        self._seen = -1
        """The version of the table that was looked at last."""
        self._avoided = False
        """Whether some broker could not be reached then: when it can again, there may be a better place."""
        self._refused_at: dict[str, int] = {}
        self._strangers: dict[str, None] = {}
        """Senders that are listened to although nothing is known of them yet."""
        self._attached = False
        self._resting = False

    # -- the beginning and the end ---------------------------------------------------------------------------------

    def view(self, members: Mapping[str, Peer], now_us: int) -> list[Effect]:
        """Before `start`: whom this process may begin with (who founds the system, or whom a newcomer may ask)."""
        self.clock.look(now_us)
        for peer in members.values():
            if self.role == "subscriber" == peer.role:
                continue
            (base, life), (own, mine) = split_name(peer.name), split_name(self.name)
            if base == own and life > mine:
                raise InputError(
                    f"{peer.name} reads as a later life of {self.name}: end names otherwise than in .digits"
                )
            self.table.merge(News(peer.name, peer.role, peer.groups, peer.site))
        return []

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        """A newcomer knows nobody before one of its contacts has told it who is there."""
        at_us = self.clock.look(now_us)
        self.detector.begin(at_us)
        self._knock_at = at_us + self.probing.sync * self.probing.period_us
        if joining:
            contacts = [name for name in self.table.voters() if name != self.name]
            for name in contacts:
                self.table.drop(name)
            return self.contact(contacts, now_us)
        return self._begin(now_us, joining=False)

    def contact(self, names: Iterable[str], now_us: int) -> list[Effect]:
        """The contacts to ask for the view: to join, or when nobody is left in it. Without contacts this process begins
        alone; only a subscriber must wait for a broker."""
        at_us = self.clock.look(now_us)
        self._contacts = tuple(names)
        if self.over:
            return []
        if not self.begun and not self._contacts:
            return [] if self.role == "subscriber" else self._begin(now_us, joining=True)
        self._ask_contact(at_us)
        return self._flush()

    def met(self, names: Iterable[str]) -> None:
        """The processes that listen at the addresses of contacts now."""
        self._contacts = tuple(names)

    def _ask_contact(self, at_us: int) -> None:
        self._join_at = None if self.begun else at_us + 2 * self.probing.timeout_us
        if self._contacts:
            contact = self._contacts[self._tries % len(self._contacts)]
            self._tries += 1
            self.out.append(Send((contact,), Sync((self.table.me,), reply=True)))

    def _begin(self, now_us: int, *, joining: bool) -> list[Effect]:
        self.begun = True
        self._join_at = None
        effects = self._look_around(now_us)
        effects += self.inner.start(now_us, joining=joining)
        if self.filters:
            effects += self._subscribe(now_us)
        return [*self._flush(), *effects]

    def leave(self, now_us: int) -> list[Effect]:
        """Say good-bye: nobody needs to suspect."""
        self.clock.look(now_us)
        if self.over:
            return []
        effects = self.inner.unsubscribe(now_us) if self.begun else []
        me = self.table.me
        gone = News(me.name, me.role, me.groups, me.site, me.at, me.number, LEFT)
        voters = [name for name in self.table.voters() if name != self.name]
        to = list(dict.fromkeys((*self.at, *some_of(self.dice, voters, 2 * len(voters).bit_length()))))
        self.over = True
        return [*effects, Send(tuple(to), Sync((gone,)))] if to else effects

    def rest(self) -> None:
        """Stop looking after others: the driver sees that all is over."""
        self._resting = True

    def alone(self) -> bool:
        """Whether nobody is left whom this process hears from about others: it must ask its contacts again."""
        if self.at:
            there = self.brokers()
            return all(name not in there for name in self.at)
        return all(name == self.name for name in self.table.voters())

    # -- where a subscriber is -------------------------------------------------------------------------------------

    def subscribe(self, filters: Sequence[str], at: Sequence[str], now_us: int) -> list[Effect]:
        self.clock.look(now_us)
        self.groups.check_filters(filters)
        self.filters, self.at = tuple(filters), tuple(at)
        return [*self._subscribe(now_us), *self._flush()] if self.begun and not self.over else []

    def _subscribe(self, now_us: int) -> list[Effect]:
        self._attached = True
        self.at = self.places() or self.at
        self.detector.say(at=self.at)
        return self.inner.subscribe(self.filters, self.at, now_us)

    def unsubscribe(self, now_us: int) -> list[Effect]:
        self.clock.look(now_us)
        self.filters = self.at = ()
        self._attached = False
        self.detector.say(at=())
        return [*self.inner.unsubscribe(now_us), *self._flush()]

    def move(self, to: Sequence[str], now_us: int) -> list[Effect]:
        self.clock.look(now_us)
        if self.over or not self.begun:
            return []
        self.at = tuple(to)
        self.detector.say(at=self.at)
        return [*self.inner.move(to, now_us), *self._flush()]

    def brokers(self) -> dict[str, tuple[str, ...]]:
        """The brokers this process could go to, and what they carry."""
        return {name: groups for name, groups in self.table.brokers().items() if name not in self.detector.lost}

    def places(self) -> tuple[str, ...]:
        """The brokers that this subscriber should be attached to; () where there are none better than those it has."""
        there = self.brokers()
        left = tuple(name for name in self.at if name in there)
        if len(left) == len(self.at):
            if not self.single or not left or self._serves(left[0], there):
                return ()
            left = ()  # somebody sent it to a broker that gets only some of what it wants
        return choose(there, self.filters, left, self.dice, single=self.single, groups=self.groups)

    def _serves(self, broker: str, there: Mapping[str, tuple[str, ...]]) -> bool:
        return bool(self.groups.carrying({broker: there[broker]}, self.filters))

    # -- in --------------------------------------------------------------------------------------------------------

    def admits(self, sender: str) -> bool:
        """Whether frames of that process reach the machine inside. A subscriber decides about nobody, also not here."""
        return self.begun and not self.over and (self.role == "subscriber" or not self.table.is_out(sender))

    def receive(self, frame: Frame, sender: str, now_us: int) -> list[Effect]:
        at_us = self.clock.look(now_us)
        upkeep = isinstance(frame, Ping | PingRequest | Pong | Sync)
        if self.over or (self._resting and (upkeep or isinstance(frame, Out))):
            return []
        if isinstance(frame, Out):
            self._told_out(frame, sender, at_us)
        elif not self.begun:
            if isinstance(frame, Sync) and not frame.reply:  # one that asks knows no more than this newcomer itself
                self.detector.receive(frame, sender)
                if self.table.is_out(sender):  # a good-bye tells of nobody else
                    return []
                return self._expelled() or self._begin(now_us, joining=True)
        elif not (self._listens_to(sender) if upkeep else self.admits(sender)):
            self._refuse(sender, at_us)
        else:
            self.detector.tick(at_us)
            self.detector.heard(sender)
            if not isinstance(frame, Ping | PingRequest | Pong | Sync):
                if sender not in self._view:
                    self._strangers[sender] = None
                    if len(self._strangers) > STRANGERS:
                        del self._strangers[next(iter(self._strangers))]
                return [*self.inner.receive(frame, sender, now_us), *self._settle(now_us)]
            if isinstance(frame, Sync) and self._is_apart(frame, sender):
                self._stand_against(claim_of(frame.news, sender))
            else:
                self.detector.receive(frame, sender)
        return self._settle(now_us)

    def _is_apart(self, frame: Sync, sender: str) -> bool:
        """Whether two processes have both begun, and neither knows of the other, which it has just asked (see
        `_knock`)."""
        if frame.reply or self.role == "subscriber" or sender in self.table.entries:
            return False
        present = {news.name for news in frame.news if not news.final}
        return sender in present and self.name not in present

    def _listens_to(self, sender: str) -> bool:
        """About who is there: to whoever is not out. A subscriber that is left with nobody listens to anybody."""
        return not self.table.is_out(sender) or (self.role == "subscriber" and self.alone())

    def _refuse(self, sender: str, at_us: int) -> None:
        """The sender of a frame is out: it is told so, once a period at most."""
        if self.role != "subscriber":
            self.refused[sender] = None
            if at_us >= self._refused_at.get(sender, at_us):
                self._refused_at[sender] = at_us + self.probing.period_us
                self._say_out(sender)

    def _say_out(self, to: str) -> None:
        claim = self.table.claim()
        self.out.append(Send((to,), Out(to, claim.voters, claim.smallest)))

    def _told_out(self, frame: Out, sender: str, at_us: int) -> None:
        """A peer says that this process was declared dead (or an earlier incarnation of it, which is no news). A
        process that believes in that peer yields. If neither believes in the other, the one with the weaker view
        yields. A subscriber has no say: it yields if all processes that it believed in are gone."""
        if frame.name != self.name:
            return
        known = self.table.get(sender)
        yields = known is not None and not known.final
        if not yields and self.role == "subscriber":
            yields = self.alone()
        elif not yields:
            yields = Claim(frame.voters, frame.smallest, sender).stays_before(self.table.claim())
        if yields:
            self.detector.expelled_by = sender
        else:
            self._refuse(sender, at_us)

    def _stand_against(self, claim: Claim) -> None:
        """Two views have never heard of each other: the weaker one yields, and is told so if it is the other."""
        if claim.stays_before(self.table.claim()):
            self.detector.expelled_by = claim.holder
        else:
            self._say_out(claim.holder)

    # -- what follows ----------------------------------------------------------------------------------------------

    def _settle(self, now_us: int) -> list[Effect]:
        effects = self._expelled()
        if not effects and self.begun:
            effects = self._look_around(now_us)
        return [*self._flush(), *effects]

    def _expelled(self) -> list[Effect]:
        by = self.detector.expelled_by
        if by is None or self.over:
            return []
        self.over = True
        self.out.clear()
        return [Expelled(by)]

    def _look_around(self, now_us: int) -> list[Effect]:
        """A new view for the machine inside, if there is one, and a better place for a subscriber."""
        effects: list[Effect] = []
        lost = bool(self.detector.lost)
        if self._seen == self.table.version and not self._strangers and not lost and not self._avoided:
            return effects
        self._seen, self._avoided = self.table.version, lost
        view = self.table.view()
        gone = {name: Peer(name, "subscriber", ()) for name in self._strangers if self.table.is_out(name)}
        if gone:  # it had to do with them: only who was in a view can be seen to be gone from it
            self._view = {**view, **gone}
            self.epoch += 1
            effects += self.inner.view(self._view, now_us)
        self._strangers = {name: None for name in self._strangers if name not in view and name not in gone}
        if view != self._view:
            self._view = view
            self.epoch += 1
            effects += self.inner.view(view, now_us)
        if self._attached:
            places = self.places()
            if places:
                self.at = places
                self.detector.say(at=places)
                effects += self.inner.move(places, now_us)
        return effects

    def _flush(self) -> list[Effect]:
        effects = self.out[:]
        self.out.clear()
        return effects

    def publish(self, publication: Publication, now_us: int) -> tuple[Message, list[Effect]]:
        self.clock.look(now_us)
        return self.inner.publish(publication, now_us)

    # -- time ------------------------------------------------------------------------------------------------------

    def wake(self, now_us: int) -> list[Effect]:
        at_us = self.clock.look(now_us)
        if self.over:
            return []
        effects: list[Effect] = []
        inner_us = self.inner.next_wake() if self.begun else None
        if inner_us is not None and inner_us <= now_us:
            effects = self.inner.wake(now_us)
        if not self._resting:
            if self._join_at is not None and at_us >= self._join_at:
                self._ask_contact(at_us)
            if self.begun:
                self.detector.tick(at_us)
                if at_us >= self._knock_at:
                    self._knock(at_us)
        return [*effects, *self._settle(now_us)]

    def _knock(self, at_us: int) -> None:
        """Some of those believed dead are told so, in case they are not, and contacts that have long been unknown are
        asked who is there: so sides of a healed partition find each other, also if all their members came anew."""
        self._knock_at = at_us + self.probing.sync * self.probing.period_us
        if self.role == "subscriber":
            return
        if self.probing.forget:
            self.table.forget(at_us, self.probing.forget * self.probing.period_us)
        entries = self.table.entries
        dead = [n.name for n in entries.values() if n.state == DEAD and n.role != "subscriber"]
        unknown = [name for name in self._contacts if name not in entries and not self.table.is_out(name)]
        apart = [name for name in unknown if name in self._unknown and name != self.name]
        self._unknown = frozenset(unknown)
        for name in some_of(self.dice, [*dead, *apart], KNOCKS):
            if name in entries:
                self._say_out(name)
            else:
                self.out.append(Send((name,), Sync((), reply=True)))

    def next_wake(self) -> int | None:
        if self.over:
            return None
        inner_us = self.inner.next_wake() if self.begun else None
        if self._resting:
            return inner_us
        if not self.begun:
            return None if self._join_at is None else self.clock.local(self._join_at)
        own_us = self.clock.local(min(self.detector.next_us(), self._knock_at))
        return own_us if inner_us is None else min(own_us, inner_us)


def admission(machine: Machine) -> Callable[[str], bool] | None:
    """Tells the senders of whose frames a driver writes `arrive` rows: frames of others do not reach the machine. None:
    of all."""
    return machine.admits if isinstance(machine, Managed) else None
