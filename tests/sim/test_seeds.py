"""Scenarios that once broke a promise, each kept as the seed it was found with and what it taught."""

from dataclasses import replace
from typing import Any

import pytest

from antecede.sim import run as running
from antecede.sim.draw import draw
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from antecede.trace.check import check

FOUND = [
    ("graph", 1, 306, "a message of several groups may be had from brokers of any of them"),
    ("graph", 1, 324, "when all brokers of a group are gone, newcomers begin behind what survivors delivered"),
    ("graph", 1, 379, "a newcomer takes over the whole context graph"),
    ("graph", 1, 398, "without the broker that says where to begin, the others are not asked for ever"),
    ("graph", 1, 700, "what a newcomer takes over it may wait for"),
    ("graph", 1, 950, "arrivals before a join say nothing of who had what"),
    ("graph", 7, 109, "nodes travel until stable for grace: a newcomer is not yet in view"),
    ("graph", 7, 338, "an expired message still carries order for a newcomer"),
    ("home", 1, 39, "a cut is the same however often a client asks to attach"),
    ("home", 1, 324, "two newcomers do not wait for each other"),
    ("home", 1, 396, "a request that outlives its sender attaches nobody"),
    ("home", 1, 671, "a newcomer is owed what its donor retains"),
    ("home", 1, 804, "where a client began goes with it to its next home"),
    ("home", 1, 834, "a stamp names several own predecessors where lost ones are given up"),
    ("home", 7, 6, "frames of an attachment that was never confirmed bind nobody"),
    ("home", 7, 24, "a message is given up in all its streams at once"),
    ("home", 7, 223, "a copy of an attachment that is over is not stuck"),
    ("home", 7, 293, "what is given up holds nothing up"),
    ("home", 2026, 2422, "what was lost with all brokers is named, also what came before it"),
    ("home-plain", 41003, 27, "the same, by a bare index"),
    ("cbcast", 1, 6, "what a broker gave up it says to its subscribers"),
    ("cbcast", 1, 9, "a cut is one broker's past, never a mixture"),
    ("cbcast", 1, 67, "after a move nobody is promised what it has long passed over"),
    ("cbcast", 7, 33, "brokers compare with brokers of other groups too"),
    ("cbcast", 7, 143, "giving up goes by message, not by stream"),
    ("cbcast", 11, 147, "what was wanted before a move is not asked for after it"),
    ("cbcast", 13, 55, "what only a stranger to the group once had is not asked for without a bound"),
    ("cbcast", 2026, 8, "a cut in one group is none in another"),
    ("cbcast", 7070, 66, "who has no broker that carries a group cannot say what is gone there"),
    ("solicit", 7, 440, "a newcomer begins behind what its donor delivered, not behind where its donor began"),
    ("solicit", 7, 588, "the same with deadlines"),
    ("home", 37, 1019, "what is sent again at an attachment may be lost in a quiet system too"),
    ("home", 37, 3597, "a sender that is not yet in view is not gone"),
    ("graph", 37, 4433, "without deadlines a move waits longer for its new broker to catch up"),
    ("graph", 31, 1947, "who cannot begin tells its brokers so"),
    ("graph", 31, 10002, "all who could have a message are asked before it is given up"),
    ("graph", 2026, 4449, "what a snapshot brings for others is not held"),
    ("graph", 2026, 7964, "where deadlines end the waiting, a lost group needs no cut"),
    ("colour", 11, 44, "a newcomer is told of places whose broker is gone for now"),
    ("colour", 11, 107, "the same, the other way round"),
    ("colour", 13, 399, "a cut does not reach into what waits for its round"),
    ("home", 51515, 8549, "what a home calls expired is judged by the client's own clock"),
    ("home", 51515, 9449, "what others said of a message is no outcome of its copies"),
    ("graph", 77001, 1158, "what a cut hides in one group stands for what is owed in another"),
]


@pytest.mark.parametrize(("recipe", "seed", "index", "lesson"), FOUND, ids=lambda value: str(value)[:40])
def test_what_was_found_stays_mended(recipe: str, seed: int, index: int, lesson: str) -> None:
    run = simulate(draw(seed, recipe, index, early=True))
    report = check(run.rows, scenario=run.body())
    assert report.clean, f"antecede simulate --recipe {recipe} --seed {seed} --draw {index}: {report.findings[:3]}"
    assert run.quiet, lesson


RESTLESS = Scenario(
    brokers=4, subscribers=4, groups="G1=A,B,C,D;G2=A,B,C,D;G3=A,B,C,D", homes=4, messages=150, rate=400,
    delay_ms=(1, 60), spike=0.15, grow=6.0, choice="one", reply=0.8,
)  # fmt: skip
"""Subscribers of several brokers that change what they want all the time, over a network that reorders."""


def before_churn(seed: int, recipe: str, index: int) -> Scenario:
    """As they were drawn when these were found."""
    drawn = draw(seed, recipe, index)
    split = draw(seed, recipe, index, early=True).partition
    return replace(drawn, join=0.0, leave=0.0, perturb="", membership="told", partition=split)


LONG = {"deadline_ms": None, "undated": 0.0, "messages": 400, "rate": 50.0, "crash": 0.4, "restart": 1.0}
"""So long that what everybody has is let go of, with brokers that come back empty."""
STORM: dict[str, Any] = {
    "deadline_ms": None,
    "undated": 0.0,
    "restart": 1.0,
    "loss": 0.1,
    "messages": 200,
    "partition": "",
}
"""With these, and more churn than is usually drawn, groups lose all their brokers and begin again."""
TEMPEST: dict[str, Any] = STORM | {
    "brokers": 4,
    "subscribers": 4,
    "rate": 20.0,
    "crash": 0.393,
    "restart": 0.5,
    "move": 2.766,
    "join": 0.569,
    "leave": 0.51,
    "grow": 5.0,
}
GROWING: list[tuple[Scenario, dict[str, Any], str]] = [
    (before_churn(9, "home", 16), {"grow": 4.0}, "another copy of what was not wanted is a repeat"),
    (before_churn(9, "home", 8), {"grow": 4.0}, "what a growth replays is owed, and nothing it has passed"),
    (before_churn(9, "home", 26), {"grow": 4.0}, "nothing of a group comes out before it is known where it begins"),
    (RESTLESS, {"recipe": "cbcast", "seed": 0}, "what was sent for other filters is not delivered"),
    (RESTLESS, {"recipe": "graph", "seed": 2, "move": 2.0}, "a new group begins behind all that was delivered"),
    (RESTLESS, {"recipe": "graph", "seed": 17}, "who changed what it wants listens to one broker only"),
    (
        RESTLESS,
        {"recipe": "pull", "seed": 1, "mix": "causal=0.5,none=0.5", "choice": "all"},
        "what was delivered unordered is not asked for in a new group",
    ),
    (before_churn(9, "home", 0), LONG, "a newcomer begins behind what its donor may have let go of"),
    (before_churn(9, "home", 1), LONG, "the same"),
    (before_churn(9, "home", 16), LONG, "and names only what that one had, of unordered messages too"),
    (before_churn(9, "graph", 2), LONG, "a newcomer knows the nodes of all it takes over"),
    (draw(60606, "solicit", 8053), {}, "who has only begun hands on where it began"),
    (draw(60606, "solicit", 8228), {}, "a newcomer whose contacts are all gone begins alone"),
    (draw(60606, "solicit", 435), {}, "nobody is asked again who lacks it, whoever offers what follows"),
    (draw(60606, "solicit", 3326), {}, "sides that have never heard of each other find each other"),
    (draw(424242, "solicit", 724), {}, "the same"),
    (draw(515151, "home", 1741), {}, "what a client has passed is not owed in a new group either"),
    (draw(515151, "home", 4299), {}, "nor what it was sent while it did not want it"),
    (draw(515151, "home", 2212), {}, "who sent what makes a client join answers for its order"),
    (draw(515151, "home", 3056), {}, "a number may stand for what is not wanted any more"),
    (draw(515151, "home", 8382), {}, "what was given up in one group is not waited for in another"),
    (draw(616161, "home", 9177), {}, "what is held stands before what was given up of the same sender"),
    (draw(717171, "home", 8720), {}, "of two sides that never met the weaker is told so, not refused"),
    (draw(717171, "home", 4041), {}, "what a client began behind is not owed where it has not come yet"),
    (draw(727272, "delta", 1940), {}, "who overslept does not call expired what is held"),
    (draw(727272, "delta", 42), {}, "the same"),
    (draw(868686, "graph", 688), {}, "what is gone takes with it, at subscribers too, what came before it"),
    (draw(868686, "psync", 1805), {}, "what was passed over once is not promised by a broker that lags"),
    (draw(878787, "cbcast", 1027), {}, "who attaches to a broker begins behind what that one began behind"),
    (draw(878787, "graph", 2977), {}, "what is in two groups is asked for in the one that has brokers left"),
    (draw(969696, "solicit", 2130), {}, "sides of a healed partition find each other before they give up"),
    (draw(676767, "solicit", 9271), {}, "what newcomers began behind is had from those beyond them"),
    (
        draw(7, "graph", 10),
        {"undated": 0.3},
        "an unordered one that has expired holds nobody back who has those after it",
    ),
    (draw(7, "home", 49), {"undated": 0.3}, "those who lack the same say so to each other"),
    (draw(7, "pull", 5), {"undated": 0.3}, "what its broker passed at a deadline a subscriber does not call gone"),
    (draw(7, "pull", 49), {"undated": 0.3}, "what an expired one names is asked for, too"),
    (draw(8, "pull", 49), {"undated": 0.3}, "an unknown one may have followed what a known one followed"),
    (draw(9, "graph", 147), {"undated": 0.3}, "what stands before a lost one in its other streams comes first"),
    (draw(9, "home", 98), {"undated": 0.3}, "what was passed over at its home gets to others from its client"),
    (
        draw(7, "cbcast", 501, harsh=True),
        {},
        "who begins behind a message begins behind what precedes it, wherever it is kept",
    ),
    (draw(12, "home", 81, harsh=True), {}, "the same"),
    (draw(202020, "home", 299), {}, "held when its client moved, and then superseded"),
    (draw(515151, "home", 654), {}, "the same, superseded at its new home"),
    (draw(101010, "solicit", 4360), {}, "who began behind a message says that it cannot be had there"),
    (draw(616161, "graph", 1949), {"undated": 0.3}, "who is reached again is a place to go to"),
    (draw(919191, "graph", 6199), {}, "what has expired everywhere is not named to who begins now"),
    (draw(616161, "graph", 1000), {"undated": 0.3}, "the same, when its header comes after it was forgotten"),
    (
        draw(1, "graph", 159),
        TEMPEST | {"seed": 4510069941199249},
        "a group that was lost begins behind what its donor began behind itself",
    ),
    (
        draw(1, "graph", 159),
        TEMPEST | {"seed": 4510069941199332},
        "where there are subscribers there were brokers, and others may have come",
    ),
    (
        draw(1, "graph", 159),
        TEMPEST | {"seed": 4510069941199300},
        "who begins now begins behind what its donor gave up and forgot",
    ),
    (
        draw(1, "graph", 351),
        STORM
        | {
            "brokers": 4,
            "subscribers": 10,
            "rate": 100.0,
            "crash": 0.305,
            "move": 1.402,
            "join": 1.253,
            "leave": 0.811,
            "grow": 5.0,
        },
        "what lies behind in one group is not said of another",
    ),
    (
        draw(1, "graph", 167),
        STORM
        | {
            "brokers": 6,
            "subscribers": 6,
            "messages": 40,
            "rate": 20.0,
            "crash": 0.268,
            "move": 2.064,
            "join": 1.3,
            "leave": 0.625,
            "grow": 2.0,
        },
        "who slept while it was to move goes where all it wants now is carried",
    ),
    (
        draw(1, "home", 3),
        STORM
        | {
            "subscribers": 4,
            "messages": 100,
            "rate": 100.0,
            "crash": 0.486,
            "move": 1.965,
            "join": 1.04,
            "leave": 0.659,
            "grow": 5.0,
        },
        "what is published through a broker that is joining is kept",
    ),
    (
        draw(1, "home", 329),
        STORM
        | {
            "brokers": 6,
            "subscribers": 10,
            "messages": 100,
            "rate": 20.0,
            "crash": 0.314,
            "restart": 0.5,
            "move": 2.534,
            "join": 0.763,
            "leave": 0.964,
        },
        "what a client began behind in one group is owed in another",
    ),
    (
        draw(1, "home", 551),
        STORM
        | {
            "brokers": 5,
            "subscribers": 6,
            "rate": 50.0,
            "loss": 0.3,
            "crash": 0.401,
            "move": 2.208,
            "join": 1.308,
            "leave": 0.506,
            "grow": 2.0,
        },
        "a donor that has left meanwhile carried what it carried",
    ),
    (draw(2, "graph", 134, harsh=True), {}, "the same where it finds its place by itself"),
    (draw(2, "graph", 254, harsh=True), {}, "a good-bye tells a newcomer nothing of who is there"),
    (draw(1, "graph", 204, harsh=True), {}, "what is lacking here is not stable, whoever had it once"),
    (draw(1, "graph", 206, harsh=True), {}, "who finds all gone waits a while for others"),
    (draw(1, "home", 547, harsh=True), {}, "what is given up is asked for in no stream"),
    (draw(1, "home", 585, harsh=True), {}, "the same"),
    (draw(1, "colour", 42, harsh=True), {}, "what went before a place was known precedes what it is sent"),
    (draw(3, "psync", 43, harsh=True), {}, "any donor that has had it all is witness to where a group begins"),
    (draw(3, "graph", 232, harsh=True), {}, "who slept while it was to move goes where somebody is"),
    (draw(2, "home", 495, harsh=True), {}, "what a client began behind in a group it left is owed in a new one"),
    (draw(2, "solicit", 105, harsh=True), {}, "each number is given up by itself where it stands for a message"),
    (draw(929292, "home", 2361), {}, "what came by an earlier number and is gone now has a number too"),
    (draw(5, "home", 132, harsh=True), {}, "what is published again and again through a joining broker is kept once"),
    (draw(5, "colour", 1, harsh=True), {}, "ones own previous message precedes at places met since, too"),
    (draw(5, "colour", 45, harsh=True), {}, "what its sender did not know goes here follows what it follows elsewhere"),
    (draw(1, "psync", 32, harsh=True), {}, "a snapshot that covers nothing new may hold what is nowhere else"),
    (draw(909090, "graph", 9299), {}, "what one donor has forgotten is not taken over from another"),
    (draw(898989, "cbcast", 1240), {}, "and nothing that its broker has, by whatever group"),
    (draw(898989, "cbcast", 1052), {}, "the same"),
    (draw(8181, "psync", 296), {}, "a sender that was never seen is waited for once, however much it lost"),
    (draw(424242, "solicit", 3579), {}, "with local views a newcomer is compared by all, until it is in step"),
    (draw(303030, "solicit", 5837), {}, "and until it has been asked for all that it alone keeps"),
    (draw(717171, "graph", 1585), {"undated": 0.3}, "a lost group begins behind what was forgotten of it"),
    (draw(717171, "home", 49), {}, "what was not wanted in between begins when it is wanted again"),
    (draw(717171, "home", 849), {"undated": 0.3}, "what lay behind where one group began is owed in another"),
    (draw(575757, "graph", 9201), {}, "behind in one of its groups it lies behind in all"),
    (draw(575757, "home", 1649), {}, "nothing is delivered for a group that has not begun"),
    (draw(575757, "home", 9364), {}, "what its home passed over is asked for in its other groups"),
    (draw(626262, "home", 4092), {}, "what may have been overtaken in another group is not called gone"),
    (draw(636363, "home", 4922), {}, "what its home passed over can be had there, though its client is gone"),
    (draw(595959, "home", 1573), {}, "and its home says that it cannot be had there"),
    (draw(585858, "home", 897), {}, "a header is no copy"),
    (draw(535353, "graph", 9669), {}, "somebody may have it by another of its groups"),
    (draw(535353, "graph", 5012), {}, "what stands before those that go with a lost one comes first"),
    (draw(525252, "graph", 1011), {}, "what was sent after an unordered one is not as lasting"),
    (draw(525252, "home", 949), {}, "who joins may name what it has itself discarded"),
    (draw(515151, "home", 822), {}, "nothing is called gone after what is sent of the same sender"),
    (draw(313131, "home", 1499), {}, "no home sends what was late here already"),
    (draw(313131, "home", 2475), {}, "what an expired publication names is asked for, too"),
]


@pytest.mark.parametrize(("scenario", "knobs", "lesson"), GROWING, ids=lambda value: str(value)[:40])
def test_what_was_found_since_stays_mended(scenario: Scenario, knobs: dict[str, Any], lesson: str) -> None:
    run = simulate(replace(scenario, **knobs))
    report = check(run.rows, scenario=run.body())
    assert report.clean and run.quiet, f"{lesson}: {report.findings[:3]}"


def test_who_has_no_broker_for_a_group_calls_nothing_of_it_gone() -> None:
    """Two subscribers of three groups whose only broker for all of them left: they wait for another one to come."""
    run = simulate(draw(858585, "cbcast", 1703))
    assert check(run.rows, scenario=run.body()).clean and running.RESTLESS not in run.notes


def test_a_clock_that_leaps_too_far_keeps_nobody_asking_for_ever() -> None:
    """Beyond the guard nothing is promised of deadlines; that a run ends, and in order, is."""
    scenario = replace(draw(2026, "home", 5, early=True), skew_ms=0.0, jump_ms=300.0, guard_ms=0.0)
    run = simulate(scenario)
    assert run.quiet
    verdicts = {finding.verdict for finding in check(run.rows, scenario=run.body()).findings}
    assert verdicts <= {"overdue", "stuck", "gap", "false"}
