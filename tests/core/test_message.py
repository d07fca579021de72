"""Names of messages: they go there and back, and a sender's name may hold dots (incarnations)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from antecede.core.message import Message, make_id, split_id

SENDERS = st.text(st.characters(exclude_characters=":@", exclude_categories=["Cs"]), min_size=1)


@given(SENDERS, st.integers(0, 2**62))
def test_ids_go_there_and_back(sender: str, seq: int) -> None:
    assert split_id(make_id(sender, seq)) == (sender, seq)
    assert Message(sender, seq, ("G1",)).id == make_id(sender, seq)


def test_an_incarnation_is_another_sender() -> None:
    assert split_id("A.1:7") == ("A.1", 7)
