"""A space-time diagram: every step that matters is a line, drawn where it happened, and findings are marked."""

from __future__ import annotations

from antecede.trace.check import check
from antecede.trace.diagram import ASCII, BOX, draw
from tests.trace.tables import rows

INVERTED = """
p 0 join G1
q 0 join G1
r 0 join G1
p 1000 publish p:1 G1
q 3000 arrive p:1 from=p
q 3000 deliver p:1
q 4000 publish q:1 G1
r 5000 arrive q:1 from=q
r 5000 deliver q:1
p 6000 arrive q:1 from=q
p 6000 deliver q:1
r 7000 ask p:1 from=q
r 9000 arrive p:1 from=q
r 9000 deliver p:1
r 9500 arrive p:1 from=p
r 9500 discard p:1 duplicate
p 9900 end quiet
q 9900 end quiet
r 9900 end quiet
"""


def test_one_line_per_step_that_matters() -> None:
    picture = draw(rows(INVERTED), names={"p": "Pat"}, labels={"p:1": "Q"}, texts={"p:1": "well?"}, signs=ASCII)
    assert list(picture.render()) == [
        " line    ms  Pat       q        r",
        "    1     0   + Q      |        |     Pat: well?",
        "    2     2   |---Q--->*        |",
        "    3     3   |        + q:1    |     publishes q:1",
        "    4     4   |        |--q:1-->*",
        "    5     5   *<--q:1--|        |",
        "    6     6   |        |<..Q?...|     asks q for Q",
        "    7     8   |        |---Q--->*",
    ]
    assert picture.legend() == "+ said, * seen, ... asked for"


def test_findings_mark_their_line() -> None:
    picture = draw(rows(INVERTED), findings=check(rows(INVERTED)).findings)
    marked = {line.number: picture.note(line) for line in picture.lines if line.findings}
    assert marked == {4: "q:1 without p:1!", 7: "p:1 after q:1!"}
    inked = list(picture.render(ink=True))
    assert [text.startswith("\x1b[1;31m") for text in inked] == [n in marked for n in range(len(inked))]
    assert not any("\x1b" in text for text in picture.render())


def test_what_comes_together_goes_out_in_the_order_in_which_it_does() -> None:
    answered = """
p 0 join G1
r 0 join G1
p 1000 publish p:1 G1
p 2000 publish p:2 G1
r 9000 arrive p:1 from=p
r 9000 arrive p:2 from=p
r 9000 deliver p:1
r 9000 deliver p:2
p 9900 end quiet
r 9900 end quiet
"""
    lines = draw(rows(answered)).lines
    assert [(line.message, line.sign) for line in lines if line.process == "r"] == [
        ("p:1", "hold"), ("p:2", "hold"), ("p:1", "deliver"), ("p:2", "deliver")
    ]  # fmt: skip


def test_what_is_held_and_what_is_left_out() -> None:
    late = """
p 0 join G1
r 0 join G1
p 1000 publish p:1 G1 due=5
p 2000 publish p:2 G1 due=9
r 4000 arrive p:2 from=p
r 5000 deliver p:2 deadline
r 6000 arrive p:1 from=p
r 6000 discard p:1 late
r 7000 arrive p:1 from=p
r 7000 discard p:1 duplicate
"""
    picture = draw(rows(late), signs=BOX)
    assert [(line.sign, picture.note(line)) for line in picture.lines[2:]] == [
        ("hold", "p:2 is held"),
        ("deliver", "p:2, at its deadline"),
        ("discard", "p:1 is left out: late"),
    ]
    assert picture.of("r", "hold", "discard") == [3, 5]
    assert "○ has come, is not shown yet" in picture.legend() and "× left out" in picture.legend()


def test_only_the_lanes_that_are_asked_for() -> None:
    picture = draw(rows(INVERTED), lanes=["r", "p"])
    assert {line.process for line in picture.lines} == {"r", "p"}
    assert all("q" not in text.split() for text in list(picture.render())[:1])
    assert list(draw([]).render()) == []
