"""Settings: flags win over the environment, the environment over the file; mistakes name their source."""

from __future__ import annotations

from pathlib import Path

import pytest

from antecede.errors import InputError
from antecede.live.config import SETTINGS, load


def test_each_source_wins_over_the_one_before(tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text('name = "A"\nhttp = 8080\ndrain = "2s"\njoin = ["127.0.0.1:7401"]\n', "utf-8")
    config = load(file, {"ANTECEDE_HTTP": "9090", "ANTECEDE_NAME": "B", "HOME": "/"}, {"name": "C", "records": None})
    assert config["name"] == "C" and config.values["name"].source == "flag"
    assert config["http"] == 9090 and config.values["http"].source == "environment ANTECEDE_HTTP"
    assert config["drain"] == 2.0 and config.values["drain"].source == str(file)
    assert config["join"] == ["127.0.0.1:7401"]
    assert config["listen"] == "127.0.0.1:7400" and config.values["listen"].source == "default"
    assert set(config.values) == {one.key for one in SETTINGS}
    assert [one.key for one in config.changed(load(file))] == ["name", "http"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nam = 'A'", "sets 'nam'"),
        ("name = ", "is not TOML"),
        ("name = 3", "name is text"),
        ("join = 'x'", "list of texts"),
        ("join = ['a b:1']", "IP address"),
        ("limit_rate = 0", "at least 1"),
        ("limit_size = 'big'", "at least 1"),
        ("advertise = 'x:http'", "no address"),
        ("http = 'web'", "is a port"),
        ("http = true", "is a port"),
        ("log = 'xml'", "one of text, json"),
        ("drain = 'soon'", "no duration"),
        ("faults = 'loss=2'", "probability"),
        ("faults = 'fire=1'", "is no fault"),
        ("table = 3", "is a table such as"),
        ("[table]\n'a#' = []", "is no filter"),
        ("listen = '10.0.0.1:x'", "no address"),
    ],
)
def test_mistakes_are_one_sentence(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "broker.toml"
    file.write_text(text, "utf-8")
    with pytest.raises(InputError, match=words):
        load(file)


def test_commas_part_a_list_in_flags_as_in_the_environment() -> None:
    assert load(flags={"carry": ["a/#, b/#", "c"]})["carry"] == ["a/#", "b/#", "c"]
    assert load(flags={"join": ["127.0.0.1:1,127.0.0.1:2"]})["join"] == ["127.0.0.1:1", "127.0.0.1:2"]


def test_of_carry_and_table_the_one_with_the_higher_source_counts(tmp_path: Path) -> None:
    file, table = tmp_path / "broker.toml", {"room/#": ["A"]}
    file.write_text("[table]\n'room/#' = ['A']\n", "utf-8")
    config = load(file, {}, {"carry": ["hall/#"]})
    assert (config["carry"], config["table"]) == (["hall/#"], {})
    assert config.values["table"].source == f"carry (flag) wins over {file}"
    assert load(file, {"ANTECEDE_CARRY": "hall/#"})["table"] == {}
    assert load(file, {"ANTECEDE_CARRY": ""})["table"] == table
    carried = tmp_path / "carry.toml"
    carried.write_text("carry = ['hall/#']\n", "utf-8")
    assert load(environ={"ANTECEDE_TABLE": '{"a=b": []}'})["table"] == {"a=b": []}
    for text in ('{"room/#" = ["A"]}', '{"room/#": ["A"]}'):
        config = load(carried, {"ANTECEDE_TABLE": text})
        assert (config["carry"], config["table"]) == ([], table)
        assert config.values["table"].source == "environment ANTECEDE_TABLE"
    assert load(file, {"ANTECEDE_TABLE": "{}"})["table"] == {}
    with pytest.raises(InputError, match="the environment sets both carry and table: keep"):
        load(environ={"ANTECEDE_CARRY": "a", "ANTECEDE_TABLE": '{"b": []}'})
    file.write_text("carry = ['hall/#']\n[table]\n'room/#' = ['A']\n", "utf-8")
    with pytest.raises(InputError, match=r"broker\.toml sets both carry and table"):
        load(file)
    assert load(file, {}, {"carry": ["a"]})["carry"] == ["a"], "a flag settles it"


@pytest.mark.parametrize("text", ["room/#", '{"room/#" = [A]}', '{"room/#"', "3", '{"room/#" = "A"}'])
def test_a_table_in_the_environment_that_is_none(text: str) -> None:
    with pytest.raises(InputError, match="ANTECEDE_TABLE is a table such as"):
        load(environ={"ANTECEDE_TABLE": text})


def test_a_variable_that_is_nearly_a_setting_is_refused_and_others_are_not() -> None:
    for name, meant in (("LISTN", "LISTEN"), ("LOGLEVEL", "LOG_LEVEL"), ("RECORD", "RECORDS")):
        with pytest.raises(InputError, match=f"has ANTECEDE_{name}, .* is ANTECEDE_{meant} meant"):
            load(environ={f"ANTECEDE_{name}": "x"})
    for name in ("ANTECEDE_TOKEN", "ANTECEDE_CA", "ANTECEDE_TRACEBACK", "ANTECEDE_NUMBA", "ANTECEDE_MY_OWN", "LISTN"):
        assert load(environ={name: "x"}) == load()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        load(tmp_path / "none.toml")


def test_the_table_in_the_document_is_this_one() -> None:
    text = (Path(__file__).parents[2] / "docs" / "live.md").read_text("utf-8")
    section = text.partition("\n## Settings of a broker\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:-1] for line in section.splitlines() if line.startswith("| `")]
    assert [(key.strip(" `"), changes.strip(), meaning.strip()) for key, _, changes, meaning in rows] == [
        (one.key, "yes" if one.reloads else "no", one.meaning) for one in SETTINGS
    ]
    for (_, default, *_), one in zip(rows, SETTINGS, strict=True):
        assert default.strip() == (str(one.default) if one.default else "0" if one.kind == "port" else "none")
