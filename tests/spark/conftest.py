"""What the tests of this folder leave behind is closed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.spark import traces


@pytest.fixture(autouse=True)
def streams_are_closed() -> Iterator[None]:
    yield
    while traces.OPEN:
        with suppress(ValueError):  # the test closed it
            traces.OPEN.pop().close()
