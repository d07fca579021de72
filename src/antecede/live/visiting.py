"""How one broker calls another: as a visitor, which asks who is there, or something else, and exchanges no frames.

Decided here: a visitor shows where it listens, its table and, where there are keys, a proof that it has them; what it
says and is told goes over TLS then, which is given more time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from antecede.live.address import Address, text_of
from antecede.live.calling import Answered, call, nothing
from antecede.live.reception import table_of
from antecede.live.session import VERSION, VISITOR, Control, Hello, Session

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["visit"]


async def visit(
    broker: Broker,
    where: Address,
    name: str,
    *,
    fresh: bool = False,
    heard: Callable[[Session, Control], None] = nothing,
    lost: Callable[[Session], None] = nothing,
) -> Answered:
    """A connection to the broker that listens there; whoever opens it closes it. `fresh`: this one has not begun and
    asks what it is to be called. Raises OSError or Turned."""
    protection = broker.protection
    hello = Hello(
        VERSION, VISITOR, name, fresh, site=text_of(broker.address), table=table_of(broker.entries),
        token="" if protection is None else protection.proof(name),
    )  # fmt: skip
    tls, wait_s = (None, 1.0) if protection is None else (protection.caller, 3.0)
    return await call(
        broker.network, where, hello, broker.clock, on_control=heard, on_lost=lost, timeout_s=wait_s, tls=tls
    )
