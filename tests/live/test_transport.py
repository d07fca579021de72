"""What every transport shares: names are checked, frames are cut where their content allows."""

from __future__ import annotations

import pytest

from antecede.core.frames import Attached, Want
from antecede.errors import InputError
from antecede.live.transport import Counts, encoded
from antecede.live.udp import UdpTransport
from antecede.wire import decode


def test_names_are_checked() -> None:
    with pytest.raises(InputError):
        UdpTransport("")


def test_a_frame_is_cut_until_it_fits_if_it_can_be_had_apart() -> None:
    counts = Counts()
    want = Want(1, tuple(range(0, 4000, 2)))
    parts = [decode(data) for data in encoded(want, 500, counts)]
    assert len(parts) > 2
    assert [n for part in parts if isinstance(part, Want) for n in part.indexes] == list(want.indexes)
    (whole,) = encoded(Attached(1, {}, tuple(f"p{n}:1" for n in range(500))), 100, counts)
    assert len(whole) > 100  # its parts mean nothing by themselves
    assert counts.unsent == 0
