"""What lies behind, asked directly."""

from __future__ import annotations

from antecede.spark.order.behind import CAME, NEVER, Behind, Held, Rules, split_name


def row(no: int, name: str, *needs: str, ghost: bool = False) -> Held:
    return Held(no, no, name, None, list(needs), NEVER, 0, ghost)


def test_names_with_numbers_are_split_at_the_last_colon() -> None:
    assert split_name("a:3") == ("a", 3) and split_name("x:y:12") == ("x:y", 12)
    assert split_name("a") is split_name("a:") is split_name("a:-1") is split_name("a:b") is None


def test_a_row_is_freed_when_the_last_of_its_needs_lies_behind() -> None:
    behind = Behind(Rules())
    waiting = row(0, "c", "a", "b")
    assert behind.watch(waiting) and not behind.watch(row(1, "d"))
    ready: list[tuple[int, Held]] = []
    behind.put_behind(row(2, "a"), 0, ready)
    assert not ready and [need for _, need in behind.unknown()] == ["b"]
    behind.pass_over("b", 1, ready)
    assert ready == [(0, waiting)] and behind.passed_at("b") == 1 and behind.undelivered("b")
    assert not behind.undelivered("a") and behind.passed_at("a") is None


def test_numbered_to_pass_over_one_passes_over_all_below() -> None:
    behind = Behind(Rules(numbered=True))
    low = row(0, "z", "s:3")
    behind.watch(low)
    ready: list[tuple[int, Held]] = []
    behind.pass_over("s:7", 4, ready)
    assert ready == [(0, low)] and behind.is_behind("s:1") and not behind.is_behind("s:8")
    behind.pass_over("s:9", 2, ready)
    assert behind.passed_at("s:8") == 2 and behind.passed_at("s:7") == 2  # the later one tells of an earlier time


def test_a_ghost_takes_nobodys_turn() -> None:
    assert row(5, "g", ghost=True).turn() < row(0, "a").turn() < row(1, "b").turn()


def test_what_came_and_was_not_delivered_still_tells_what_it_needed() -> None:
    behind = Behind(Rules())
    behind.put_behind(row(0, "x", "a"), CAME, [])
    behind.put_behind(row(1, "y", "a"), 0, [])
    assert behind.told == {"x": ["a"]}
