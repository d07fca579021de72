"""Happened-before from rows, against an even dumber definition: sets, closed until nothing changes."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antecede.errors import InputError
from antecede.trace.check import check
from antecede.trace.history import History, bits
from antecede.trace.record import Recorder, Row
from tests.trace.tables import rows


def ancestors(history: History, name: str) -> set[str]:
    return {history.messages[i].id for i in bits(history.messages[history.index[name]].ancestors)}


def test_everything_delivered_so_far_is_a_cause() -> None:
    history = History(rows("p 0 publish p:1 G\nq 1 deliver p:1\nq 2 publish q:1 G\nq 3 publish q:2 G"))
    assert ancestors(history, "q:1") == {"p:1"}
    assert ancestors(history, "q:2") == {"p:1", "q:1"}


def test_after_narrows_the_causes_to_what_it_names_and_ones_own_previous() -> None:
    seen = "p 0 publish p:1 G\no 0 publish o:1 G\nq 1 deliver p:1\nq 1 deliver o:1\n"
    history = History(rows(seen + "q 2 publish q:1 G after=o:1\nq 3 publish q:2 G after="))
    assert ancestors(history, "q:1") == {"o:1"}
    assert ancestors(history, "q:2") == {"o:1", "q:1"}


def test_clocks_do_not_matter() -> None:
    history = History(rows("p 900 publish p:1 G\nq 1 deliver p:1\nq 2 publish q:1 G"))
    assert ancestors(history, "q:1") == {"p:1"}


def test_an_incarnation_is_another_sender() -> None:
    history = History(rows("p 0 publish p:1 G\np 1 crash\np.1 2 restart\np.1 3 publish p.1:1 G"))
    assert ancestors(history, "p.1:1") == set()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("p 0 deliver q:1\np 1 publish p:1 G\nq 0 deliver p:1\nq 1 publish q:1 G", "its own cause"),
        ("p 0 publish p:1 G after=p:2\np 1 publish p:2 G", "its own cause"),
        ("", "hold no row"),
    ],
)
def test_records_that_cannot_be(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        History(rows(text))


def test_steps_must_run_from_zero() -> None:
    one, two, three = rows("p 0 publish p:1 G\np 1 publish p:2 G\np 2 end quiet")
    with pytest.raises(InputError, match="process p: step 2 comes after step 0"):
        History([one, three])
    with pytest.raises(InputError, match="step 1 comes twice: two processes called p ran at once"):
        History([one, two, two])
    with pytest.raises(InputError, match="process p: step 0 comes twice: two clients called p ran at once"):
        History([one._replace(role="subscriber"), one._replace(role="subscriber")])
    with pytest.raises(InputError, match="2 runs"):
        History([one, two._replace(run="other")])


def test_a_row_must_be_of_a_known_kind_and_name_its_message() -> None:
    one, *_ = rows("p 0 publish p:1 G")
    with pytest.raises(InputError, match="process p, step 0: there is no kind of row called 'publsih'"):
        History([one._replace(kind="publsih")])
    with pytest.raises(InputError, match="process p, step 0: deliver names no message"):
        History([one._replace(kind="deliver", message=None)])


def test_an_id_published_twice_is_not_explained() -> None:
    history = History(rows("p 0 publish p:1 G\nq 0 publish p:1 G"))
    assert [(f.verdict, f.message) for f in history.findings] == [("unexplained", "p:1")]
    history = History(rows("p 0 publish p:1 G after=x:7"))
    assert [(f.verdict, f.message) for f in history.findings] == [("unexplained", "p:1")]


# --- the dumb twin ---------------------------------------------------------------------------------------------------


def random_run(seed: int, size: int) -> list[Row]:
    """Any order of deliveries at all, most of them wrong; sometimes narrowed causes."""
    dice = random.Random(seed)
    recorder = Recorder("random")
    names = ["p", "q", "r"]
    for name in names:
        recorder.row(name, "member", 0, "join", groups=("G",))
    sent: list[str] = []
    seen: dict[str, list[str]] = {name: [] for name in names}
    for now in range(1, size):
        name = dice.choice(names)
        missing = [m for m in sent if m not in seen[name]]
        if missing and dice.random() < 0.7:
            message = dice.choice(missing)
            recorder.row(name, "member", now, "arrive", message, peer="?")
            recorder.row(name, "member", now, "deliver", message, reason="causes")
            seen[name].append(message)
        else:
            after = None
            if dice.random() < 0.4:
                after = tuple(dice.sample(seen[name], dice.randrange(len(seen[name]) + 1)))
            message = f"{name}:{now}"
            recorder.row(name, "member", now, "publish", message, ("G",), after=after)
            sent.append(message)
            seen[name].append(message)
    return [Row._make(r) for r in recorder.rows]


def dumb_inversions(run: list[Row]) -> set[tuple[str, str]]:
    before: set[tuple[str, str]] = set()
    order: dict[str, list[str]] = {}
    for row in run:
        if row.kind == "publish" and row.message:
            mine = order.setdefault(row.process, [])
            own = [m for m in mine if m.startswith(row.process + ":")]
            causes = list(mine if row.after is None else row.after) + own[-1:]
            before |= {(cause, row.message) for cause in causes}
            mine.append(row.message)
        elif row.kind == "deliver" and row.message:
            order.setdefault(row.process, []).append(row.message)
    while True:
        more = {(a, d) for a, b in before for c, d in before if b == c} - before
        if not more:
            break
        before |= more
    return {
        (process, m)
        for process, mine in order.items()
        for place, m in enumerate(mine)
        if any((m, earlier) in before for earlier in mine[:place])
    }


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 26))
def test_inversions_agree_with_the_dumb_twin(seed: int, size: int) -> None:
    run = random_run(seed, size)
    found = {(f.process, f.message) for f in check(run).findings if f.verdict == "inversion"}
    assert found == dumb_inversions(run)


def test_an_unordered_message_follows_nothing_and_nothing_follows_it() -> None:
    text = """
    p 0 publish p:1 G1
    p 1 publish p~:1 G1 after=-
    p 2 publish p:2 G1
    q 3 deliver p~:1
    q 4 publish q:1 G1
    q 5 deliver p:2
    q 6 publish q:2 G1 after=p~:1
    q 7 publish q~:1 G1 after=-
    q 8 publish q~:2 G1 after=-
    """
    history = History(rows(text))
    told = {message.id: message for message in history.messages}

    def causes(name: str) -> list[str]:
        return [history.messages[i].id for i in bits(told[name].ancestors)]

    assert causes("p~:1") == causes("q~:2") == causes("q:1") == []
    assert causes("p:2") == ["p:1"], "what is unordered is no cause of its sender's next message"
    assert causes("q:2") == ["q:1"], "nor of one that names it"
    assert {history.messages[i].id for i in bits(history.unordered)} == {"p~:1", "q~:1", "q~:2"}
    assert history.closure(["q~:2"]) == told["q~:1"].bit | told["q~:2"].bit, "a cut that names one hides the earlier"
    assert history.closure(["p:2"]) == told["p:1"].bit | told["p:2"].bit


def test_fifo_is_to_declare_no_causes_and_keeps_the_order_of_its_sender() -> None:
    text = """
    q 0 publish q:1 G1
    p 1 deliver q:1
    p 2 publish p:1 G1 after=
    p 3 publish p:2 G1
    p 4 publish p:3 G1 after=
    """
    history = History(rows(text))
    ancestors = {told.id: {history.messages[i].id for i in bits(told.ancestors)} for told in history.messages}
    assert ancestors["p:1"] == set()
    assert ancestors["p:2"] == {"q:1", "p:1"}
    assert ancestors["p:3"] == {"q:1", "p:1", "p:2"}, "what its sender's earlier ones waited for is waited for too"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("r 20 discard p:1 whatever", "discard never has the reason 'whatever'"),
        ("r 20 deliver p:1 late", "deliver never has the reason 'late'"),
        ("r 20 end idle", "end never has the reason 'idle'"),
        ("r 20 end quiet\nr 30 arrive p:1 from=p", "arrive comes after end"),
        ("r 20 end quiet\nr 30 end quiet", "end comes after end"),
        ("r 20 crash\nr 30 arrive p:1 from=p", "arrive comes after crash"),
        ("r 20 end stopped\nr 30 restart", "restart comes after end"),
        ("r 5 join G1 from=r cut=p:1", "it joins at itself"),
    ],
)
def test_what_no_process_can_say_is_bad_input(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=f"process r, step .: {sentence}"):
        History(rows(f"p 0 join G1\np 10 publish p:1 G1\nr 0 join G1\n{text}"))


def test_a_process_has_one_known_role() -> None:
    run = rows("r 0 join G1\nr 20 end quiet")
    with pytest.raises(InputError, match="process r has the role 'zebra'"):
        History([row._replace(role="zebra") for row in run])
    with pytest.raises(InputError, match="step 1: the role is 'broker' and was 'member'"):
        History([run[0], run[1]._replace(role="broker")])


def test_a_cut_may_count_what_a_broker_let_go_of() -> None:
    history = History(
        rows("p 0 publish p:1 G\np 1 publish p:2 G\nB 2 deliver p:1\nB 3 deliver p:2\nB 4 collect p:2\nB 5 collect p:1")
    )
    first, second = (1 << history.index[name] for name in ("p:1", "p:2"))
    assert history.closure(["B@:1"]) == second, "that one alone, not its past"
    assert history.closure(["B@:2"]) == first | second and history.closure(["B@:0"]) == 0
    assert history.let_go("B@:3") is None and history.let_go("B:1") is None and history.let_go("X@:1") is None
