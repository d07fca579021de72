"""Everything that decides a run: each knob, its unit, and what raising it costs. Equal scenarios give equal rows.

Decided here: names of knobs, their defaults, what is refused, what a machine is told (`settings`), and the form of
`scenario.json`.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import antecede
from antecede.core.machine import Settings
from antecede.core.membership.detector import Probing
from antecede.core.message import ORDERS
from antecede.core.order.round_clock import colours_for
from antecede.errors import InputError
from antecede.sim.limits import refuse_absurd

__all__ = ["FORMAT", "RecipeFacts", "Scenario", "check_lifetime", "find_recipe", "parse_mix", "parse_perturb"]

FORMAT = 1
"""The version of `scenario.json`."""


class RecipeFacts(Protocol):
    """What a scenario must know of a recipe (a row of `core.recipes.RECIPES`)."""

    @property
    def name(self) -> str: ...
    @property
    def flat(self) -> bool: ...
    @property
    def clients_publish(self) -> bool: ...
    @property
    def deadlines(self) -> str: ...
    @property
    def orders(self) -> tuple[str, ...]: ...
    @property
    def uniform(self) -> bool: ...
    @property
    def fixed(self) -> bool: ...
    @property
    def spread(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Scenario:
    """A run, before it happens. Times in milliseconds unless the name says otherwise; probabilities in 0..1."""

    recipe: str = "solicit"
    """Which protocol: a row of `antecede.core.recipes.RECIPES`."""
    reading: str = "repaired"
    """`repaired`, or the paper's text as `printed`."""
    seed: int = 0
    """Decides everything that is drawn."""
    brokers: int = 4
    """How many brokers: A, B, ..., Z, A1, B1, ... Costs frames: every message goes to every broker of its groups."""
    subscribers: int = 6
    """How many subscribers: S1, S2, ... Costs frames of the last hop."""
    groups: str = ""
    """`G1=A,B,C;G2=A,B,D`; empty: drawn, overlapping. More groups cost metadata. Flat recipes: all are in all."""
    table: str = ""
    """`room/#=A,B;+/door=C`: groups are the entries of this table, filter by filter with the brokers that carry it;
    topics and filters are drawn to fit it. `drawn`: so is the table. Empty: each topic is a group (`groups`)."""
    homes: int = 3
    """A subscriber attaches to 1 to this many brokers (recipes whose clients publish: always 1). Costs copies."""
    messages: int | None = None
    """How many are published; None: 100, or the whole recorded history. Costs time and rows."""
    rate: float = 100.0
    """Publications per second, of all processes together. Costs messages in flight, and so held ones and metadata."""
    reply: float = 0.5
    """Share of publications that come right after a delivery, at the process that delivered. Deepens causality."""
    declare: float = 0.0
    """Share of publications that declare their causes (`after=`) instead of taking all that was delivered."""
    mix: str = ""
    """`causal=0.6,fifo=0.3,none=0.1`: shares of messages by the order they ask for; empty: the recipe's own. A weaker
    order saves waiting."""
    choice: str = "some"
    """How many of its groups a publisher addresses: `one`, `some` (drawn), `all`. Costs frames."""
    burst: int = 1
    """How many messages one publisher sends back to back, at the same mean rate. Costs peaks in queues."""
    loss: float = 0.0
    """Probability that a copy is lost. Costs requests and, near a deadline, deliveries."""
    duplicate: float = 0.0
    """Probability that a copy arrives twice. Costs frames."""
    delay_ms: tuple[float, float] = (5.0, 20.0)
    """A copy takes a time drawn evenly from here. Costs latency; a wide range reorders."""
    spike: float = 0.0
    """Probability that a copy takes ten times as long. Costs what loss costs, and late duplicates."""
    crash: float = 0.0
    """Probability that a process crashes during the run."""
    crash_brokers: bool = False
    """Only brokers crash, and none comes back (001 s3)."""
    restart: float = 0.5
    """Probability that a crashed process comes back, empty, under a new name (`A.1`)."""
    skew_ms: float = 0.0
    """Every clock is off by a constant of at most this. Costs delivery time through the guard."""
    partition: str = ""
    """`A,B|C,D@1000-2000`: these sides do not hear each other from 1000 to 2000 ms (true time); several with `;`.
    Brokers not named are on the first side, subscribers on the side of the first broker they drew."""
    move: float = 0.0
    """Migrations per subscriber and second. Costs attachments, and what was held."""
    join: float = 0.0
    """Newcomers per process and second: brokers and subscribers in proportion (where brokers have fixed places only
    subscribers). Costs snapshots and attachments."""
    leave: float = 0.0
    """How often a process leaves for good, per second. Costs what a crash costs, without the time to find it."""
    brokers_stay: bool = False
    """No broker leaves (004 s4: brokers are more stable than subscribers); members of flat recipes do."""
    perturb: str = ""
    """`one:0.3` one process sleeps that share of its time, `some:0.3` that share of all processes sleep half of theirs,
    `all:0.3` everybody sleeps that share. Costs delivery time through the guard, and whatever falls due meanwhile."""
    nap_ms: float = 20.0
    """How long a process sleeps at a time, where some do. Costs delivery time through the guard."""
    jump_ms: float = 0.0
    """Every clock leaps once, forth or back, by at most this. Costs delivery time through the guard."""
    membership: str = "told"
    """`told`: everybody is told the view, `detect_ms` after the fact; `swim`: processes find it by themselves."""
    grow: float = 0.0
    """Changes of filters per subscriber and second, to groups of the broker it is at. Costs attachments outside `home`,
    in `home` a round trip and what is sent again of new groups."""
    detect_ms: float = 200.0
    """How long after a crash or restart the others are told (`swim`: four periods of pings). Costs waiting for the
    dead."""
    deadline_ms: tuple[float, float] | None = None
    """A message must be delivered within a time drawn from here after it was published (where an order counts by
    rounds: after it has left in its round); None: no deadlines."""
    undated: float = 0.0
    """Share of publications that have no deadline though others do: they are waited for as long as it takes."""
    guard_ms: float | None = None
    """How long before a deadline a process stops waiting; None: the skew, a leap and a nap. Costs delivery time."""
    hop_ms: float | None = None
    """What a broker leaves for the last hop; None: 1.5 times the longest delay in two tiers. Costs waiting time."""
    spread: str = ""
    """Another way to spread than the recipe's own: multicast, pull, gossip, lazy."""
    fanout: int = 3
    """To how many peers a digest goes each round, and a message where only some get it by itself (gossip, pull, lazy).
    Costs frames; lowering it costs rounds until everybody has it."""
    round_ms: float = 50.0
    """Between digests, and the length of a gossip round. Raising it finds lost tails later; where an order counts by
    rounds it also lengthens lifetimes, and a broker publishes once per round."""
    alpha: int = 3
    """Rounds of a lifetime beyond ceil(log2 N), N being the larger of the two tiers (where an order counts by rounds).
    Costs waiting where something is lost (`colour`: always), buys time to ask for it."""
    view: int = 0
    """Rounds go to members of a local view of at most so many; 0: of all. Raising it costs memory, spreads evener."""
    times: int = 1
    """In how many rounds a message is pushed by everybody who has it (`--spread gossip`, `rounds`). Costs copies."""
    view_below: int = 0
    """Brokers gossip to so many subscribers drawn from all there are (001 s3, 004 GS1); 0: to their own. Raising it
    costs memory, spreads evener."""
    forward: bool = False
    """Subscribers pass on what they got, once, to `fanout` of a view of their own (of `view_below`; 0: of all) that
    want the same, and compare with a broker in every round. Costs copies and digests, buys reach."""
    renewed: float = 0.5
    """Which share of such a view is replaced each round."""
    near: float = 0.0
    """How often a round prefers a member of the same site. Raising it saves long links, slows what must cross them."""
    sites: int = 1
    """How many sites there are: processes are put there in turn, or by the matrix of --latency to the nearest."""
    turns: bool = False
    """Each round belongs to one broker, in the order of their names (004 s1), where an order counts by rounds. Costs a
    wait of up to as many rounds as there are brokers."""
    link_kbytes_s: float = 0.0
    """What a process can send per second, in thousands of bytes, through one queue; 0: any amount at once. Lowering it
    costs latency, and throughput once it is the bottleneck."""
    cpu_us: float = 0.0
    """How long a process is busy with each frame it receives, in microseconds; what comes meanwhile waits. Raising it
    costs latency, and throughput once it is the bottleneck."""
    buffer: int = 0
    """So many frames wait at a receiver that is busy; what comes then is lost, and counted. 0: any number."""
    window: int = 0
    """So many unacknowledged messages a publisher has on their way (`ackcast`); 0: any number."""
    remember_ms: float = 0.0
    """How long senders that left are remembered once nobody names them any more, and what was let go of before that
    (`home`); 0: for ever, and whoever published stays in every stamp. Costs memory; too short, late copies are new."""
    payload_bytes: int = 32
    """Size of a payload. Costs bytes."""
    warmup_ms: float | None = None
    """Before the first publication, for subscribers to attach; None: six times the longest delay, 50 at least."""
    workload: str = ""
    """A recorded causal history (Parquet) to replay instead of drawing publications."""
    latency: str = ""
    """A matrix of round-trip times (Parquet: source, target, rtt_ms) instead of `delay_ms`."""
    limit_s: float | None = None
    """When to stop a run that does not become quiet (virtual time); None: two minutes after the last publication."""
    witness: bool = False
    """Payloads name what their sender had delivered, so that order can be checked from payloads alone."""

    def __post_init__(self) -> None:
        for name in ("delay_ms", "deadline_ms"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, (float(value[0]), float(value[1])))
        for name in (
            "loss",
            "duplicate",
            "spike",
            "crash",
            "restart",
            "reply",
            "declare",
            "near",
            "undated",
            "renewed",
        ):
            value = getattr(self, name)
            if not 0.0 <= value <= 1.0:
                raise InputError(f"{name} is {value}: a probability lies between 0 and 1.")
        for name, low in (("brokers", 1), ("subscribers", 0), ("homes", 1), ("fanout", 1), ("burst", 1),
                          ("payload_bytes", 0), ("alpha", 0), ("view", 0), ("sites", 1),
                          ("buffer", 0), ("window", 0), ("times", 1), ("view_below", 0)):  # fmt: skip
            value = getattr(self, name)
            if value < low:
                raise InputError(f"{name} is {value}: it must be at least {low}.")
        if self.messages is not None and self.messages < 0:
            raise InputError(f"messages is {self.messages}: it must be at least 0.")
        for name in ("rate", "round_ms", "nap_ms"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} is {getattr(self, name)}: it must be greater than 0.")
        for name in ("move", "join", "leave", "grow", "detect_ms", "skew_ms", "jump_ms", "guard_ms", "hop_ms",
                     "warmup_ms", "limit_s", "link_kbytes_s", "cpu_us", "remember_ms"):  # fmt: skip
            value = getattr(self, name)
            if value is not None and not 0.0 <= value < math.inf:
                raise InputError(f"{name} is {value}: it must be at least 0.")
        for name in ("delay_ms", "deadline_ms"):
            span = getattr(self, name)
            if span is not None and not 0.0 <= span[0] <= span[1] < math.inf:
                raise InputError(f"{name} is {span[0]:g}:{span[1]:g}: give LO:HI with 0 <= LO <= HI.")
        refuse_absurd(self)
        if self.choice not in ("one", "some", "all"):
            raise InputError(f"choice is {self.choice!r}: it is one, some or all.")
        if self.membership not in ("told", "swim"):
            raise InputError(f"membership is {self.membership!r}: it is told or swim.")
        parse_perturb(self.perturb)
        parse_mix(self.mix)

    # -- derived ---------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many messages a synthetic workload publishes."""
        return 100 if self.messages is None else self.messages

    @property
    def run(self) -> str:
        """The name of this execution in the records."""
        return f"{self.recipe}-{self.reading}-{self.seed}"

    @property
    def builds(self) -> str:
        """What machines are built as: the recipe, with another way to spread if one is asked for."""
        return f"{self.recipe}+{self.spread}" if self.spread else self.recipe

    @property
    def colours(self) -> int:
        """How many rounds a message lives, where an order counts by rounds."""
        return colours_for(max(self.brokers, self.subscribers), self.alpha)

    @property
    def costs(self) -> bool:
        """Whether links and processors take time: then only order, duplicates and deadlines are judged."""
        return bool(self.link_kbytes_s or self.cpu_us or self.buffer)

    @property
    def start_us(self) -> int:
        """When processes start, on the true clock: so late that no process's clock is ever negative."""
        return self.clock_bound_us

    @property
    def clock_bound_us(self) -> int:
        """By how much a clock may be off at any time."""
        return int(self.skew_ms * 1000) + int(self.jump_ms * 1000)

    @property
    def first_us(self) -> int:
        """When the first message is published."""
        warmup_ms = max(50.0, 6 * self.delay_ms[1]) if self.warmup_ms is None else self.warmup_ms
        return self.start_us + int(warmup_ms * 1000)

    def busy_us(self, count: int) -> int:
        """How long it takes to publish so many messages."""
        return int(count / self.rate * 1_000_000)

    def settings(self, facts: RecipeFacts, delay_us: tuple[int, int] | None = None) -> Settings:
        """What every machine of this run is told. `delay_us`: what the network really takes, if a matrix says so."""
        low, high = delay_us or (int(self.delay_ms[0] * 1000), int(self.delay_ms[1] * 1000))
        two_tiers = not facts.flat and self.subscribers > 0
        hop_us = (int(1.5 * high) if two_tiers else 0) if self.hop_ms is None else int(self.hop_ms * 1000)
        skew_us = self.clock_bound_us
        nap_us = int(self.nap_ms * 1000) if self.perturb else 0
        found_us = int(self.detect_ms * 2000)
        if self.membership == "swim":
            found_us = 2 * self.probing((low, high)).found_us(2 * (self.brokers + self.subscribers))
        return Settings(
            deadlines=self.deadline_ms is not None or facts.deadlines == "lifetime",
            guard_us=skew_us + nap_us if self.guard_ms is None else int(self.guard_ms * 1000),
            hop_us=hop_us,
            round_us=max(1, int(self.round_ms * 1000)),
            fanout=self.fanout,
            colours=self.colours if facts.deadlines == "lifetime" else 0,
            turns=self.turns,
            window=self.window,
            times=self.times,
            view_below=self.view_below,
            renewed=self.renewed,
            forward=self.forward,
            view=self.view,
            near=self.near,
            patience_us=high - low,
            retry_us=2 * high + 2_000,
            trip_us=2 * low,
            clock_bound_us=skew_us,
            memory_us=int(self.remember_ms * 1000) or Settings().memory_us,
            remember_us=int(self.remember_ms * 1000),
            # Until a crash is known and the client has found its new broker, through spikes and lost frames.
            grace_us=max(2_000_000, found_us + 40 * high + 2 * skew_us),
        )

    def probing(self, delay_us: tuple[int, int] | None = None) -> Probing:
        """How pings go, where processes find the view by themselves: a round trip must fit, also through another."""
        high = delay_us[1] if delay_us else int(self.delay_ms[1] * 1000)
        nap_us = int(self.nap_ms * 1000) if self.perturb else 0
        timeout_us = 2 * high + nap_us + 2_000
        return Probing(period_us=max(3 * timeout_us, int(self.detect_ms * 250)), timeout_us=timeout_us)

    def fits(self, facts: RecipeFacts) -> None:
        """Refuse what this recipe cannot do."""
        if self.deadline_ms is not None and facts.deadlines == "none":
            raise InputError(f"Recipe {self.recipe} has no deadlines: use --deadline-ms none.")
        if self.deadline_ms is None and facts.deadlines in ("yes", "same"):
            raise InputError(f"Recipe {self.recipe} needs deadlines: give --deadline-ms LO:HI.")
        if self.undated and (self.deadline_ms is None or facts.deadlines != "optional"):
            raise InputError(
                "--undated is for messages without a deadline among others: it goes with --deadline-ms LO:HI, and with "
                "recipes that can do without."
            )
        if facts.deadlines == "same" and self.deadline_ms is not None and self.deadline_ms[0] != self.deadline_ms[1]:
            raise InputError(f"In recipe {self.recipe} all messages live equally long: give --deadline-ms X:X.")
        for order in parse_mix(self.mix):
            if order not in facts.orders:
                raise InputError(f"Recipe {self.recipe} has no order {order}: it has {' and '.join(facts.orders)}.")
        if facts.deadlines == "lifetime" and self.deadline_ms is not None:
            check_lifetime(self.recipe, self.deadline_ms, self.colours, self.round_ms, uniform=facts.uniform)
        if self.turns and facts.deadlines != "lifetime":
            raise InputError(
                f"Recipe {self.recipe} has no rounds to take turns in: --turns goes with rounds and colour."
            )
        if (self.times > 1 or self.view_below or self.forward) and facts.spread != "gossip":
            raise InputError(
                f"Recipe {self.recipe} does not gossip: --times, --view-below and --forward go with rounds or "
                "--spread gossip."
            )
        if (self.view_below or self.forward) and facts.deadlines != "lifetime":
            # A broker that gave up a lost message sends what follows it to subscribers whose own broker has not.
            raise InputError(
                f"In recipe {self.recipe} one broker may give up a message and another not: --view-below and --forward "
                "go with lifetimes (rounds)."
            )
        if self.window and self.recipe != "ackcast":
            raise InputError(f"Recipe {self.recipe} waits for no acknowledgements: --window goes with ackcast.")
        if self.table and not facts.clients_publish:
            raise InputError(f"In recipe {self.recipe} each topic is a group: --table goes with --recipe home.")
        if self.table and (self.groups or self.workload):
            raise InputError("--table says itself what groups there are: leave out --groups and --workload.")
        if facts.clients_publish and self.subscribers == 0:
            raise InputError(f"In recipe {self.recipe} the subscribers publish: give at least one with --subscribers.")

    # -- as a file -------------------------------------------------------------------------------------------------

    def to_body(self) -> dict[str, Any]:
        """The knobs, and which antecede they are for: what `scenario.json` holds."""
        return {"format": FORMAT, "antecede": antecede.__version__, **dataclasses.asdict(self)}

    def to_json(self) -> str:
        return json.dumps(self.to_body(), indent=2, sort_keys=True) + "\n"

    @classmethod
    def from_json(cls, text: str, where: str = "scenario.json") -> Scenario:
        try:
            body = json.loads(text)
            knobs = {name: value for name, value in body.items() if name not in ("format", "antecede")}
            version = body["format"]
        except (ValueError, KeyError, AttributeError):
            raise InputError(f"{where} is not a scenario: it must be an object with format and knobs.") from None
        if version != FORMAT:
            raise InputError(f"{where} has format {version}: this version of antecede reads format {FORMAT}.")
        return cls.from_knobs(knobs, where)

    @classmethod
    def from_knobs(cls, knobs: Mapping[str, Any], where: str = "scenario.json") -> Scenario:
        known = {field.name for field in dataclasses.fields(cls)}
        for name in knobs:
            if name not in known:
                raise InputError(f"{where} has a knob {name!r} that does not exist{_hint(name, known)}.")
        try:
            return cls(**knobs)
        except (TypeError, ValueError, IndexError):
            raise InputError(f"{where} has a knob with a value of the wrong type.") from None

    @classmethod
    def load(cls, path: Path) -> Scenario:
        try:
            return cls.from_json(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} cannot be read: {error}.") from None


def check_lifetime(
    recipe: str, deadline_ms: tuple[float, float], colours: int, round_ms: float, *, uniform: bool
) -> None:
    """Refuse deadlines that a broker would refuse (`RoundBroker.new_message`), wherever in a round it publishes."""
    lifetime_ms, certain_ms = colours * round_ms, max(0, colours - 1) * round_ms
    if uniform and deadline_ms[0] < lifetime_ms:
        raise InputError(
            f"In recipe {recipe} all messages live {lifetime_ms:g} ms ({colours} rounds): a deadline "
            "cannot end sooner, so give --deadline-ms none or a later one."
        )
    if not uniform and deadline_ms[1] > certain_ms:
        raise InputError(
            f"In recipe {recipe} messages live {lifetime_ms:g} ms ({colours} rounds) from the beginning of a round: a "
            f"deadline cannot end later, so give --deadline-ms none or at most {certain_ms:g} ms."
        )


def _hint(name: str, known: set[str]) -> str:
    close = difflib.get_close_matches(name, sorted(known), n=3)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def parse_mix(text: str) -> dict[str, float]:
    """
    >>> parse_mix("causal=3,none=1")
    {'causal': 0.75, 'none': 0.25}
    """
    shares: dict[str, float] = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        order, _, share = part.partition("=")
        try:
            shares[order] = float(share)
        except ValueError:
            shares[order] = math.nan
        if order not in ORDERS or not 0.0 < shares[order] < math.inf:
            raise InputError(f"mix has {part!r}: write causal=0.6,fifo=0.3,none=0.1 (shares above 0).")
    total = sum(shares.values())
    return {order: share / total for order, share in shares.items()}


def parse_perturb(text: str) -> tuple[str, float]:
    """Which of the three readings of 004 Fig 6, and the rate; ("", 0.0) where there is none.

    >>> parse_perturb("some:0.3")
    ('some', 0.3)
    """
    if not text:
        return "", 0.0
    reading, _, share = text.partition(":")
    try:
        rate = float(share)
    except ValueError:
        rate = math.nan
    if reading not in ("one", "some", "all") or not 0.0 < rate < 1.0:
        raise InputError(f"perturb is {text!r}: write one:0.3, some:0.3 or all:0.3 (a share between 0 and 1).")
    return reading, rate


def find_recipe(name: str) -> RecipeFacts:
    from antecede.core.recipes import RECIPES, recipe_named

    try:
        return recipe_named(name) if "+" in name else RECIPES[name]
    except KeyError:
        known = f"; there are {', '.join(sorted(RECIPES))}; one of yours needs --plugin FILE"
        hint = _hint(name, set(RECIPES)) or known
        raise InputError(f"There is no recipe {name!r}{hint}.") from None
