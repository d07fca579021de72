"""Every error antecede raises on purpose, on one screen: split by whose mistake it is.

`InputError` is the caller's (exit 2, one sentence, a cure), `RemoteProtocolError` is a peer's (the frame is dropped and
counted, the node goes on), `EnvironmentFault` is the machine's (something is missing; `antecede doctor` says more).
Ordinary outcomes - late, superseded, duplicate - are values, never exceptions.
"""

from __future__ import annotations

__all__ = ["AntecedeError", "EnvironmentFault", "InputError", "RemoteProtocolError", "one_line"]


class AntecedeError(Exception):
    """Base of everything below; catch this to catch all of antecede."""


class InputError(AntecedeError):
    """The caller gave something that cannot work: the sentence says what, where, and what would."""


class RemoteProtocolError(AntecedeError):
    """A peer sent bytes that are not a frame of this protocol."""


class EnvironmentFault(AntecedeError):
    """The machine lacks something that is needed."""


def one_line(error: BaseException) -> str:
    """What an error of another library says, short enough for a sentence of ours."""
    return " ".join(str(error).split())[:200]
