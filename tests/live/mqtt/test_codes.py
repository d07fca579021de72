"""The codec's names for numbers, and what is named where there is none."""

from __future__ import annotations

import mqtt5
import pytest

from antecede.live.mqtt.codes import QOS, named


def test_every_number_has_its_name() -> None:
    assert [int(one) for one in QOS] == [0, 1, 2]
    assert named(mqtt5.SubAckReasonCode, 0x9E) == mqtt5.SubAckReasonCode.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED
    assert named(mqtt5.ConnAckReasonCode, 0x8F, otherwise=0x80) == mqtt5.ConnAckReasonCode.UNSPECIFIED_ERROR
    with pytest.raises(KeyError):
        named(mqtt5.PubAckReasonCode, 0x8F)
