"""An auction with a closing time: the hammer falls after every bid that caused it, and no bid counts after the end.

    python examples/auction.py

What to watch for: bidders see a bid only after the one it outbids, so that prices never seem to fall ("falls" stays 0).
Bids carry the closing time as their deadline: one that could not be shown by then is late, and the auctioneer never
hears of it. The hammer follows all that the auctioneer has heard, so whoever sees "sold" has seen the winning bid, or
knows that it was left out. All bidders name the same winner. Bids are requests: the auctioneer answers each.
"""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence

from antecede import EnvironmentFault
from antecede.live.client import Client
from antecede.testing import LocalCluster

BIDDERS = ("ann", "bob", "carl", "dora", "emil")
OPEN_S = 5.0


async def auctioneer(node: Client, closing_s: float) -> str:
    """Takes bids until the time is over, raises the price, says so, and sells."""
    price, leader = 100, "nobody"
    async with node.subscribe("lot/9/bid", queue=1000) as bids:
        while (left_s := closing_s - asyncio.get_running_loop().time()) > 0:
            try:
                bid = await bids.get(left_s)
            except TimeoutError:
                break
            offer = int(bid.text)
            await node.reply(bid, b"accepted" if offer > price else b"too low")
            if offer > price:
                price, leader = offer, bid.sender
                await node.publish("lot/9/price", f"{price} {leader}".encode())
    await node.publish("lot/9/price", f"sold {price} {leader}".encode())
    return leader


async def bidder(node: Client, limit: int, closing_s: float, dice: random.Random) -> tuple[str, int, int]:
    """Outbids others up to a limit. Returns who won, how often the price fell, how many bids were made."""
    price = falls = bids = 0
    async with node.subscribe("lot/9/price", queue=1000) as prices:
        offer = 100 + dice.randrange(1, 20)
        while True:
            left_s = closing_s - asyncio.get_running_loop().time()
            if offer <= limit and left_s > 0.05:
                try:
                    bids += 1
                    await node.request("lot/9/bid", b"%d" % offer, within=left_s)
                except (TimeoutError, EnvironmentFault):
                    pass  # it may have been heard in time: the price will tell
            message = await prices.get(60)
            word, *rest = message.text.split()
            if word == "sold":
                return rest[1], falls, bids
            falls += int(word) < price
            price = int(word)
            offer = price + dice.randrange(1, 20) if rest[0] != node.name else limit + 1


async def auction(cluster: LocalCluster) -> tuple[str, list[tuple[str, int, int]]]:
    closing_s = asyncio.get_running_loop().time() + OPEN_S
    house = cluster.connect("house", at="A")
    nodes = [await cluster.connect(name).__aenter__() for name in BIDDERS]
    async with house:
        work = [
            asyncio.create_task(bidder(node, 150 + 40 * n, closing_s, random.Random(n))) for n, node in enumerate(nodes)
        ]
        selling = asyncio.create_task(auctioneer(house, closing_s))
        seen = await asyncio.gather(*work)
        winner = await selling
        for node in nodes:
            await node.aclose()
    return winner, seen


def main(arguments: Sequence[str] = ()) -> int:
    if arguments:
        print(__doc__)
        return 0 if arguments[0] in ("-h", "--help") else 2
    winner, seen = LocalCluster(brokers=3, loss=0.1, delay_s=(0.001, 0.02), seed=2).run(auction)
    print(f"sold to {winner}")
    print("bidder  saw the winner  bids  falls")
    for name, (saw, falls, bids) in zip(BIDDERS, seen, strict=True):
        print(f"{name:<8}{saw:<14}{bids:>6}{falls:>7}")
    return 0 if all(saw == winner and falls == 0 for saw, falls, _ in seen) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
