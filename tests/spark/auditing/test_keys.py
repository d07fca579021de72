"""Keys: the same for the same text however it is stored, different for different ones, and found again."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from antecede.spark.auditing.keys import Finder, keys_of, schema_of

texts = st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=60)


@given(texts)
def test_equal_texts_have_equal_keys_and_others_not(words: list[str | None]) -> None:
    keys = keys_of(words).tolist()
    assert len(set(keys)) == len(set(words))
    assert all((key == 0) == (word is None) for key, word in zip(keys, words, strict=True))


@given(texts, st.integers(0, 10))
def test_the_form_in_which_texts_are_stored_does_not_matter(words: list[str | None], start: int) -> None:
    plain = pa.array(words, pa.string())
    keys = keys_of(plain)
    assert (keys_of(plain.dictionary_encode()) == keys).all()
    assert (keys_of(plain.cast(pa.large_string())) == keys).all()
    assert (keys_of(pa.chunked_array([plain, plain])) == np.concatenate([keys, keys])).all()
    assert (keys_of(plain.slice(start)) == keys[start:]).all()


def test_many_ids_that_look_alike_have_keys_of_their_own() -> None:
    ids = [f"p{n % 64:02d}:{n // 64}" for n in range(200_000)]
    assert len(np.unique(keys_of(ids))) == len(ids)


@given(st.sets(st.integers(0, 2**64 - 1)), st.lists(st.integers(0, 2**64 - 1)))
def test_what_is_there_is_found(members: set[int], others: list[int]) -> None:
    keys = np.array(sorted(members), np.uint64)
    wanted = np.array([*members, *others], np.uint64)
    found = Finder(keys).find(wanted)
    for want, place in zip(wanted.tolist(), found.tolist(), strict=True):
        assert (place >= 0) == (want in members) and (place < 0 or keys[place] == want)


def test_schema_of() -> None:
    assert schema_of(a=pa.int64()).field("a").type == pa.int64()
