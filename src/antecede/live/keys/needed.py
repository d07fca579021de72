"""When a broker goes by keys, and where they are.

Decided here: on the loopback keys are used if they are named; beyond it there must be some, those that are named or
those in the usual directory, and without them nothing is bound or called. A broker that listens on every address says
how it is called.
"""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from antecede.errors import EnvironmentFault, InputError
from antecede.live.address import Address, is_loopback
from antecede.live.keys.files import default_directory

if TYPE_CHECKING:
    from antecede.live.broker import Broker
    from antecede.live.keys.limits import Limits
    from antecede.live.keys.protection import Protection
    from antecede.live.keys.store import Keys

__all__ = ["check_listen", "keys_for", "protection_for"]

EVERYWHERE = ("0.0.0.0", "::")


def check_listen(listen: Address, advertise: Address | None) -> None:
    """Whether others can call a broker that listens there."""
    for host, _ in (listen, advertise or listen):
        try:
            ipaddress.ip_address(host)
        except ValueError:
            raise InputError(f"A broker's own address has an IP address in it, not the name {host!r}.") from None
    if listen[0] in EVERYWHERE and advertise is None:
        raise InputError(f"{listen[0]} is no address that others can call: add --advertise HOST:PORT, how they do.")


def keys_for(places: list[Address], directory: str | Path | None) -> Keys | None:
    """For a broker that listens at, or calls, these places; None: it needs none."""
    outside = [host for host, _ in places if not is_loopback(host)]
    if directory is None:
        if not outside:
            return None
        directory = default_directory()
        if not directory.exists():
            host = "HOST" if outside[0] in EVERYWHERE else outside[0]
            raise InputError(
                f"{outside[0]} is not the loopback, and beyond it a broker needs keys: "
                f"`antecede keys init --host {host}` makes them, --keys DIR names others."
            )
    try:
        from antecede.live.keys.store import Keys
    except ModuleNotFoundError:
        raise EnvironmentFault("Keys need the package cryptography: pip install 'antecede[live]'.") from None
    return Keys(directory)


def protection_for(broker: Broker, directory: str | Path | None, limits: Limits) -> Protection | None:
    """What keys do for a broker that is about to start; None: it needs none."""
    called = broker.advertise or broker.listen
    keys = keys_for([called, broker.listen, *broker.seeds], directory)
    check_listen(broker.listen, broker.advertise)
    if keys is None:
        return None
    from antecede.live.keys.protection import Protection

    keys.check(called[0], datetime.now(UTC))
    return Protection(
        keys,
        limits,
        now_s=lambda: broker.clock.now_us() / 1e6,
        sessions=lambda: list(broker.hub.sessions.values()),
        known=lambda name: broker.managed.table.entries.get(name),
    )
