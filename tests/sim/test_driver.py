"""The driver calls a machine as it asks to be called: in its own clock, never early, and not for ever."""

from __future__ import annotations

from typing import Any

import pytest

from antecede.core.effects import Effect, Send
from antecede.core.frames import Data
from antecede.core.message import Envelope, Message, Stamp
from antecede.sim import driver as driver_module
from antecede.sim.run import simulate
from antecede.sim.scenario import Scenario
from tests.sim.echo import FLAT, Echo


class Sleeper(Echo):
    """Wants to be woken at fixed times, and puts a later one off whenever it is woken."""

    def __init__(self, *rest: Any) -> None:
        super().__init__(*rest)
        self.wishes = [100_000, 100_000, 200_000]
        self.woken: list[int] = []

    def wake(self, now_us: int) -> list[Effect]:
        self.woken.append(now_us)
        self.wishes.pop(0)
        return []

    def next_wake(self) -> int | None:
        return self.wishes[0] if self.wishes else None


class Restless(Echo):
    def next_wake(self) -> int | None:
        return 0


def simulate_with(kind: type[Echo], **knobs: Any) -> dict[str, Any]:
    machines: dict[str, Any] = {}

    def build(recipe: str, reading: str, *, name: str, role: str, groups: tuple[str, ...], settings: Any,
              dice: Any) -> Echo:  # fmt: skip
        machines[name] = kind(name, role, groups, settings)
        return machines[name]  # type: ignore[no-any-return]

    simulate(Scenario(recipe="echo", subscribers=0, messages=0, **knobs), build=build, facts=FLAT)
    return machines


def test_wakes_come_when_the_process_clock_says_so() -> None:
    for machine in simulate_with(Sleeper, skew_ms=20).values():
        assert machine.woken == [100_000, 100_001, 200_000]


def test_a_machine_that_never_rests_is_an_error_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_module, "SPIN", 50)
    with pytest.raises(RuntimeError, match="was woken 50 times in vain"):
        simulate_with(Restless)


class Batcher(Echo):
    """One frame of three messages: the rows share its bytes."""

    def start(self, now_us: int, *, joining: bool = False) -> list[Effect]:
        batch = tuple(Envelope(Message(self.name, n, ("G1",), b"12345"), Stamp(((self.name, n),))) for n in (1, 2, 3))
        return [Send(("B",), Data(batch))] if self.name == "A" else []


def test_one_arrive_row_per_message_and_the_bytes_add_up() -> None:
    rows: list[tuple[Any, ...]] = []
    knobs = Scenario(recipe="echo", brokers=2, subscribers=0, messages=0)
    result = simulate(knobs, rows.extend, facts=FLAT,
                      build=lambda recipe, reading, *, name, role, groups, settings, dice:
                      Batcher(name, role, groups, settings))  # fmt: skip
    arrived = [row for row in rows if row[5] == "arrive"]
    assert [row[6] for row in arrived] == ["A:1", "A:2", "A:3"] and {row[15] for row in arrived} == {"A"}
    assert sum(row[16] for row in arrived) == result.totals["A"]["data"]["bytes"]


class Liar(Echo):
    """Says of its messages that they follow nothing."""

    def publish(self, *args: Any, **kwargs: Any) -> Any:
        message, effects = super().publish(*args, **kwargs)
        message.after = self.claim
        return message, effects

    claim: Any = ("-",)


class Modest(Liar):
    claim = None


def test_a_machine_can_widen_the_causes_of_a_message_but_not_talk_them_away() -> None:
    def causes(kind: type[Echo], **knobs: Any) -> set[Any]:
        def build(recipe: str, reading: str, *, name: str, role: str, groups: Any, settings: Any, dice: Any) -> Any:
            return kind(name, role, groups, settings)

        rows = simulate(Scenario(recipe="echo-flat", messages=30, **knobs), build=build, facts=FLAT).rows
        return {row[10] for row in rows if row[5] == "publish"}

    assert "-" not in {cause for after in causes(Liar, declare=1.0) for cause in after or ()}
    assert causes(Modest, declare=1.0) == {None}
