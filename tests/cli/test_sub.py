"""`antecede sub`: what it prints of a message and of what was left out."""

from __future__ import annotations

import base64
import json

import pytest

from antecede.cli.sub import Telling, as_line, as_text, left_out
from antecede.live.inbox import Fate
from antecede.live.message import Message
from tests.cli.processes import antecede, cluster, running


def test_a_message_as_text_and_as_json() -> None:
    message = Message(
        "ann:1", "room/1", b"h\xffi", "ann", 1_700_000_000_000_000, None, {"k": "v"}, lambda _: ("bob:2",)
    )
    assert as_text(message) == "room/1  ann  h\ufffdi"
    line = json.loads(as_line(message))
    assert line["id"] == "ann:1" and line["sent_at"] == "2023-11-14T22:13:20+00:00" and line["deadline"] is None
    assert line["causes"] == ["bob:2"] and line["missing"] == [] and line["headers"] == {"k": "v"}
    assert base64.b64decode(line["payload_base64"]) == b"h\xffi" and line["payload"] == "h\ufffdi"
    assert "payload_base64" not in json.loads(as_line(Message("ann:1", "t", b"\xc3\xa9", "ann", None, None)))


def test_what_was_left_out_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    left_out(Fate("ann:1", "late", ("bob:2", "bob:3")))
    left_out(Fate("ann:2", "overflow"))
    left_out(Fate("", "overflow", (), 8))
    left_out(Fate("ann:3", "delivered", ("bob:2",)))
    tell = Telling()
    for state, broker in (("connected", "A"), ("away", "A"), ("connected", "C")):
        tell(state, broker)
    assert capsys.readouterr().err.splitlines() == [
        "ann:1 was late, for want of bob:2, bob:3",
        "ann:2 was overflow",
        "8 messages were overflow at the home broker",
        "ann:3 was delivered without bob:2",
        "The connection to A is lost: looking for another broker.",
        "Connected to C now.",
    ]
    assert Fate("ann:1", "late", ("bob:2", "bob:3")).blocked_by == ("bob",)


def test_a_star_in_a_filter_is_said_to_be_none() -> None:
    with cluster(1) as (_, told), running("sub", "room/*", "--at", told["addresses"][0]) as sub:
        assert sub.stderr is not None
        assert (
            sub.stderr.readline() == "In 'room/*' * is a star and no wildcard: + is one level, # all that are left.\n"
        )


def test_to_wait_for_no_message_is_refused() -> None:
    done = antecede("sub", "room/#", "--count", "0")
    assert done.returncode == 2 and "--count is how many messages to wait for, 1 or more, not 0." in done.stderr
