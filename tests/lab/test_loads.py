"""What a broker carries, by what it is for."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from antecede.lab.loads import kept_bytes, weigh_load

SMALL = {"recipe": "graph", "brokers": 6, "subscribers": 0, "messages": 12, "loss": 0.1, "groups": "G1=A,B,C,D,E,F"}


def test_the_parts_are_the_whole() -> None:
    row = weigh_load(SMALL, 3)
    assert row["load"] == row["payload_bytes"] + row["digest_bytes"] + row["request_bytes"] > 0
    assert row["payload_bytes"] > row["request_bytes"] > 0 and row["digest_bytes"] > 0 and row["kept_bytes"] > 0


def test_gossip_costs_payloads_and_views_save_digests() -> None:
    """Of a group of 24, so that a view of eight leaves most of it out."""
    names = ",".join(f"{chr(65 + i)}" for i in range(24))
    among = {**SMALL, "brokers": 24, "groups": f"G1={names}"}
    plain, gossip = weigh_load(among, 3), weigh_load({**among, "spread": "gossip"}, 3)
    local = weigh_load({**among, "spread": "gossip", "view": 8}, 3)
    assert gossip["payload_bytes"] > 2 * plain["payload_bytes"]
    assert local["digest_bytes"] < gossip["digest_bytes"]


def test_what_is_kept_is_weighed_until_it_is_collected() -> None:
    def row(process: str, step: int, what: str, message: str, size: int | None = None) -> list[Any]:
        cells: list[Any] = [None] * 18
        cells[1], cells[3], cells[5], cells[6], cells[14], cells[16] = process, step, what, message, step, size
        return cells

    run: Any = SimpleNamespace(rows=[
        row("A", 1, "publish", "A:1"), row("B", 2, "arrive", "A:1", 40), row("B", 3, "deliver", "A:1"),
        row("B", 4, "collect", "A:1"), row("A", 5, "publish", "A:2"), row("B", 6, "arrive", "A:2", 50),
    ])  # fmt: skip
    assert kept_bytes(run) == 90, "both are at A"
    assert kept_bytes(SimpleNamespace(rows=run.rows[:4])) == 40  # type: ignore[arg-type]
