"""The table of settings: each says why, those for this machine stay on it, and the caller wins."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antecede.spark.settings import QUICK_JAVA, SETTINGS, cores, on_this_machine, settings_for


def test_the_page_names_every_setting_why_and_whose_it_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "spark.md").read_text("utf-8")
    rows = [f"| `{s.name}` | `{s.value}` | {s.where} | {s.yours} | {s.reason} |" for s in SETTINGS]
    told = [line for line in page.splitlines() if line.startswith("| `spark.")]
    assert told == [row.replace("{cores}", "cores") for row in rows]


def test_every_setting_says_why_and_none_is_set_twice() -> None:
    assert all(len(setting.reason) > 5 for setting in SETTINGS)
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize(
    ("master", "here"),
    [
        ("local", True),
        ("local[*]", True),
        ("local[4, 2]", True),
        ("local-cluster[2,1,1024]", True),
        ("spark://10.0.0.1:7077", False),
        ("spark://localhost.example.org:7077", False),
        ("yarn", False),
        ("localhost", False),
    ],
)
def test_which_masters_are_on_this_machine(master: str, here: bool) -> None:
    assert on_this_machine(master) is here
    chosen = settings_for(master, "x")
    assert (chosen.get("spark.driver.bindAddress") == "127.0.0.1") is here
    assert ("spark.sql.shuffle.partitions" in chosen) is here
    assert chosen["spark.master"] == master


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "[::1]"])
def test_a_cluster_on_loopback_is_spoken_to_on_loopback(host: str) -> None:
    chosen = settings_for(f"spark://{host}:7077", "x")
    assert chosen["spark.driver.host"] == "127.0.0.1" and "spark.driver.memory" not in chosen


def test_cores() -> None:
    assert [cores(m) for m in ("local", "local[3]", "local[3,1]", "local-cluster[2,3,512]")] == [1, 3, 3, 6]
    assert cores("local[*]") == len(os.sched_getaffinity(0))


def test_the_caller_wins() -> None:
    chosen = settings_for("local[2]", "x", {"spark.sql.shuffle.partitions": 7, "spark.ui.enabled": True})
    assert chosen["spark.sql.shuffle.partitions"] == "7" and chosen["spark.ui.enabled"] == "true"
    assert settings_for("local[5]", "x")["spark.sql.shuffle.partitions"] == "5"


def test_for_small_work_java_compiles_lightly_where_it_is_started_here() -> None:
    name = "spark.driver.extraJavaOptions"
    assert name not in settings_for("local[2]", "x") and name not in settings_for("yarn", "x", small=True)
    assert settings_for("local[2]", "x", small=True)[name] == QUICK_JAVA
    assert settings_for("local[2]", "x", {name: "-Xmx1g"}, small=True)[name] == "-Xmx1g"
