"""Brokers and clients as processes of their own, for campaigns: started, told, killed and ended by their own handles.

Decided here: a cluster of four with entries that overlap, so that most messages fall under several and no two brokers
carry the same; eight clients that want different things; every process writes its records into one directory; and a
client process is driven by lines of JSON (`bench/fleet_client.py`).
"""

from __future__ import annotations

import contextlib
import json
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from antecede.core.topics import matches

__all__ = ["CLIENTS", "ENTRY", "TABLE", "TOPICS", "ClientProcess", "Fleet", "memory_mb", "topic_of", "wanted"]

TABLE: dict[str, list[str]] = {
    "room/#": [], "room/+/news": ["A", "B", "C"], "alerts/#": ["A", "B"], "+/fire": ["B", "C", "D"],
}  # fmt: skip
TOPICS = (
    "room/1", "room/2", "room/fire", "room/1/news", "room/2/news", "alerts/fire", "alerts/water", "room/1/chat",
)  # fmt: skip
CLIENTS: dict[str, tuple[str, ...]] = {
    "c0": ("room/#",), "c1": ("room/1/news", "room/1/chat"), "c2": ("alerts/#",), "c3": ("+/fire",),
    "c4": ("room/#", "alerts/#"), "c5": ("alerts/#", "+/fire"), "c6": ("room/+",), "c7": ("room/+/news", "+/fire"),
}  # fmt: skip
"""Name -> filters; each set is carried by at least one broker of TABLE."""

ENTRY = [sys.executable, "-c", "import sys; from antecede.cli import main; sys.exit(main())"]


def topic_of(client: str, number: int) -> str:
    """What a client's message of this number, from 1, is published to: all processes can say it."""
    return TOPICS[(5 * number + 3 * int(client[1:]) + number // 7) % len(TOPICS)]


def wanted(client: str, filters: tuple[str, ...], publishers: dict[str, int]) -> list[str]:
    """The ids that a client is owed when each publisher has published so many."""
    return [
        f"{name}:{n}"
        for name, count in publishers.items()
        if name != client
        for n in range(1, count + 1)
        if any(matches(one, topic_of(name, n)) for one in filters)
    ]


def free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def memory_mb(pid: int) -> float:
    """What a process holds in memory."""
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * 4096 / 2**20


class Fleet:
    """`prefix`: words before every command, such as `ip netns exec NAME`."""

    def __init__(
        self,
        directory: Path,
        *,
        names: str = "ABCD",
        table: dict[str, list[str]] | None = None,
        faults: str = "",
        prefix: tuple[str, ...] = (),
    ) -> None:
        self.directory, self.records = directory, directory / "records"
        self.faults, self.prefix = faults, prefix
        ports = free_ports(2 * len(names))
        self.ports = dict(zip(names, ports, strict=False))
        self.http = dict(zip(names, ports[len(names) :], strict=True))
        self.table = TABLE if table is None else table
        self.brokers: dict[str, subprocess.Popen[bytes]] = {}
        self.clients: dict[str, ClientProcess] = {}

    @property
    def addresses(self) -> list[str]:
        return [f"antecede://127.0.0.1:{port}" for port in self.ports.values()]

    def start_broker(self, name: str, *, records: bool = True) -> None:
        settings: dict[str, Any] = {
            "listen": f"127.0.0.1:{self.ports[name]}", "name": name, "http": self.http[name], "faults": self.faults,
            "state": str(self.directory / "state"), "log_level": "warning",
            "join": [f"127.0.0.1:{port}" for other, port in self.ports.items() if other != name],
        }  # fmt: skip
        if records:
            settings["records"] = str(self.records)
        text = "".join(f"{key} = {json.dumps(value)}\n" for key, value in settings.items())
        if self.table:
            text += "[table]\n" + "".join(f"{json.dumps(key)} = {json.dumps(v)}\n" for key, v in self.table.items())
        file = self.directory / f"{name}.toml"
        file.write_text(text, "utf-8")
        with (self.directory / f"{name}.log").open("ab") as log:
            command = [*self.prefix, *ENTRY, "broker", "--config", str(file)]
            self.brokers[name] = subprocess.Popen(command, stdout=log, stderr=log)

    def start(self, *, records: bool = True) -> None:
        """All brokers, the first one first: the others join it."""
        for name in self.ports:
            self.start_broker(name, records=records)
            self.wait_for(name, "/ready")
        end = time.monotonic() + 30
        while any(self.alive_at(name) < len(self.ports) for name in self.ports):
            if time.monotonic() > end:
                raise SystemExit("the brokers did not find each other within 30 s")
            time.sleep(0.05)

    def ask(self, name: str, page: str) -> bytes:
        url = f"http://127.0.0.1:{self.http[name]}{page}"
        if self.prefix:  # the page is inside the namespace
            code = f"import urllib.request as u; print(u.urlopen({url!r}, timeout=5).read().decode(), end='')"
            found = subprocess.run([*self.prefix, sys.executable, "-c", code], capture_output=True)
            if found.returncode:
                raise OSError(found.stderr.decode().strip().splitlines()[-1])
            return found.stdout
        with urllib.request.urlopen(url, timeout=5) as answer:
            said: bytes = answer.read()
            return said

    def status(self, name: str) -> dict[str, Any]:
        said: dict[str, Any] = json.loads(self.ask(name, "/status"))
        return said

    def alive_at(self, name: str) -> int:
        """How many brokers this one believes in."""
        return sum(one["state"] in ("alive", "suspect") for one in self.status(name)["brokers"].values())

    def wait_for(self, name: str, page: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while True:
            if self.brokers[name].poll() is not None:
                log = (self.directory / f"{name}.log").read_text("utf-8")
                raise SystemExit(f"broker {name} ended: {log}")
            try:
                self.ask(name, page)
                return
            except OSError:
                if time.monotonic() > end:
                    raise SystemExit(f"broker {name} does not answer after {seconds} s") from None
                time.sleep(0.05)

    def kill_broker(self, name: str) -> None:
        self.brokers[name].kill()
        self.brokers[name].wait()

    def client(self, name: str, **order: Any) -> ClientProcess:
        """Start one, or the next life of one."""
        first = len(self.clients) % len(self.ports)
        addresses = self.addresses[first:] + self.addresses[:first]  # so that not all begin at the same broker
        order = {"name": name, "addresses": addresses, "records": str(self.records), **order}
        self.clients[name] = ClientProcess(name, order, self.prefix)
        return self.clients[name]

    def stop(self) -> None:
        """Whoever still runs: clients first, then brokers one after the other."""
        for one in self.clients.values():
            one.end()
        for process in self.brokers.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(20)
            if process.poll() is None:
                process.kill()
                process.wait()

    def complaints(self) -> list[str]:
        """What brokers and clients logged that they should not have."""
        found = []
        for file in sorted(self.directory.glob("*.log")):
            found += [line for line in file.read_text("utf-8").splitlines() if "Traceback" in line or "Error" in line]
        return found

    def __enter__(self) -> Fleet:
        self.directory.mkdir(parents=True, exist_ok=True)
        if any(self.directory.iterdir()):  # journals and lives of another run would be taken for those of this one
            raise SystemExit(f"{self.directory} is not empty: name another directory")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class ClientProcess:
    """One client: what it said last is in `said`."""

    def __init__(self, name: str, order: dict[str, Any], prefix: tuple[str, ...]) -> None:
        self.name = name
        command = [*prefix, sys.executable, str(Path(__file__).with_name("fleet_client.py")), json.dumps(order)]
        self.process = subprocess.Popen(command, stdin=-1, stdout=-1, text=True, bufsize=1)
        self.said: dict[str, Any] = {}
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):
                self._lines.put(json.loads(line))
        self._lines.put(None)

    def hear(self, key: str, seconds: float) -> dict[str, Any]:
        """Until it has said this."""
        end = time.monotonic() + seconds
        while key not in self.said:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                raise SystemExit(f"{self.name} did not say {key!r} within {seconds} s: {self.said}") from None
            if line is None:
                raise SystemExit(f"{self.name} ended before it said {key!r}")
            self.said.update(line)
        return self.said

    def look(self) -> dict[str, Any]:
        """What it has said by now."""
        while True:
            try:
                line = self._lines.get_nowait()
            except queue.Empty:
                return self.said
            if line is None:
                raise SystemExit(f"{self.name} ended early: {self.said}")
            self.said.update(line)

    def tell(self, **said: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(said) + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self._reap()

    def _reap(self) -> None:
        """Wait for it, for the thread that reads what it says, and close both pipes."""
        self.process.wait()
        self._reading.join(20)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def end(self) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.tell(stop=True)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
        if self.process.poll() is None:
            self.kill()
        self._reap()
