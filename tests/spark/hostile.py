"""Tables as people have them, and worse: what is written, and an independent count of what must come of it.

Every case writes files below a folder and says which columns mean what, how many rows went in, how many of them can not
be read as rows, and what the others mean: `rows`, one `Line` each, in the order of arrival. `fates` counts from these
alone what ordering must give. Cases with `refused` must end with exit 2 and a sentence with these words.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

TEXTS = pa.list_(pa.string())


class Line(NamedTuple):
    """What a row means; `wrong`: it must be invalid."""

    id: str | None
    parents: tuple[str, ...] = ()
    wrong: bool = False


@dataclass(frozen=True)
class Case:
    name: str
    write: Callable[[Path], None]
    rows: list[Line] = field(default_factory=list)
    aside: int = 0
    columns: dict[str, str] = field(default_factory=lambda: {"id": "id", "parents": "parents", "arrived": "at"})
    refused: str | None = None
    encoding: str | None = None

    @property
    def rows_in(self) -> int:
        return len(self.rows) + self.aside

    @property
    def exit_code(self) -> int:
        return 2 if self.refused or self.aside or set(fates(self.rows)) & {"invalid", "cycle"} else 0


def fates(rows: list[Line]) -> dict[str, int]:
    """How many rows must come out with which fate, when nothing that is missing is waited for."""
    first: dict[str, tuple[str, ...]] = {}
    counts: Counter[str] = Counter()
    for line in rows:
        if not line.id or line.wrong:
            counts["invalid"] += 1
        elif line.id in first:
            counts["duplicate"] += 1
        else:
            first[line.id] = line.parents
    for name in first:
        counts["cycle" if name in ancestors(name, first) else "delivered"] += 1
    return dict(counts)


def ancestors(name: str, first: dict[str, tuple[str, ...]]) -> set[str]:
    found: set[str] = set()
    stack = list(first[name])
    while stack:
        one = stack.pop()
        if one not in found:
            found.add(one)
            stack.extend(first.get(one, ()))
    return found


# -- what is written ---------------------------------------------------------------------------------------------------


def history(seed: int, size: int = 12) -> list[Line]:
    """A history without faults, shuffled."""
    dice = Random(seed)
    lines = []
    for number in range(size):
        several = sorted({dice.randrange(number) for _ in range(dice.randrange(3))}) if number else []
        lines.append(Line(f"m{number}", tuple(f"m{one}" for one in several)))
    dice.shuffle(lines)
    return lines


BASE = history(1)
IDS = [line.id for line in BASE]
LISTS = [list(line.parents) for line in BASE]


def parquet(name: str = "in.parquet", kinds: dict[str, Any] | None = None, **columns: Any) -> Callable[[Path], None]:
    """One file; a column `at` counts its rows unless it is given."""

    def write(folder: Path) -> None:
        size = len(next(iter(columns.values())))
        told = {"at": list(range(size)), **columns}
        arrays = [pa.array(cells, (kinds or {}).get(column)) for column, cells in told.items()]
        pq.write_table(pa.Table.from_arrays(arrays, names=list(told)), folder / name)

    return write


def listed(rows: list[Line]) -> Callable[[Path], None]:
    return parquet(
        kinds={"id": pa.string(), "parents": TEXTS},
        id=[line.id for line in rows],
        parents=[list(line.parents) for line in rows],
    )


def text(name: str, content: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    return write


def table(header: list[str], rows: list[list[Any]], end: str = "\n") -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator=end).writerows([header, *rows])
    return out.getvalue()


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def both(*writers: Callable[[Path], None]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for one in writers:
            one(folder)

    return write


def torn(folder: Path) -> None:
    listed(BASE)(folder)
    whole = (folder / "in.parquet").read_bytes()
    (folder / "torn.parquet").write_bytes(whole[: len(whole) // 2])


PLAIN = table(
    ["id", "parents", "at"], [[one, " ".join(p), n] for n, (one, p) in enumerate(zip(IDS, LISTS, strict=True))]
)
HEAD, *BODY = PLAIN.splitlines(keepends=True)
DOTTED = {"id": "the id", "parents": "my.parents", "arrived": "at.us"}
MOMENTS = [datetime(2024, 1, 1, tzinfo=UTC) + timedelta(seconds=n) for n in range(len(BASE))]
FLOAT_IDS = [float(n) for n in range(5)] + [float("nan")]


# -- the cases ---------------------------------------------------------------------------------------------------------


def columns_and_types() -> list[Case]:
    odd = {"id": 'i`d,"x"', "parents": "предки", "arrived": "at"}
    numbers = [[int(p[1:]) for p in mine] for mine in LISTS]
    many = [Line(f"x{n}") for n in range(20_000)]
    return [
        Case("arrays", listed(BASE), BASE),
        Case("json text parents", parquet(id=IDS, parents=[json.dumps(p) for p in LISTS]), BASE),
        Case("comma text parents", parquet(id=IDS, parents=[",".join(p) or None for p in LISTS]), BASE),
        Case("semicolon text parents", parquet(id=IDS, parents=["; ".join(p) for p in LISTS]), BASE),
        Case(
            "whole numbers",
            parquet(id=[int(str(one)[1:]) for one in IDS], parents=numbers, kinds={"parents": pa.list_(pa.int64())}),
            [Line(str(one)[1:], tuple(p[1:] for p in line.parents)) for one, line in zip(IDS, BASE, strict=True)],
        ),
        Case(
            "dictionaries and large types",
            parquet(
                id=IDS,
                parents=LISTS,
                kinds={"id": pa.dictionary(pa.int8(), pa.string()), "parents": pa.large_list(pa.large_string())},
            ),
            BASE,
        ),
        Case(
            "floats of a data frame",
            parquet(id=FLOAT_IDS, parents=[None, 0.0, 1.0, float("nan"), 1.5, 0.0]),
            [Line("0"), Line("1", ("0",)), Line("2", ("1",)), Line("3"), Line("4", wrong=True), Line(None)],
        ),
        Case(
            "one parent a row",
            parquet(id=[3, 2, 1], parents=[2, 1, None]),
            [Line("3", ("2",)), Line("2", ("1",)), Line("1")],
        ),
        Case(
            "dotted and spaced names",
            parquet(**{"the id": IDS, "my.parents": LISTS, "at.us": list(range(12))}),
            BASE,
            columns=DOTTED,
        ),
        Case("id and ID", parquet(id=IDS, ID=["other"] * 12, parents=LISTS), BASE),
        Case("names with quotes and letters", parquet(**{odd["id"]: IDS, odd["parents"]: LISTS}), BASE, columns=odd),
        Case(
            "a huge array",
            listed([Line("end", tuple(line.id or "" for line in many)), *many]),
            [Line("end", tuple(line.id or "" for line in many)), *many],
        ),
        Case("no rows", parquet(id=[], parents=[], kinds={"id": pa.string(), "parents": TEXTS}), []),
        Case(
            "payload of all kinds",
            parquet(
                id=IDS,
                parents=LISTS,
                d=[{"x": 1}] * 12,
                m=MOMENTS,
                u=[2**64 - 1] * 12,
                b=[b"\xff"] * 12,
                kinds={"u": pa.uint64()},
            ),
            BASE,
        ),
        Case("times as text with zones", parquet(id=IDS, parents=LISTS, at=[m.isoformat() for m in MOMENTS]), BASE),
        Case(
            "times of other zones",
            parquet(id=IDS, parents=LISTS, at=MOMENTS, kinds={"at": pa.timestamp("ns", "Asia/Tokyo")}),
            BASE,
        ),
        Case(
            "times that are none",
            parquet(id=IDS, parents=LISTS, at=["yesterday", "2024-13-01", *(m.isoformat() for m in MOMENTS[2:])]),
            [line._replace(wrong=n < 2) for n, line in enumerate(BASE)],
        ),
        Case(
            "deadlines that are none",
            parquet(
                id=["a", "b", "c"], parents=[[], [], []], due=["soon", "9999-01-01", None], kinds={"parents": TEXTS}
            ),
            [Line("a", wrong=True), Line("b"), Line("c")],
            columns={"id": "id", "parents": "parents", "arrived": "at", "deadline": "due"},
        ),
        Case(
            "parents as a map",
            parquet(id=["a"], parents=[[("x", 1)]], kinds={"parents": pa.map_(pa.string(), pa.int64())}),
            refused="parents",
        ),
        Case("a column of ours", parquet(id=IDS, parents=LISTS, fate=[0] * 12), refused="already has a column fate"),
        Case(
            "no such column",
            parquet(id=IDS, parents=LISTS),
            columns={"id": "nope", "parents": "parents"},
            refused="no column nope",
        ),
    ]


def rows_of_all_sorts() -> list[Case]:
    spaced = [Line("a", ("", "b")), Line("b"), Line("c", ("a", ""))]
    cases = {
        "null ids": [Line(None), *BASE, Line(None, ("m1",))],
        "empty ids": [Line(""), *BASE, Line("", ("m1",))],
        "a row that names itself": [*BASE, Line("s", ("s",)), Line("t", ("s",))],
        "two rows in a circle": [*BASE, Line("x", ("y",)), Line("y", ("x", "m1")), Line("z", ("y",))],
        "three in a circle and others after it": [
            Line("z", ("a",)),
            Line("a", ("b",)),
            Line("b", ("c",)),
            Line("c", ("a",)),
        ],
        "two circles that meet": [Line("a", ("b",)), Line("b", ("a", "c")), Line("c", ("d",)), Line("d", ("c",))],
        "a circle that waits for what never comes": [
            Line("a", ("b", "u")),
            Line("b", ("a",)),
            Line("c", ("b",)),
            *BASE,
        ],
        "repeated rows": [*BASE, *BASE[:4]],
        "one id with other parents": [*BASE, Line("m3", ("m11",)), Line("n", ("m3",)), Line("m3", ("n",))],
        "parents that never come": [*BASE, Line("x", ("nobody",)), Line("y", ("x", "never"))],
        "empty names in arrays": spaced,
    }
    meant = {"empty names in arrays": [Line("a", ("b",)), Line("b"), Line("c", ("a",))]}
    return [Case(name, listed(rows), meant.get(name, rows)) for name, rows in cases.items()] + [
        Case(
            "nulls in arrays",
            parquet(id=["b", "a"], parents=[["a", None], None], kinds={"parents": TEXTS}),
            [Line("b", ("a",)), Line("a")],
        ),
        Case(
            "parents in braces",
            parquet(id=["b", "a", "c"], parents=["{a,b}", "", "['a']"]),
            [Line("b", wrong=True), Line("a"), Line("c", wrong=True)],
        ),
    ]


def files() -> list[Case]:
    half = len(BODY) // 2
    return [
        Case(
            "several files",
            both(
                parquet("a.parquet", id=IDS[:6], parents=LISTS[:6]),
                parquet("b.parquet", id=IDS[6:], parents=LISTS[6:], at=list(range(6, 12))),
            ),
            BASE,
        ),
        Case(
            "types that differ",
            both(listed(BASE), parquet("other.parquet", id=[1], parents=[["x"]])),
            refused="other.parquet",
        ),
        Case(
            "a column more",
            both(listed(BASE), parquet("other.parquet", id=["x"], parents=[["y"]], z=[1])),
            refused="other.parquet",
        ),
        Case("a torn file among good ones", torn, refused="torn.parquet"),
        Case("a file of no bytes", both(listed(BASE), text("zero.parquet", "")), refused="zero.parquet"),
        Case("a text file", both(listed(BASE), text("notes.txt", "hello")), refused="notes.txt"),
        Case("an empty folder", lambda folder: None, refused="holds no Parquet"),
        Case("files of two kinds", both(listed(BASE), text("x.csv", PLAIN)), refused="different kinds"),
        Case(
            "several files of csv",
            both(text("a.csv", HEAD + "".join(BODY[:half])), text("b.csv", HEAD + "".join(BODY[half:]))),
            BASE,
        ),
        Case("other headers", both(text("a.csv", PLAIN), text("b.csv", "id,refs,at\n1,2,3\n")), refused="b.csv"),
        Case("an empty csv", text("in.csv", ""), refused="in.csv is empty"),
        Case("an empty csv among others", both(text("a.csv", PLAIN), text("b.csv", "")), BASE),
        Case("a header alone", text("in.csv", HEAD), []),
        Case("one name twice in a header", text("in.csv", "id,id,parents,at\n"), refused="two columns id"),
        Case("packed", text("in.csv.gz", PLAIN), BASE),
    ]


def csv_rows() -> list[Case]:
    circle = [Line("x", ("y",)), Line("y", ("x",))]
    french = table(["id", "parents", "at"], [["é", "", 0], ["b", "é", 1], ["c", "b", 2]])
    meant = [Line("é"), Line("b", ("é",)), Line("c", ("b",))]
    zeros = [["007", "", 0], ["7", "007", 1], ["7.0", "7", 2], ["1e3", "", 3], ["1000", "", 4]]
    cells = table(
        ["id", "parents", "at", "note"], [["b", '["a"]', 0, "two\nlines"], ["a", "", 1, 'a "quote", and more']]
    )
    return [
        Case("csv", text("in.csv", PLAIN), BASE),
        Case("carriage returns and a mark", text("in.csv", PLAIN.replace("\n", "\r\n").encode("utf-8-sig")), BASE),
        Case("utf-16", text("in.csv", PLAIN.encode("utf-16")), BASE),
        Case("latin-1, not said", text("in.csv", french.encode("latin-1")), [Line("c", ("b",))], aside=2),
        Case("latin-1, said", text("in.csv", french.encode("latin-1")), meant, encoding="latin-1"),
        Case("ragged rows", text("in.csv", HEAD + "x\n" + "".join(BODY) + "y,,98,more\nz,99\n"), BASE, aside=3),
        Case("a quote that is not closed", text("in.csv", HEAD + 'x,"m1,98\n' + "".join(BODY)), BASE, aside=1),
        Case("a quote open at the end", text("in.csv", PLAIN + 'x,"m1'), BASE, aside=1),
        Case("text after a quote", text("in.csv", PLAIN + 'x,"m1" m2,99\n'), BASE, aside=1),
        Case("a byte that is none", text("in.csv", PLAIN.encode() + b"x\xff,m1,99\n\x80\x81\n"), BASE, aside=2),
        Case(
            "numbers that are names",
            text("in.csv", table(["id", "parents", "at"], zeros)),
            [Line(str(one), tuple(filter(None, [str(p)]))) for one, p, _ in zeros],
        ),
        Case("cells over lines, json parents", text("in.csv", cells), [Line("b", ("a",)), Line("a")]),
        Case("id and ID in csv", text("in.csv", "ID,id,parents,at\nz,b,a,0\nz,a,,1\n"), [Line("b", ("a",)), Line("a")]),
        Case(
            "dotted and spaced names in csv",
            text("in.csv", PLAIN.replace("id,parents,at", "the id,my.parents,at.us")),
            BASE,
            columns=DOTTED,
        ),
        Case(
            "circles and bad rows in csv",
            text("in.csv", PLAIN + "x,y,97\ny,x,98\n,m1,99\nragged\n"),
            [*BASE, *circle, Line(None)],
            aside=1,
        ),
        Case(
            "parents that cannot be read in csv",
            text("in.csv", PLAIN + '"x","{m1,m2}",99\n"y","[""m1""",100\n'),
            [*BASE, Line("x", wrong=True), Line("y", wrong=True)],
        ),
        Case("blank lines", text("in.csv", "\n" + HEAD + "\n\n".join(BODY) + "\n\n"), BASE),
    ]


def json_rows() -> list[Case]:
    plain = [{"id": line.id, "parents": list(line.parents), "at": n} for n, line in enumerate(BASE)]
    mixed = '{"id": 1, "parents": null, "at": 0}\n{"id": "b", "parents": "1", "at": 1}\n'
    mixed += '{"id": 1.10, "parents": ["b", 1], "at": 2}\n'
    drift = '{"id": "a", "at": 0, "x": {"y": [1]}}\n{"id": "b", "parents": ["a"], "at": 1, "x": "text", "new": 3}\n'
    return [
        Case("json lines", text("in.jsonl", lines(plain)), BASE),
        Case("json as one list", text("in.json", json.dumps(plain, indent=1)), BASE),
        Case("json lines that are torn", text("in.json", lines(plain) + '{"id": "x", "par\nnonsense\n'), BASE, aside=2),
        Case("json that is no object", text("in.json", lines(plain) + '[1, 2]\n"x"\n17\n'), BASE, aside=3),
        Case("a key twice", text("in.json", lines(plain) + '{"id": "x", "id": "y", "at": 99}\n'), BASE, aside=1),
        Case("half a character", text("in.json", lines(plain) + '{"id": "\\ud800", "at": 99}\n'), BASE, aside=1),
        Case(
            "numbers and texts as ids", text("in.json", mixed), [Line("1"), Line("b", ("1",)), Line("1.10", ("b", "1"))]
        ),
        Case("columns that come and go", text("in.json", drift), [Line("a"), Line("b", ("a",))]),
        Case("json packed", text("in.json.gz", lines(plain)), BASE),
        Case("nothing that can be read", text("in.json", "x\ny\n"), refused="in.json"),
    ]


def clocks_and_numbers() -> list[Case]:
    by_clock = {"id": "id", "clock": "clock", "sender": "who", "arrived": "at"}
    by_number = {"id": "id", "sender": "who", "seq": "n", "arrived": "at"}
    good = ['{"p": 2, "q": 1}', '{"p": 1}', '{"q": 1}']
    meant = [Line("a", ("b", "c")), Line("b"), Line("c")]
    bad = ["p:1", '{"p": "1"}', '{"p": -4}', "", None]
    names = [f"bad{n}" for n in range(len(bad))]
    ids = ["a", "b", "c", *names]
    maps = [[("p", 2), ("q", 1)], [("p", 1)], [("q", 1)], [("p", -1)], None]
    return [
        Case("clocks", parquet(id=["a", "b", "c"], clock=good, who=["p", "p", "q"]), meant, columns=by_clock),
        Case(
            "clocks that are none",
            parquet(id=ids, clock=[*good, *bad], who=["p", "p", "q", *"ppppp"]),
            [*meant, *(Line(name, wrong=True) for name in names)],
            columns=by_clock,
        ),
        Case(
            "clocks as maps",
            parquet(
                id=ids[:5], clock=maps, who=["p", "p", "q", "p", "p"], kinds={"clock": pa.map_(pa.string(), pa.int64())}
            ),
            [*meant, Line("bad0", wrong=True), Line("bad1", wrong=True)],
            columns=by_clock,
        ),
        Case(
            "clocks in json",
            text(
                "in.json",
                '{"id": "b", "clock": {"p": 2}, "who": "p", "at": 0}\n'
                '{"id": "a", "clock": {"p": 1}, "who": "p", "at": 1}\n'
                '{"id": "x", "clock": "p1", "who": "p", "at": 2}\n',
            ),
            [Line("b", ("a",)), Line("a"), Line("x", wrong=True)],
            columns=by_clock,
        ),
        Case(
            "running numbers as text",
            text("in.csv", "id,who,n,at\nb,p,2,0\na,p,1,1\nx,p,two,2\ny,p,,3\nz,,3,4\n"),
            [Line("b", ("a",)), Line("a"), *(Line(one, wrong=True) for one in "xyz")],
            columns=by_number,
        ),
        Case(
            "running numbers with nulls",
            parquet(id=["b", "a", "x", "y"], who=["p", "p", "p", None], n=[2, 1, None, 3]),
            [Line("b", ("a",)), Line("a"), Line("x", wrong=True), Line("y", wrong=True)],
            columns=by_number,
        ),
    ]


CASES = [
    *columns_and_types(), *rows_of_all_sorts(), *files(), *csv_rows(), *json_rows(), *clocks_and_numbers(),
]  # fmt: skip
