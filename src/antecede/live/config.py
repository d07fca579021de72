"""A broker's settings: which there are, what each means, and where a value came from.

Decided here: flags win over the environment (`ANTECEDE_LISTEN` and so on), the environment over the file (TOML), the
file over the defaults; of `carry` and `table`, which say the same, the one with the higher source counts (`--carry`
wins over a [table] in the file), and both in one source are a mistake; an unknown key or a value of the wrong kind is
one sentence that names its source; and which settings can change while a broker runs (SIGHUP), for the others need a
restart and say so.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from antecede.core.entries import Entries
from antecede.errors import InputError, one_line
from antecede.live.address import parse_address
from antecede.live.faults import parse_faults
from antecede.live.when import parse_duration
from antecede.wire import MAX_PAYLOAD

__all__ = ["SETTINGS", "BrokerConfig", "Setting", "Value", "load"]


class Setting(NamedTuple):
    key: str
    kind: str
    """`text`, `list`, `table`, `port`, `count` or `duration`."""
    default: Any
    meaning: str
    reloads: bool = False
    """Whether SIGHUP changes it in a running broker."""


SETTINGS: tuple[Setting, ...] = (
    Setting("listen", "text", "127.0.0.1:7400", "HOST:PORT for clients (TCP) and brokers (UDP); port 0: any free one"),
    Setting("name", "text", "", "what the broker is called in records; left out: b and its port"),
    Setting("join", "list", [], "HOST:PORT of brokers to join; several may be given, one that answers is enough", True),
    Setting("carry", "list", [], "filters of the topics that all brokers of the cluster carry; none: every topic"),
    Setting(
        "table", "table", {}, "filter -> names of the brokers that carry it, instead of carry; the same everywhere"
    ),
    Setting("http", "port", 0, "port for /metrics, /health, /ready and /status; 0: none"),
    Setting(
        "keys", "text", "", "directory of `antecede keys`; left out: none on the loopback, else ~/.config/antecede/keys"
    ),
    Setting("advertise", "text", "", "HOST:PORT by which others call the broker; left out: as it listens"),
    Setting("limit_rate", "count", 10_000, "with keys: messages and other frames a second from one client"),
    Setting("limit_size", "count", MAX_PAYLOAD, "with keys: bytes of one message"),
    Setting("limit_subscriptions", "count", 1_000, "with keys: filters of one client"),
    Setting("limit_pending", "count", 65_536, "with keys: messages that may wait for one client"),
    Setting("limit_connections", "count", 100, "with keys: connections with one token"),
    Setting("mqtt", "port", 0, "port for MQTT 5 clients; over WebSocket they come to /mqtt of the http port; 0: none"),
    Setting("records", "text", "", "directory for the records of what the broker did; left out: none are written"),
    Setting("state", "text", "", "directory where it remembers its name's lives; left out: ~/.local/state/antecede"),
    Setting("faults", "text", "", "for tests: injected between brokers, such as loss=0.1,duplicate=0.05,reorder=0.05"),
    Setting("log", "text", "text", "how log lines look: text or json", True),
    Setting("log_level", "text", "info", "what is logged: debug, info, warning or error", True),
    Setting(
        "drain",
        "duration",
        5.0,
        "seconds, or 500ms or 1m: how long a broker that is told to stop waits for its clients",
        True,
    ),
)


class Value(NamedTuple):
    value: Any
    source: str
    """`default`, the file, `environment NAME` or `flag`."""


@dataclass(slots=True, frozen=True)
class BrokerConfig:
    """All settings of one broker, with where each came from."""

    values: Mapping[str, Value]

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def changed(self, other: BrokerConfig) -> list[Setting]:
        return [one for one in SETTINGS if self[one.key] != other[one.key]]


def load(
    file: str | Path | None = None, environ: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> BrokerConfig:
    """`flags`: what was given, None where it was not. In flags and the environment commas part a list.

    >>> config = load(environ={"ANTECEDE_JOIN": "127.0.0.1:7400,127.0.0.1:7401"}, flags={"name": "B"})
    >>> config["join"], config.values["name"].source
    (['127.0.0.1:7400', '127.0.0.1:7401'], 'flag')
    """
    environ, flags = environ or {}, flags or {}
    told = _read(Path(file)) if file else {}
    _refuse_misspelt(environ)
    values, levels = dict[str, Value](), dict[str, int]()
    for one in SETTINGS:
        variable = _variable(one.key)
        if flags.get(one.key) is not None:
            given = flags[one.key]
            if one.kind == "list":
                given = [part for several in given for part in _split(several)]
            level, value = 3, Value(_checked(one, given, "--" + one.key.replace("_", "-")), "flag")
        elif variable in environ:
            given = _parsed(one, environ[variable], variable)
            level, value = 2, Value(_checked(one, given, variable), f"environment {variable}")
        elif one.key in told:
            level, value = 1, Value(_checked(one, told[one.key], f"{file}: {one.key}"), str(file))
        else:
            level, value = 0, Value(one.default, "default")
        values[one.key], levels[one.key] = value, level
    _choose(values, levels)
    return BrokerConfig(values)


def _variable(key: str) -> str:
    return f"ANTECEDE_{key.upper()}"


def _parsed(one: Setting, given: str, variable: str) -> Any:
    """A variable's text as the kind of value that the file would have."""
    if one.kind == "list":
        return _split(given)
    if one.kind != "table":
        return given
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(given or "{}")
    try:
        return tomllib.loads(f"table = {given}")["table"]
    except tomllib.TOMLDecodeError:
        like = '{"room/#" = ["A", "B"]}'
        raise InputError(f"{variable} is a table such as {like}, or the same in JSON, not {given!r}.") from None


def _split(given: str) -> list[str]:
    return [part.strip() for part in given.split(",") if part.strip()]


def _choose(values: dict[str, Value], levels: Mapping[str, int]) -> None:
    """Of `carry` and `table`, where both are given, the one with the lower source gives way."""
    if not values["carry"].value or not values["table"].value:
        return
    lower, higher = sorted(("carry", "table"), key=lambda key: levels[key])
    if levels[lower] == levels[higher]:
        where = "the environment" if levels[lower] == 2 else values[lower].source
        raise InputError(
            f"{where} sets both carry and table: keep table, with [] for what all brokers carry, or keep carry."
        )
    default = next(one.default for one in SETTINGS if one.key == lower)
    values[lower] = Value(default, f"{higher} ({values[higher].source}) wins over {values[lower].source}")


def _refuse_misspelt(environ: Mapping[str, str]) -> None:
    """A variable that is nearly a setting: what it was to set would stay as it is, and nobody would know."""
    variables = [_variable(one.key) for one in SETTINGS]
    for name in environ:
        near = difflib.get_close_matches(name, variables, 1, 0.9) if name.startswith("ANTECEDE_") else []
        if near and name not in variables:
            raise InputError(f"The environment has {name}, which no broker reads: is {near[0]} meant?")


def _read(path: Path) -> dict[str, Any]:
    try:
        told = tomllib.loads(path.read_text("utf-8"))
    except OSError as fault:
        raise InputError(f"The settings in {path} cannot be read: {fault.strerror}.") from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise InputError(f"{path} is not TOML: {one_line(fault)}.") from fault
    known = [one.key for one in SETTINGS]
    for key in told:
        if key not in known:
            raise InputError(f"{path} sets {key!r}, which no broker has: there are {', '.join(known)}.")
    return told


def _checked(one: Setting, given: Any, where: str) -> Any:
    if one.kind == "list":
        if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(x, str) for x in given):
            raise InputError(f"{where} is a list of texts, not {given!r}.")
        if one.key == "join":
            for address in given:
                parse_address(address, beyond_loopback=True)
        return list(given)
    if one.kind == "table":
        if not isinstance(given, Mapping) or not all(isinstance(names, list) for names in given.values()):
            raise InputError(f"{where} is a table such as 'room/#' = ['A', 'B'], not {given!r}.")
        Entries(given or None)
        return dict(given)
    if one.kind == "port":
        if isinstance(given, bool) or not str(given).isdigit() or int(given) > 65_535:
            raise InputError(f"{where} is a port, 0 to 65535, not {given!r}.")
        return int(given)
    if one.kind == "count":
        if isinstance(given, bool) or not str(given).isdigit() or not 0 < int(given) < 2**31:
            raise InputError(f"{where} is a number of at least 1, not {given!r}.")
        return int(given)
    if one.kind == "duration":
        return float(given) if isinstance(given, int | float) else parse_duration(str(given))
    if not isinstance(given, str):
        raise InputError(f"{where} is text, not {given!r}.")
    if one.key == "listen" or (one.key == "advertise" and given):
        parse_address(given, beyond_loopback=True)
    if one.key == "faults":
        parse_faults(given)
    allowed = {"log": ("text", "json"), "log_level": ("debug", "info", "warning", "error")}.get(one.key)
    if allowed and given not in allowed:
        raise InputError(f"{where} is one of {', '.join(allowed)}, not {given!r}.")
    return given
