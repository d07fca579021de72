"""The kernel of causal_order against its slow twin and against the core's Inbox."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from antecede.core.deadline.inbox import Inbox
from antecede.core.effects import Deliver, Discard, Effect
from antecede.core.message import Envelope, Message, Stamp
from antecede.core.order.reader import Reader
from antecede.spark.order.behind import NEVER, Rules
from antecede.spark.order.domain import FATES, REASONS, Domain
from antecede.wire import freeze, thaw
from tests.spark.order.tables import history
from tests.spark.order.twin import Line, Outcome, Twin


def outcomes(domain: Domain) -> dict[int, Outcome]:
    first = domain.pos - len(domain.out)
    found = {}
    for k, slot in enumerate(domain.out):
        by, missing = domain.odd.get(slot, (0, []))
        found[slot] = Outcome("delivered", first + k, REASONS[by], tuple(missing))
    for slot, fate, revealed in domain.rest:
        assert slot not in found
        found[slot] = Outcome(FATES[fate], revealed=revealed)
    domain.out.clear()
    domain.odd.clear()
    domain.rest.clear()
    return found


def feed(domain: Domain, lines: list[Line], first: int = 0) -> None:
    domain.take(
        range(first, first + len(lines)),
        [line.name for line in lines],
        [line.other for line in lines],
        [line.needs for line in lines],
        [line.at for line in lines],
        [line.late for line in lines],
        [line.due for line in lines],
    )


def run(
    lines: list[Line], cuts: list[int] | None = None, *, numbered: bool = False, finish: bool = True, **rules: Any
) -> dict[int, Outcome]:
    """Through the kernel, saved and read back at every cut."""
    domain = Domain(Rules(numbered=numbered, **rules))
    found: dict[int, Outcome] = {}
    edges = sorted({0, *(cut % (len(lines) + 1) for cut in cuts or ()), len(lines)})
    for start, end in pairwise(edges):
        feed(domain, lines[start:end], start)
        found |= outcomes(domain)
        domain = Domain.thawed(domain.rules, thaw(freeze(domain.frozen())))
    if finish:
        domain.finish()
        found |= outcomes(domain)
        assert not domain.held and not domain.waiting and not domain._waits
    return found


SEEDS = range(1500)


def cuts_of(seed: int) -> list[int]:
    dice = Random(-seed)
    return [dice.randint(0, 20) for _ in range(dice.randint(0, 4))]


def same(lines: list[Line], seed: int, what: str, *, numbered: bool = False) -> None:
    found = run(lines, cuts_of(seed), numbered=numbered)
    wanted = Twin(lines, numbered=numbered).run()
    assert found == wanted, f"history({seed}, {what}): " + "; ".join(
        f"row {i}: {found.get(i)} but the twin {wanted.get(i)}"
        for i in sorted({*found, *wanted})
        if found.get(i) != wanted.get(i)
    )


def test_with_deadlines_the_kernel_is_its_twin_however_it_is_cut() -> None:
    for seed in SEEDS:
        same(history(seed), seed, "")


def test_numbered_the_kernel_is_its_twin_however_it_is_cut() -> None:
    for seed in SEEDS:
        same(history(seed, numbered=True), seed, "numbered=True", numbered=True)


def test_without_deadlines_the_kernel_is_its_twin_and_cycles_come_out() -> None:
    for seed in SEEDS:
        same(history(seed, timed=False, cyclic=True), seed, "timed=False, cyclic=True")


def test_with_deadlines_and_cycles_the_kernel_is_its_twin() -> None:
    for seed in SEEDS:
        same(history(seed, cyclic=True), seed, "cyclic=True")


# -- the core's Inbox ------------------------------------------------------------------------------------------------


def inbox_says(lines: list[Line], stamps: list[Stamp], *, dense: bool) -> dict[int, tuple[str, str]]:
    """Fate and reason of every row that the core's Inbox decides on, until all deadlines have passed."""
    effects: list[Effect] = []
    inbox = Inbox(Reader(lambda stream: True, dense=dense), effects, lambda *_: None, guard_us=0, memory_us=2**62)
    place: dict[str, int] = {}
    found: dict[int, tuple[str, str]] = {}
    now = -(2**63)

    def wake(until: int) -> None:
        while (due := inbox.next_due()) is not None and due < until:
            inbox.wake(due)
            note()

    def note(i: int | None = None) -> None:
        for effect in effects:
            if isinstance(effect, Deliver):
                found[place[effect.message.id]] = ("delivered", effect.reason)
            elif isinstance(effect, Discard):
                found[place[effect.message] if effect.reason != "duplicate" or i is None else i] = (effect.reason, "")
        effects.clear()

    for i, (line, stamp) in enumerate(zip(lines, stamps, strict=True)):
        if line.at > now:
            now = line.at
            wake(now)
        sender, _, n = (line.name or "").rpartition(":")
        message = Message(sender, int(n), ("t",), deadline_us=line.late if line.late < NEVER else None)
        place.setdefault(message.id, i)
        inbox.accept(Envelope(message, stamp), now)
        note(i)
    wake(2**62)
    return found


def compare(lines: list[Line], stamps: list[Stamp], seed: int, *, dense: bool) -> int:
    told = inbox_says(lines, stamps, dense=dense)
    ours = run(lines, cuts_of(seed), numbered=dense, finish=False)
    domain = Domain(Rules(numbered=dense))
    feed(domain, lines)
    domain._expire(NEVER)
    ours = outcomes(domain)
    assert {i: o.fate for i, o in ours.items()} == {i: fate for i, (fate, _) in told.items()}, seed
    for i, (_, reason) in told.items():
        assert reason in ("", ours[i].by) or (reason, ours[i].by) == ("causes", "deadline"), (seed, i)
    return len(told)


def test_with_vector_clocks_the_kernel_is_the_inbox() -> None:
    decided = 0
    for seed in range(600):
        dice = Random(seed)
        lines = [line for line in history(seed, numbered=True, closed=True) if line.name]
        stamps = []
        for line in lines:
            if dice.random() < 0.5:
                line.late = line.at + dice.randint(0, 8)
            line.due = line.late
            sender, _, n = line.name.rpartition(":")
            clock: dict[str, int] = {}
            for need in line.needs:
                other, _, k = need.rpartition(":")
                clock[other] = max(clock.get(other, 0), int(k))
            line.needs = [f"{name}:{k}" for name, k in clock.items()]
            stamps.append(Stamp(((sender, int(n)),), tuple(clock.items()), clock, rank=sum(clock.values())))
        decided += compare(lines, stamps, seed, dense=True)
    assert decided > 2000


def test_with_all_ancestors_named_the_kernel_is_the_inbox() -> None:
    for seed in range(600):
        lines = history(seed, closed=True)
        stamps = []
        for line in lines:
            line.name = f"{line.name}:1"
            line.due = line.late
            line.needs = [f"{need}:1" for need in dict.fromkeys(line.needs)]
            marks = tuple((need[:-2], 1) for need in line.needs)
            stamps.append(Stamp(((line.name[:-2], 1),), marks, dict(marks), rank=len(marks)))
        compare(lines, stamps, seed, dense=False)


# -- promises --------------------------------------------------------------------------------------------------------


def ancestors(lines: list[Line]) -> dict[str, set[str]]:
    direct: dict[str, list[str]] = {}
    for line in lines:
        direct.setdefault(line.name or "", line.needs)
    found: dict[str, set[str]] = {}
    for name in direct:
        stack, seen = list(direct[name]), set[str]()
        while stack:
            one = stack.pop()
            if one not in seen:
                seen.add(one)
                stack.extend(direct.get(one, ()))
        found[name] = seen
    return found


def test_without_deadlines_fates_do_not_depend_on_the_sequence_and_positions_extend_causality() -> None:
    for seed in range(600):
        lines = history(seed, timed=False)
        before = ancestors(lines)
        shuffled = list(lines)
        Random(seed).shuffle(shuffled)
        told = []
        for sequence in (lines, shuffled):
            found = run(sequence, cuts_of(seed))
            told.append(sorted((sequence[i].name, o.fate) for i, o in found.items()))
            place = {sequence[i].name: o.pos for i, o in found.items() if o.pos is not None}
            assert sorted(place.values()) == list(range(len(place)))
            for name, pos in place.items():
                assert all(place[other] < pos for other in before[name or ""] if other in place), (seed, name)
        assert told[0] == told[1], seed


def test_every_parent_of_a_delivered_row_is_delivered_before_it_or_is_missing() -> None:
    for seed in SEEDS:
        lines = history(seed)
        found = run(lines, cuts_of(seed))
        assert len(found) == len(lines)
        place = {lines[i].name: o.pos for i, o in found.items() if o.pos is not None}
        for i, outcome in found.items():
            if outcome.pos is not None:
                for need in set(lines[i].needs) - set(outcome.missing):
                    assert place[need] < outcome.pos, (seed, i)


def test_an_inversion_among_delivered_rows_is_counted_as_revealed() -> None:
    inverted = 0
    for seed in range(4000):
        lines = history(seed)
        found = run(lines)
        before = ancestors(lines)
        place = {lines[i].name: o.pos for i, o in found.items() if o.pos is not None}
        wrong = [(a, b) for b in place for a in before[b or ""] if a in place and place[a] > place[b]]
        inverted += bool(wrong)
        revealed = sum(o.revealed for o in found.values())
        assert bool(revealed) == bool(wrong), (seed, wrong, revealed)
    assert inverted > 3


def test_with_vectors_nothing_is_revealed() -> None:
    for seed in SEEDS:
        found = run(history(seed, numbered=True, closed=True), numbered=True)
        assert not any(outcome.revealed for outcome in found.values()), seed


# -- by example ------------------------------------------------------------------------------------------------------


def test_traps_and_figures() -> None:
    # H7: x1 -> x2 -> j; x1 lost, x2 late, j in time: j waits for x1.
    lines = [Line("x2", ["x1"], 10, late=5), Line("j", ["x2"], 11, late=20, due=20), Line("x1", [], 12, late=30)]
    found = run(lines)
    assert [found[i].fate for i in range(3)] == ["late", "delivered", "delivered"]
    assert (found[2].pos, found[1].pos, found[1].missing) == (0, 1, ("x2",))
    # ... or at j's deadline j alone, and x1 is past.
    lines[2] = Line("x1", [], 21, late=30)
    found = run(lines)
    assert (found[1].by, found[2].fate) == ("deadline", "superseded")
    # H7b: 2 -> 6 and 3 -> 4; 4 expires with 2 and 3 missing: only 3 becomes past.
    lines = [Line("6", ["2"], 1, 90, 90), Line("4", ["3"], 1, 5, 5), Line("2", [], 9, 90, 90), Line("3", [], 9, 90, 90)]
    found = run(lines)
    assert [found[i].fate for i in range(4)] == ["delivered", "delivered", "delivered", "superseded"]
    # T7 (004 Fig. 1): m1 -> m3 missing; at the logical deadline m2, m3, m4 in order; m1, coming later, is discarded.
    lines = [
        Line("m4", ["m3"], 1, 9, 9),
        Line("m3", ["m1", "m2"], 2, 50, 50),
        Line("m2", [], 3),
        Line("m1", [], 10, 60),
    ]
    found = run(lines)
    assert [found[i].pos for i in (2, 1, 0)] == [0, 1, 2] and found[1].by == "deadline" == found[0].by
    assert found[3].fate == "superseded"


def test_what_a_superseded_row_reveals_in_time_is_superseded_too() -> None:
    # a -> x -> b; b goes out at its deadline, then x comes and tells that a, still waiting, precedes b.
    lines = [Line("b", ["x"], 1, 5, 5), Line("a", ["y"], 2, 90, 90), Line("x", ["a"], 6, 90, 90), Line("y", [], 7)]
    found = run(lines)
    assert [found[i].fate for i in range(4)] == ["delivered", "superseded", "superseded", "superseded"]
    assert all(outcome.revealed == 0 for outcome in found.values())


def test_what_it_reveals_too_late_is_counted() -> None:
    lines = [Line("b", ["x"], 1, 5, 5), Line("a", [], 6), Line("x", ["a"], 7, 90, 90)]
    found = run(lines)
    assert (found[1].pos, found[2].fate, found[2].revealed) == (1, "superseded", 1)


def test_a_row_that_names_itself_and_rows_that_wait_for_each_other_are_cycles() -> None:
    lines = [Line("s", ["s"]), Line("a", ["b"]), Line("b", ["a"]), Line("c", ["b"]), Line(None), Line("s", [])]
    found = run(lines)
    assert [found[i].fate for i in range(6)] == ["cycle", "cycle", "cycle", "delivered", "invalid", "duplicate"]
    assert found[3].missing == ("b",)


def test_a_circle_that_waits_for_nothing_but_itself_comes_out_at_once() -> None:
    domain = Domain(Rules())
    feed(domain, [Line("a", ["b"]), Line("c", ["b"]), Line("b", ["a"]), Line("d", ["lost"])])
    found = outcomes(domain)
    assert {i: o.fate for i, o in found.items()} == {0: "cycle", 2: "cycle", 1: "delivered"}
    assert found[1].by == "skip" and domain.waiting == 1


def test_a_circle_that_also_waits_for_what_has_not_come_waits() -> None:
    domain = Domain(Rules())
    feed(domain, [Line("a", ["b", "x"]), Line("b", ["a", "y"])])
    feed(domain, [Line("x"), Line("c", ["b"])], 2)
    assert domain.waiting == 3
    feed(domain, [Line("y", ["z"]), Line("z")], 4)
    found = outcomes(domain)
    assert {i: o.fate for i, o in found.items() if o.fate != "delivered"} == {0: "cycle", 1: "cycle"}
    assert found[3].missing == ("b",) and not domain.waiting


def test_hope_costs_little_however_the_rows_come() -> None:
    """A history of which the root never comes, in orders that would tempt a search to walk it again and again."""
    size = 20_000
    chain = [Line(f"m{n}", [f"m{n - 1}"]) for n in range(size)]
    wide = [Line(f"m{n}", [f"m{n - 1}", f"m{n // 2 - 1}"]) for n in range(size)]
    for lines in (chain, chain[::-1], Random(1).sample(chain, size), Random(2).sample(wide, size)):
        domain = Domain(Rules())
        feed(domain, lines)
        assert domain.waiting == size


def test_at_most_so_many_rows_wait() -> None:
    for seed in range(300):
        domain = Domain(Rules(max_held=3))
        told = 0
        for i, line in enumerate(history(seed, timed=False, most=30)):
            feed(domain, [line], i)
            assert domain.waiting <= 3
            told += sum(outcome.by == "bound" for outcome in outcomes(domain).values())
    assert told


def test_a_second_name_is_as_good_as_the_first() -> None:
    lines = [Line("u2", ["a:1"], other="a:2"), Line("u1", [], other="a:1"), Line("v", ["u2"], other="b:1")]
    found = run(lines, numbered=True)
    assert [found[i].pos for i in (1, 0, 2)] == [0, 1, 2]
    # passed over under one name, it is superseded under the other
    lines = [Line("u2", ["a:1"], 1, 5, 5, other="a:2"), Line("u1", [], 9, other="a:1")]
    assert run(lines, numbered=True)[1].fate == "superseded"


# -- memory ----------------------------------------------------------------------------------------------------------


def test_what_lies_behind_is_forgotten_in_time() -> None:
    domain = Domain(Rules(remember_us=160))
    feed(domain, [Line(f"m{i}", [f"m{i - 1}"] if i else [], at=i) for i in range(10_000)])
    assert domain.pos == 10_000 and 160 <= len(domain.past) <= 190
    feed(domain, [Line("m9990", [], at=10_000), Line("n", ["m1"], at=10_000, due=10_001)], 10_000)
    found = outcomes(domain)
    assert found[10_000].fate == "duplicate" and domain.waiting == 1  # m1 is not known any more


def test_forgetting_does_not_depend_on_the_cuts() -> None:
    for seed in range(400):
        lines = history(seed, most=40)
        found = [run(lines, cuts, remember_us=16) for cuts in ([], cuts_of(seed), list(range(60)))]
        assert found[0] == found[1] == found[2], seed


def test_numbered_rows_are_known_to_lie_behind_after_they_were_forgotten() -> None:
    domain = Domain(Rules(numbered=True, remember_us=160))
    feed(domain, [Line(f"a:{i}", [f"a:{i - 1}"] if i > 1 else [], at=i) for i in range(1, 5000)])
    feed(domain, [Line("b:1", ["a:7"], at=5000), Line("a:7", ["a:6"], at=5000)], 4999)
    found = outcomes(domain)
    assert found[4999].by == "causes" and found[4999].missing == ()
    assert found[5000].fate == "late" and len(domain.past) < 200
