"""The door of the package: every name leads somewhere, and opening it costs nothing until a name is used."""

import subprocess
import sys

import pytest

import antecede


def test_what_a_node_gives_can_be_named_in_annotations() -> None:
    node = antecede.connect(name="ann")
    assert isinstance(node, antecede.Client) and isinstance(antecede.connect_blocking(), antecede.BlockingNode)
    assert antecede.Fate("ann:1", "late").messages == 1
    assert {antecede.Inbox.__name__, antecede.BlockingInbox.__name__} == {"Inbox", "BlockingInbox"}
    assert {antecede.FusedInbox.__name__, antecede.BlockingFusedInbox.__name__} == {"FusedInbox", "BlockingFusedInbox"}


@pytest.mark.parametrize("name", antecede.__all__)
def test_every_name_leads_somewhere(name: str) -> None:
    assert getattr(antecede, name).__name__ == name
    assert name in dir(antecede)


def test_an_unknown_name_says_what_there_is() -> None:
    with pytest.raises(AttributeError, match="simulate"):
        antecede.connct  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("pyarrow", "numpy", "msgspec", "pyspark", "antecede.spark")
    code = f"import antecede, sys; print(any(m in sys.modules for m in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_the_room_of_spark_opens_without_spark() -> None:
    code = (
        "import antecede, sys; antecede.spark.__all__; print('antecede.spark' in sys.modules, 'pyspark' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True False\n"
