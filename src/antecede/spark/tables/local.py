"""A table in this process: its files read into one Arrow table, and beside it what could not be read.

Decided in this file: which tables may be read so (Spark alone knows the values that folders like `day=1/` carry).
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from typing import NamedTuple

import pyarrow as pa

from antecede.errors import InputError, one_line
from antecede.spark.tables.cells import is_written_time
from antecede.spark.tables.decoded import Aside, known_encoding
from antecede.spark.tables.files import Found, one_schema
from antecede.spark.tables.guess import TYPES, built, guessed, joined
from antecede.spark.tables.kinds import settled
from antecede.spark.tables.rows import Block, blocks_of

__all__ = ["Taken", "check_header", "has_times", "no_columns", "read_local"]


class Taken(NamedTuple):
    table: pa.Table
    aside: list[Aside]
    lines: Sequence[int] = ()
    """Of each row the line on which it begins, where all are of one file; empty where that is not known."""

    @property
    def rows_in(self) -> int:
        return self.table.num_rows + len(self.aside)


def read_local(found: Found, texts: Collection[str | None] = (), encoding: str | None = None) -> Taken:
    """All rows. `texts`: columns of CSV and JSON that are text whatever is in them."""
    if found.root is not None:
        raise InputError(f"the folders below {found.root} carry values of columns: that is read with --engine spark")
    if found.kind == "parquet":
        return Taken(parquet(found), [])
    known_encoding(encoding)
    types: dict[str, str] = {}
    blocks: list[tuple[str, Block]] = []
    aside: list[Aside] = []
    for file in map(str, found.files):
        for number, block in enumerate(blocks_of(file, found.kind, encoding)):
            if found.kind == "csv" and not number:
                check_header(file, list(block.columns), str(found.files[0]), list(types))
            for name, word in guessed(block, texts, found.kind == "csv").items():
                types[name] = joined(types.get(name, "none"), word)
            blocks.append((file, block))
            aside += block.aside
    if not types:
        raise InputError(no_columns(found, [bad.reason for bad in aside[:1]]))
    parts = []
    lines = array("q")
    schema = pa.schema([(name, TYPES[word]) for name, word in types.items()])
    for file, block in blocks:
        arrays, wrong, begun = built(block, types, file)
        aside += wrong
        lines.extend(begun)
        parts.append(pa.RecordBatch.from_arrays(arrays, schema=schema))
    return Taken(pa.Table.from_batches(parts, schema), aside, lines if len(found.files) == 1 else ())


def has_times(found: Found, column: str, encoding: str | None = None) -> bool:
    """Whether a column holds times rather than whole numbers, by its type or its first cell that is one of these."""
    file = found.files[0]
    if found.kind == "parquet":
        import pyarrow.parquet as pq

        kind = pq.read_schema(file).field(column).type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return pa.types.is_timestamp(kind) or pa.types.is_date(kind)
        batches = pq.ParquetFile(file).iter_batches(columns=[column])
        cells = (cell for batch in batches for cell in batch.column(0).to_pylist())
    else:
        blocks = blocks_of(file, found.kind, encoding)
        cells = (cell for block in blocks for cell in block.columns.get(column, ()))
    return next((told for told in map(is_written_time, cells) if told is not None), False)


def check_header(file: str, names: list[str], first: str, wanted: list[str]) -> None:
    if wanted and names != wanted:
        odd = [name for name in names if name not in wanted] or [name for name in wanted if name not in names]
        what = f"the column {odd[0]} is in one of them only" if odd else "their order differs"
        raise InputError(f"{file} has other columns than {first}: {what}; give tables of one schema at a time")


def no_columns(found: Found, wrong: list[str]) -> str:
    first = found.files[0]
    if wrong:
        return f"no row of {first} can be read ({wrong[0]}), so its columns are not known"
    return f"{first} is empty: it has no {'header' if found.kind == 'csv' else 'row'}, so its columns are not known"


def parquet(found: Found) -> pa.Table:
    import pyarrow.parquet as pq

    one_schema(found.files)
    parts = []
    for file in found.files:
        try:
            parts.append(pq.ParquetFile(file, page_checksum_verification=True).read())
        except (OSError, pa.ArrowException) as error:
            raise InputError(f"{file} cannot be read as Parquet: {one_line(error)}") from error
    return pa.concat_tables([settled(part) for part in parts], promote_options="permissive")
