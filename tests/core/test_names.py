"""What a name may hold: refusals say what to do, and what passes fits everywhere a name goes."""

from __future__ import annotations

import pytest

from antecede.core.message import is_loose, sender_of
from antecede.core.names import MAX_PROCESS, MAX_TOPIC, MAX_TOPICS, check_process, distinct_topics
from antecede.errors import InputError
from antecede.wire.limits import MAX_NAME

DOTTED = ["eu.a", "10.0.0.1", "a.", "a.0", "a.01", "a.1234567890"]


@pytest.mark.parametrize("name", ["", "a@b", "a:1", "a~", "a\0", "\ud800", *DOTTED])
def test_what_means_something_in_ids_and_streams_is_in_no_process_name(name: str) -> None:
    with pytest.raises(InputError, match="cannot be called"):
        check_process(name)


def test_a_process_has_a_name_of_some_length_and_an_incarnation() -> None:
    for name in ("A", "S12.3", "größe-1", "x" * MAX_PROCESS):
        check_process(name)
    with pytest.raises(InputError, match="xxx'\\.\\.\\."):
        check_process("x" * (MAX_PROCESS + 1))


@pytest.mark.parametrize("topic", ["", "a\0b", "x" * (MAX_TOPIC + 1), "\ud800"])
def test_what_the_wire_cannot_carry_is_no_topic(topic: str) -> None:
    with pytest.raises(InputError, match="is no topic"):
        distinct_topics(["G1", topic])


def test_a_message_has_some_topics_and_each_once() -> None:
    assert distinct_topics(("b", "a", "b")) == ("b", "a")
    with pytest.raises(InputError, match="at least one"):
        distinct_topics(())
    with pytest.raises(InputError, match=r"publish to \['G1'\]"):
        distinct_topics("G1")
    assert len(distinct_topics([str(n) for n in range(MAX_TOPICS)])) == MAX_TOPICS
    with pytest.raises(InputError, match="at most"):
        distinct_topics([str(n) for n in range(MAX_TOPICS + 1)])


def test_a_stream_of_the_longest_names_fits_the_wire() -> None:
    assert MAX_PROCESS + len("~@") + MAX_TOPIC <= MAX_NAME


def test_a_topic_may_hold_what_a_process_name_may_not() -> None:
    (topic,) = distinct_topics(["home~ann@work:1"])
    assert not is_loose(f"p@{topic}") and is_loose(f"p~@{topic}") and sender_of(f"p~@{topic}") == "p"
