"""Tables as people have them: which files a path holds, what their cells mean, and what cannot be read, with why.

    found = files_of(["events/"])                       # one kind of files, or one sentence
    table, aside = read_local(found, texts={"id"})      # in this process, over Arrow; Spark: frames.read_tables
    cells, wrong = read_cells({"id": table["id"], "parents": table["refs"]})

`cells` decides how ids, parents, clocks, numbers and times may be written, for every command and both engines; nothing
here but `frames` needs Spark. Rows in = rows of `table` + rows of `aside`, always.
"""

from antecede.spark.tables.cells import Cells, read_cells, read_role
from antecede.spark.tables.decoded import Aside
from antecede.spark.tables.files import Found, files_of
from antecede.spark.tables.local import Taken, read_local

__all__ = ["Aside", "Cells", "Found", "Taken", "files_of", "read_cells", "read_local", "read_role"]
