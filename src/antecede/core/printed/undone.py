"""One repair undone at a time: what each repair of a paper's protocol buys is what is lost without it.

Decided here: which repairs can be undone alone (`REPAIRS`), and which part stands in for the repaired one. All else is
the repaired machine, put together by `recipes.build`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Unpack

from antecede.core.machine import Machine
from antecede.core.order.graph import GraphWriter
from antecede.core.order.matrix import MatrixWriter
from antecede.core.order.reader import everything
from antecede.core.printed import pieces
from antecede.core.printed.colour import IntegerColours, PrintedMatrixWriter
from antecede.core.printed.rounds import RuleOneReader, WholeVectorWriter
from antecede.core.recipes import WITHOUT, Alter, Recipe, Who, as_they_are, build
from antecede.core.roles.carrier import Carrier
from antecede.core.roles.member import Member
from antecede.core.roles.receiver import Parts, Receiver
from antecede.core.roles.round_broker import RoundBroker
from antecede.errors import InputError

__all__ = ["REPAIRS", "Repair", "repairs_of", "undone"]


def _as_it_is(machine: Receiver) -> None:
    pass


class Repair(NamedTuple):
    says: str
    alter: Alter = as_they_are
    """What undoes it, before the machine is put together."""
    change: Callable[[Receiver], None] = _as_it_is
    """... or afterwards."""
    member: type[Member] = Member


# -- which part goes where ---------------------------------------------------------------------------------------------


def _writes(kind: Callable[[Parts], Any]) -> Alter:
    """Another writer, where there is one: members and brokers have, subscribers have not."""

    def alter(parts: Parts) -> Parts:
        return parts if parts.reads_only else parts._replace(writer=kind(parts))

    return alter


def _graph(kind: type[GraphWriter]) -> Alter:
    def made(parts: Parts) -> GraphWriter:
        settings = parts.settings
        return kind(
            parts.name, parts.interest, deadlines=settings.deadlines, slack_us=settings.slack_us,
            grace_us=settings.grace_us,
        )  # fmt: skip

    return _writes(made)


def _matrix(kind: Callable[..., MatrixWriter]) -> Alter:
    return _writes(lambda parts: kind(parts.name, parts.interest, _clock(parts.writer)))


def _clock(part: Any) -> Any:
    return part.clock


def _gapless(parts: Parts) -> Any:
    writer: Any = parts.writer
    return pieces.GaplessVector(parts.name, flat=writer.dense, chain=writer.chain)


def _forgetful(parts: Parts) -> Any:
    writer: Any = parts.writer
    forgets = pieces.ForgetfulVector(parts.name, flat=False, chain=writer.chain)
    forgets.mine = parts.interest
    return forgets


def _waits_for_all(parts: Parts) -> Parts:
    if not parts.reads_only:
        parts.reader.look_at(everything)
    return _graph(pieces.WaitingGraph)(parts)


class _NoOwnEntry(PrintedMatrixWriter):
    """RMB2 as printed; towards subscribers as repaired."""

    project = MatrixWriter.project


def _below(parts: Parts, **changed: Any) -> Parts:
    """Other parts for subscribers only."""
    return parts._replace(**changed) if parts.reads_only else parts


def _answers_below(machine: Receiver) -> None:
    assert isinstance(machine, Carrier)
    machine.answers = pieces.BelowAnswers(machine)


def _keeps_others(machine: Receiver) -> None:
    assert isinstance(machine, Carrier) and isinstance(machine.store, pieces.OthersStore)
    machine.store.own = machine.name


def _sums_nothing(machine: Receiver) -> None:
    if isinstance(machine, RoundBroker):
        machine.summed = 0


TURNS = Repair("whoever should have it is asked first, then the others in turn, as long as it helps",
               lambda parts: parts._replace(asking=pieces.OneAsk))  # fmt: skip
TAILS = Repair("peers compare each round, for nothing follows a last message that is lost",
               lambda parts: parts._replace(digests=False))  # fmt: skip
OWN_STREAM = Repair("a sender's own earlier messages are waited for", _writes(_gapless))
COLOUR = {
    "own-entry": Repair("the sender's own entry must be covered too", _matrix(_NoOwnEntry)),
    "before-send": Repair("a message carries the matrix as it was before it was sent", _matrix(pieces.LateMatrix)),
    "circle": Repair("colours are decoded to rounds, which go on, instead of compared as integers",
                     lambda parts: _below(parts, inbox=IntegerColours)),
    "predecessor": Repair("the colour that travels is of the newest predecessor", _matrix(pieces.OwnColour)),
    "summary": Repair("a digest says in which rounds there is something: a colour leads to one only",
                      change=_sums_nothing),
    "turns": TURNS,
}  # fmt: skip
REPAIRS: Mapping[str, Mapping[str, Repair]] = {
    "solicit": {
        "bound": Repair("an answer reaches up to the upper vector and includes it", change=_answers_below),
        "checks": Repair("answers pass through the same checks as everything else", member=pieces.TrustingMember),
        "own-stream": OWN_STREAM,
        "own-kept": Repair("a sender keeps what it sent, so that it can be asked for it",
                           lambda parts: parts._replace(store=pieces.OthersStore), _keeps_others),
        "turns": TURNS,
        "tails": TAILS,
    },
    "graph": {
        "addressed": Repair("a broker waits for ancestors that are for it, not for those that never come",
                            _waits_for_all),
        "projection": Repair("a subscriber is told the nearest predecessors for it, also behind those of other groups",
                             _graph(pieces.ImmediateGraph)),
        "each-sender": Repair("with deadlines the newest predecessor of each sender is named too",
                              _graph(pieces.NearGraph)),
        "edges": Repair("an expired message keeps its edges while anything before it lives",
                        _graph(pieces.EdgelessGraph)),
        "turns": TURNS,
        "tails": TAILS,
    },
    "pull": {
        "own-stream": OWN_STREAM,
        "foreign-groups": Repair("vectors of groups a broker is not in are merged too", _writes(_forgetful)),
        "turns": TURNS,
    },
    "rounds": {
        "skipped-rounds": Repair("what is named is needed, whatever rounds lie between",
                                 lambda parts: _below(parts, reader=RuleOneReader(_clock(parts.reader)))
                                 if parts.reads_only else parts),
        "projection": Repair("a subscriber is told the predecessor rounds of its own groups only",
                             _writes(lambda parts: WholeVectorWriter(parts.name, _clock(parts.writer)))),
        "greater-round": Repair("a message is of a greater round than all its sender has delivered",
                                _writes(lambda parts: pieces.CarelessRounds(parts.name, _clock(parts.writer)))),
        "turns": TURNS,
        "tails": TAILS,
    },
    "colour": COLOUR,
    "colour-eager": COLOUR,
}  # fmt: skip
"""Recipe -> repair."""


def repairs_of(recipe: str) -> Mapping[str, Repair]:
    return REPAIRS.get(recipe.partition("+")[0], {})


def undone(recipe: Recipe, reading: str, **who: Unpack[Who]) -> Machine:
    """`reading`: `without-REPAIR`."""
    repair = reading.removeprefix(WITHOUT)
    known = repairs_of(recipe.name)
    if repair not in known:
        has = f"it has {', '.join(known)}" if known else "only the papers' own protocols have any"
        raise InputError(f"Recipe {recipe.name!r} has no repair {repair!r} to undo; {has}.")
    chosen = known[repair]
    machine = build(recipe, "repaired", alter=chosen.alter, member=chosen.member, **who)
    assert isinstance(machine, Receiver)
    chosen.change(machine)
    return machine
