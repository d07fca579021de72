"""What another library says of an error fits into one sentence of ours."""

from __future__ import annotations

from antecede.errors import one_line


def test_an_error_becomes_one_short_line() -> None:
    assert one_line(ValueError("bad\n  magic\tbytes")) == "bad magic bytes"
    assert len(one_line(ValueError("x" * 10_000))) == 200
