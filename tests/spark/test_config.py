"""What a pipeline is told: the file it begins with is right, and every mistake is one sentence with a cure."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.spark.config import TEMPLATE, Wanted, config_from, load_config

LEAST = "[source]\npath = 'runs'\n[output]\npath = 'out'\n"


def test_the_template_is_a_pipeline_and_shows_every_key() -> None:
    from antecede.spark import config

    told = config_from(tomllib.loads(TEMPLATE))
    assert told.fuse is not None and told.fuse.every == 100 and told.source.kind == "run"
    parts = (config.Source, config.Columns, config.Order, config.Fuse, config.Audit, config.Output, config.Mode)
    for part in parts:
        for key in part.__struct_fields__:
            assert f"{key} =" in TEMPLATE or f"[fuse.{key}]" in TEMPLATE, f"{part.__name__}.{key} is not explained"


def test_every_line_that_is_commented_out_is_right_too() -> None:
    """With the lines for tables instead of those for runs."""
    lines = [
        line.removeprefix("# ") if " = " in line or line.startswith("# [") else line for line in TEMPLATE.splitlines()
    ]
    drop = ("every = ", "marks = ", "continuous =", 'kind = "run"')
    text = "\n".join(line for line in lines if not line.startswith(drop)).replace('kind = "run"', "")
    told = config_from(tomllib.loads(text.replace("[source]", "[source]\nkind = 'table'")))
    assert told.columns.seq == "seq" and told.fuse is not None and told.fuse.every_us == 1_000_000
    assert told.fuse.interests["hot"] == Wanted(filters=("motes/#",), where="temperature > 30")
    assert told.order.max_held == 100_000 and told.spark.settings == {"spark.driver.memory": "4g"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[source]\npaht = 'a'\n[output]\npath = 'b'\n", r"\[source\] has no key paht \(did you mean path\?\)"),
        ("[sauce]\n", r"there is no \[sauce\] \(did you mean source\?\)"),
        ("[source]\npath = 'a'\n", r"\[output\] is missing"),
        ("[source]\n[output]\npath = 'a'\n", r"\[source\] lacks path"),
        (LEAST + "[order]\nwait_us = 'long'\n", r"order.wait_us \('long'\): expected"),
        (LEAST + "[fuse]\nevery = 5\n[fuse.interests]\na = { filter = 'x' }\n", "no key filter .did you mean filters"),
        (LEAST + "[fuse]\nvalues = ['x']\n", "every, every_us or marks"),
        (LEAST + "[fuse]\nevery = 5\nevery_us = 5\n", "in one way"),
        (LEAST + "[columns]\nid = 'x'\n", "for tables"),
        (LEAST + "[mode]\ncontinuous = true\n", "a run is ordered as a whole"),
        ("[source]\npath = []\n[output]\npath = 'out'\n", "source.path is empty"),
        ("[source]\npath = 'a'\nkind = 'rnu'\n[output]\npath = 'b'\n", "source.kind .'rnu'."),
        ("[source\n", "is not TOML"),
    ],
)
def test_a_mistake_is_one_sentence(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "CONFIG.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(InputError, match=said) as caught:
        load_config(path)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_a_file_that_is_not_there_says_how_to_get_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="antecede pipeline --init"):
        load_config(tmp_path / "none.toml")


def test_paths_are_taken_from_where_the_file_is(tmp_path: Path) -> None:
    path = tmp_path / "CONFIG.toml"
    path.write_text("[source]\npath = ['a', '/b', 'file:/c']\nvalues = 'v.csv'\n[output]\npath = 'out'\n", "utf-8")
    told = load_config(path)
    assert told.source.paths == [f"{tmp_path}/a", "/b", "file:/c"] and told.source.values == f"{tmp_path}/v.csv"
    assert told.output.path == f"{tmp_path}/out"
    assert config_from({"source": {"path": "a"}, "output": {"path": "o"}}).source.paths == ["a"]
