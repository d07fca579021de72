"""Cycles are looked for rarely inside, and as before outside, however one leaves."""

from __future__ import annotations

import gc

import pytest

from antecede.collector import collecting_rarely


def test_what_was_usual_holds_again_afterwards() -> None:
    usual = gc.get_threshold()
    with collecting_rarely():
        assert gc.get_threshold()[0] > 100 * usual[0]
    assert gc.get_threshold() == usual
    with pytest.raises(KeyError), collecting_rarely():
        raise KeyError
    assert gc.get_threshold() == usual
