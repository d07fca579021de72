"""Rights: filters decide, names belong to tokens, and replies find their way."""

from __future__ import annotations

from antecede.live.keys.rights import Rights, claimed

ANN = Rights(id="1", name="ann", publish=("room/#",), subscribe=("room/+", "alerts"), expires_s=9)


def test_a_topic_needs_a_filter_that_matches_and_a_filter_one_that_covers() -> None:
    assert ANN.may_publish("room/1") and not ANN.may_publish("hall/1") and not ANN.may_publish("$SYS")
    assert ANN.may_subscribe("room/+", "ann") and ANN.may_subscribe("alerts", "ann")
    assert not ANN.may_subscribe("room/#", "ann") and not ANN.may_subscribe("#", "ann")
    assert "'hall'" in ANN.why_not_publish("hall") and "room/#" in ANN.why_not_publish("hall")
    assert "'#'" in ANN.why_not_subscribe("#", "ann") and "room/+, alerts" in ANN.why_not_subscribe("#", "ann")
    assert ANN.why_not_publish("room/1") == ANN.why_not_subscribe("alerts", "ann") == ANN.why_not_called("ann") == ""


def test_names_belong_to_their_token() -> None:
    for name in ("ann", "ann.3", "ann-7", "ann-7.2"):
        assert ANN.may_be_called(name)
    for name in ("bob", "anna", "an", "bob-ann"):
        assert not ANN.may_be_called(name)
        assert name in ANN.why_not_called(name)


def test_replies_go_to_whoever_asked_and_come_from_whoever_may_publish() -> None:
    assert ANN.may_subscribe("$reply/ann/+", "ann") and not ANN.may_subscribe("$reply/bob/+", "ann")
    assert not ANN.may_subscribe("$reply/#", "ann") and not ANN.may_subscribe("$reply/+/1", "ann")
    assert ANN.may_subscribe("$reply/ann/+", "ann.2") and ANN.may_subscribe("$reply/ann.1/+", "ann.2")
    assert not ANN.may_subscribe("$reply/ann.3/+", "ann.2") and not ANN.may_subscribe("$reply/ann-7/+", "ann.2")
    assert ANN.may_publish("$reply/bob/1")
    assert not Rights(id="2", name="mute", subscribe=("#",), expires_s=9).may_publish("$reply/bob/1")


def test_what_is_no_token_claims_nothing() -> None:
    for text in ("", "a.b", "a.b.c", "ant1.e30.x", "ant1.\xff.x"):
        assert claimed(text) is None
