"""Growing Arrow streams: whole batches are found without reading them, wherever the tail is torn."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from antecede.errors import InputError
from antecede.trace import ipc
from tests.spark.traces import steps, write_stream


def test_pieces_are_those_of_arrow_itself(tmp_path: Path) -> None:
    write_stream(tmp_path / "a.arrow", 3, 1, 50).close()
    found = list(ipc.pieces(tmp_path / "a.arrow"))
    assert [(p.kind, p.rows) for p in found] == [(ipc.SCHEMA, 0), (ipc.RECORDS, 3), (ipc.RECORDS, 1), (ipc.RECORDS, 50)]
    with pa.OSFile(str(tmp_path / "a.arrow")) as file:
        places = []
        while True:
            try:
                pa.ipc.read_message(file)
            except EOFError:
                break
            places.append(file.tell())
    assert [p.at + p.size for p in found] == places


def test_every_torn_tail_gives_the_whole_batches_before_it(tmp_path: Path) -> None:
    write_stream(tmp_path / "a.arrow", 2, 3, 4).close()
    data, torn = (tmp_path / "a.arrow").read_bytes(), tmp_path / "torn.arrow"
    ends = [p.at + p.size for p in ipc.pieces(tmp_path / "a.arrow")]
    for size in range(0, len(data), 7):
        torn.write_bytes(data[:size])
        whole = sum(1 for end in ends if end <= size)
        assert steps(b for _, b in ipc.batches(torn, 0, 0)) == list(range([0, 0, 2, 5, 9][whole]))
        assert (ipc.stream_schema(torn) is None) is (whole == 0)


def test_reading_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    appender = write_stream(path, 5, 5)
    last = list(ipc.pieces(path))[-1]
    assert list(ipc.pieces(path, last.at + last.size)) == []
    from tests.spark.traces import rows

    appender.append(rows("a", 4, 10))
    assert [(row, steps([b])) for row, b in ipc.batches(path, last.at + last.size, 10)] == [(10, [10, 11, 12, 13])]
    assert [row for row, _ in ipc.batches(path, last.at, 5)] == [5, 10]


def test_zeros_after_a_power_cut_are_a_tail(tmp_path: Path) -> None:
    write_stream(tmp_path / "a.arrow", 5)
    with (tmp_path / "a.arrow").open("ab") as file:
        file.write(bytes(4096))
    assert steps(b for _, b in ipc.batches(tmp_path / "a.arrow", 0, 0)) == list(range(5))


def test_bytes_that_make_no_sense_are_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    write_stream(path, 5, 5, 5).close()
    data = path.read_bytes()
    second = list(ipc.pieces(path))[2]
    for at, junk in ((second.at, b"junk"), (second.at + 8, b"\xff" * 4)):
        path.write_bytes(data[:at] + junk + data[at + len(junk) :])
        with pytest.raises(InputError, match=rf"a\.arrow is a damaged Arrow stream: .*{second.at}"):
            list(ipc.pieces(path))
    offsets = data.index(b"publish", second.at)  # in the body: texts are checked against their offsets
    path.write_bytes(data[:offsets] + b"\xff" * 7 + data[offsets + 7 :])
    with pytest.raises(InputError, match=rf"a\.arrow is a damaged Arrow stream: at byte {second.at}, "):
        list(ipc.batches(path, 0, 0))


def test_what_is_no_stream(tmp_path: Path) -> None:
    (tmp_path / "a.arrow").write_bytes(b"not a stream at all")
    with pytest.raises(InputError, match="no message begins at byte 0"):
        ipc.stream_schema(tmp_path / "a.arrow")
    with pytest.raises(InputError, match="cannot read"):
        list(ipc.pieces(tmp_path / "gone.arrow"))


def test_dictionaries_of_other_writers(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.dictionary(pa.int32(), pa.string()))])
    path = tmp_path / "a.arrow"
    options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=True)
    with path.open("wb", buffering=0) as file, pa.ipc.new_stream(file, schema, options=options) as writer:
        for size in (1, 2, 3):
            words = pa.array([str(n) for n in range(size)]).dictionary_encode()
            writer.write_batch(pa.record_batch([pa.array(range(size)), words], schema=schema))
    last = list(ipc.pieces(path))[-1]
    found = [(row, batch.column("b").to_pylist()) for row, batch in ipc.batches(path, last.at, 3)]
    assert found == [(3, ["0", "1", "2"])]
