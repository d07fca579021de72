"""What a broker says of itself: who is there, who is connected, what waits and for how long, what was counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from antecede.live.broker import Broker

__all__ = ["gap_age_s", "status_of"]


def gap_age_s(broker: Broker) -> float:
    """For how long the oldest message here has been waiting for a cause; 0 where nothing waits."""
    inbox = broker.machine.inbox
    since = [inbox.seen[message_id] for message_id in inbox.held if message_id in inbox.seen]
    return max(0.0, (broker.clock.now_us() - min(since)) / 1e6) if since else 0.0


def status_of(broker: Broker) -> dict[str, Any]:
    managed, machine, hub = broker.managed, broker.machine, broker.hub
    counts, protection = hub.counts, broker.protection
    return {
        "name": broker.name,
        "address": broker.url,
        "run": broker.run,
        "ready": broker.ready,
        "begun": machine.joined,
        "clock_us": broker.clock.now_us(),
        "clock_bound_us": broker.settings.clock_bound_us,
        "clock_offsets": {
            name: {"offset_us": offset_us, "bound_us": bound_us}
            for name, (offset_us, bound_us) in sorted(broker.offsets.items())
        },
        "epoch": managed.epoch,
        "table": {filter: list(brokers) for filter, brokers in broker.entries.table.items()},
        "brokers": {
            news.name: {"address": news.site, "state": news.state}
            for news in managed.table.entries.values()
            if news.role == "broker"
        },
        "clients": {
            name: {
                "waiting": log.top - log.acked,
                "filters": list(log.interest.filters),
                "connected": name in hub.sessions,
            }
            for name, log in machine.logs.items()
        },
        "connections": len(hub.sessions),
        "held": len(machine.inbox.held),
        "gap_age_s": gap_age_s(broker),
        "unsafe": len(machine.unsafe()),
        "stored": len(machine.store.by_id),
        "fates": dict(broker.tally.fates),
        "refusals": {} if protection is None else dict(protection.refusals.counts),
        "asked": broker.tally.asked,
        "answered": broker.tally.answered,
        **({} if broker.door is None else {"mqtt": broker.door.status()}),
        "network": {
            "datagrams_sent": counts.sent,
            "datagrams_received": counts.received,
            "bytes_sent": counts.bytes_sent
            + sum(session.bytes_out for session in hub.sessions.values())
            + hub.bytes_out,
            "bytes_received": counts.bytes_received
            + sum(session.bytes_in for session in hub.sessions.values())
            + hub.bytes_in,
            "control_bytes": counts.control_bytes,
            "refused": counts.refused,
            "unsent": counts.unsent,
            "turned_away": broker.strangers.turned_away,
            "lost": counts.lost,
            "doubled": counts.doubled,
            "held_back": counts.held_back,
        },
    }
