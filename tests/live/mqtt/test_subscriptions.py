"""What the filters of one session say together about a topic."""

from __future__ import annotations

import mqtt5

from antecede.core.message import Message
from antecede.live.message import pack_content
from antecede.live.mqtt.mapping import Told, told
from antecede.live.mqtt.subscriptions import Subscription, Subscriptions, Wanted, refusal_of


def about(topic: str, body: bytes = b"", **headers: str) -> Told:
    return told(Message("a", 1, (topic,), pack_content(body, headers, 1)))


def test_all_filters_that_match_speak_together() -> None:
    mine = Subscriptions()
    assert mine.wanted(about("a/b")) is None
    assert mine.add(Subscription("a/#", 1, no_local=True, identifier=3))
    assert mine.add(Subscription("+/b", 2, as_published=True, identifier=4))
    assert mine.wanted(about("a/b")) == Wanted(2, True, True, (3, 4))
    assert mine.wanted(about("a")) == Wanted(1, False, False, (3,))
    assert not mine.add(Subscription("a/#", 0))  # again: its options are new
    assert mine.wanted(about("a")) == Wanted(0, False, True, ())
    assert mine.remove("a/#") and not mine.remove("a/#")
    assert mine.wanted(about("a")) is None and mine.filters == ("+/b",) and len(mine) == 1 and mine.any_own


def test_a_filter_that_selects_counts_where_its_predicate_holds() -> None:
    mine = Subscriptions()
    mine.add(Subscription("a", 2, identifier=1, where="temp > 20"))
    assert mine.filters == ("a#?temp > 20",)
    assert mine.wanted(about("a", temp="19")) is None
    assert mine.wanted(about("a", temp="21")) == Wanted(2, False, True, (1,))
    mine.add(Subscription("+", 0, identifier=2))
    assert mine.wanted(about("a", temp="19")) == Wanted(0, False, True, (2,))


def test_what_no_session_may_have() -> None:
    assert refusal_of("$share/group/t") == mqtt5.SubAckReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED
    assert refusal_of("x" * 257) == mqtt5.SubAckReasonCode.TOPIC_FILTER_INVALID
    assert refusal_of("a/+/#") is None
