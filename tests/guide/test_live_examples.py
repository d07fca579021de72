"""The live examples do what they say: order and deadlines hold in each."""

from __future__ import annotations

from types import ModuleType

import pytest

from examples import auction, chat, sensor_grid, watch_party


def table(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_in_the_chat_no_reply_comes_before_its_question_unless_order_is_given_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert chat.main([]) == 0
    rows = [row for row in table(capsys.readouterr().out) if row[0] in ("causal", "none")]
    assert [row[2:] for row in rows[:2]] == [["120", "0"], ["120", "0"]]
    assert sum(int(row[3]) for row in rows[2:]) > 0  # else the story would show nothing


@pytest.mark.parametrize("example", [auction, chat, sensor_grid, watch_party])
def test_help_says_how_to_run_it(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert example.main(["--help"]) == 0 and example.main(["--hepl"]) == 2
    said = capsys.readouterr().out
    assert said.count(f"python examples/{example.__name__.rpartition('.')[2]}.py") >= 2


def test_in_the_watch_party_nothing_is_overdue_or_inverted(capsys: pytest.CaptureFixture[str]) -> None:
    assert watch_party.main() == 0
    rows = table(capsys.readouterr().out)[1:]
    assert [row[0] for row in rows] == list(watch_party.PEOPLE)
    assert all(int(row[1]) > watch_party.COMMANDS // 2 for row in rows)


def test_in_the_auction_all_see_the_same_winner_and_no_price_falls(capsys: pytest.CaptureFixture[str]) -> None:
    assert auction.main() == 0
    sold, _, *rows = table(capsys.readouterr().out)
    assert {row[1] for row in rows} == {sold[-1]} and all(int(row[2]) > 0 for row in rows)


def test_in_the_sensor_grid_no_result_counts_a_reading_without_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert sensor_grid.main() == 0
    *_, total, _, _, rhea, rolf = table(capsys.readouterr().out)
    assert total[0] == str(len(sensor_grid.GRIDS) * sensor_grid.SENSORS * sensor_grid.STEPS)
    for row in (rhea, rolf):
        assert row[2] == row[6] == "0" and int(row[3]) >= 4 and row[4] == row[5] and int(row[1]) > 25
