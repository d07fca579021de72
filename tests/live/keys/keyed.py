"""Keys for tests: a directory of them, tokens, and brokers and clients that use them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from antecede.live.broker import Broker
from antecede.live.client import Client, connect
from antecede.live.keys import store
from antecede.live.keys.tokens import rights_for

__all__ = ["Keyed"]


class Keyed:
    """The keys of one cluster on this machine."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        store.init(directory, [], datetime.now(UTC))

    @property
    def ca(self) -> Path:
        return self.directory / "ca.pem"

    def token(
        self,
        name: str = "ann",
        publish: tuple[str, ...] = ("#",),
        subscribe: tuple[str, ...] = ("#",),
        seconds: float = 600,
        watch: bool = False,
    ) -> str:
        rights = rights_for(name, publish, subscribe, int(time.time() + seconds), watch=watch)
        return store.add_token(self.directory, rights)

    def broker(self, name: str, **more: Any) -> Broker:
        return Broker("127.0.0.1:0", name=name, keys=self.directory, **more)

    def client(self, broker: Broker, token: str | None = None, **more: Any) -> Client:
        """Without a token: one that may all, under the name it is given."""
        token = self.token(more.get("name", "any")) if token is None else token
        return connect(broker.url, tls=self.ca, token=token, **more)
