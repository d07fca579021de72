"""`antecede top`: brokers in a table, those that do not answer too."""

from __future__ import annotations

import io
import json

from rich.console import Console

from antecede.cli.top import look, page_of
from tests.cli.processes import antecede, cluster


def shown(table: object) -> str:
    console = Console(width=80, file=io.StringIO())
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def test_two_brokers_and_one_that_is_away() -> None:
    with cluster(2) as (_, told):
        places = [url.removeprefix("http://") for url in told["http"]]
        looks = {place: look(place) for place in [*places, "127.0.0.1:9"]}
        text = shown(page_of(looks, looks, 1.0))
        assert "A B" in text and "127.0.0.1:9 does not answer" in text and "--http 9" in text
        assert places[0].partition(":")[0] in text and "…" not in text  # all of it fits 80 columns
        result = antecede("top", *places, "--once", "--json")
        assert [json.loads(result.stdout)[place]["name"] for place in places] == ["A", "B"]


def test_rates_and_what_was_left_out() -> None:
    said = {
        "name": "A", "address": "antecede://127.0.0.1:1", "brokers": {"A": {"state": "alive"}, "B": {"state": "dead"}},
        "connections": 2, "held": 1, "gap_age_s": 0.25, "unsafe": 0, "stored": 7, "fates": {"delivered": 30, "late": 2},
    }  # fmt: skip
    before = {**said, "fates": {"delivered": 10}}
    text = shown(page_of({"x": said}, {"x": before}, 2.0))
    assert (
        "requests. ctrl-C ends." in text
        and " 10 " in text
        and "A left out: 2 late" in text
        and "0.25" in text
        and " B " not in text
    )


def test_nobody_answers_at_all() -> None:
    result = antecede("top", "127.0.0.1:9", "--once")
    assert result.returncode == 2 and "refused. Is it the http port" in " ".join(result.stdout.split())


def test_the_port_of_a_broker_that_is_no_http_port_and_none_at_all() -> None:
    with cluster(1) as (_, told):
        place = told["addresses"][0].removeprefix("antecede://")
        assert look(place)["away"].startswith("what listens there does not speak HTTP; a broker with keys")
        port = told["http"][0].rpartition(":")[2]
        shown_once = antecede("top", f"http://127.0.0.1:{port}/metrics", "--once").stdout
        assert shown_once.startswith("broker ") and shown_once.endswith("\n") and "ctrl-C" not in shown_once
    result = antecede("top")
    assert result.returncode == 2 and "start one with `antecede broker --http 7480`" in result.stderr
