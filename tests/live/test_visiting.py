"""One broker calls another: it is told who is there, or turned away."""

from __future__ import annotations

import asyncio

import pytest

from antecede.live.broker import Broker
from antecede.live.calling import Turned
from antecede.live.visiting import visit


def test_a_visitor_is_told_who_is_there_and_keeps_its_connection() -> None:
    async def main() -> None:
        async with Broker("127.0.0.1:0", name="A") as a, Broker("127.0.0.1:0", name="B", join=[a.url]) as b:
            lost: list[str] = []
            answered = await visit(b, a.address, "B", lost=lambda session: lost.append(session.peer))
            assert answered.welcome.broker == "A" and answered.welcome.name == "B" and answered.session.is_open
            answered.session.close()
            fresh = await visit(b, a.address, "C", fresh=True)
            assert fresh.welcome.name == "C"
            fresh.session.close()

    asyncio.run(main())


def test_one_with_another_table_is_turned_away() -> None:
    async def main() -> None:
        async with Broker("127.0.0.1:0", name="A") as a, Broker("127.0.0.1:0", name="B", table={"t": []}) as b:
            with pytest.raises(Turned, match="table"):
                await visit(b, a.address, "B")

    asyncio.run(main())
