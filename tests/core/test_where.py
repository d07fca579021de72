"""The language of `where=`: its sentences, its faults with their places, its bounds, and a slow twin."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from antecede.core.where import MAX_DEPTH, MAX_WHERE, parse_where
from antecede.errors import InputError

SAID: dict[str, Any] = {
    "temp": "21.5", "room": "a", "on": "true", "content-type": "json", "a.b": "7",
    "payload.temp": 19, "payload.name": "Ann", "payload.ok": False, "payload.pump.rpm": 1e3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("temp > 20", True),
        ("temp>20 and room=='a'", True),
        ("temp > 20 and room in ('a', 'b')", True),
        ("room in ('b',)", False),
        ("room not in ('b', 'c')", True),
        ("payload.temp > 20", False),
        ("payload.temp == 19.0", True),
        ("10 < payload.temp <= 19", True),
        ("20 > payload.temp", True),
        ("payload.pump.rpm >= 1000", True),
        ("payload.ok == false", True),
        ("not payload.ok == true", True),
        ("on == true", True),  # a header reads as what it is compared with
        ("room == true", False),
        ("temp == '21.5'", True),
        ("temp < '3'", True),  # as texts
        ('a.b == 7 and content-type == "json"', True),
        ("temp > payload.temp", True),
        ("payload.name == 'Ann'", True),
        ("payload.name == 'it\\'s'", False),
        ("room == 'b' or room == 'a' and temp > 30", False),  # `and` binds closer
        ("(room == 'b' or room == 'a') and temp > 20", True),
        ("not (room == 'b') and not not temp > 20", True),
        ("-5 < payload.temp", True),
        ("1e1 < temp", True),
    ],
)
def test_sentences(text: str, expected: bool) -> None:
    assert parse_where(text).holds(SAID) is expected


@pytest.mark.parametrize("sign", ["==", "!=", "<", "<=", ">", ">="])
def test_a_comparison_of_what_is_missing_or_of_another_kind_is_false(sign: str) -> None:
    for said in ("gone", "payload.gone", "payload.name", "payload.ok", "room"):
        assert not parse_where(f"{said} {sign} 5").holds(SAID)
        assert parse_where(f"not {said} {sign} 5").holds(SAID)
    assert not parse_where(f"payload.temp {sign} '19'").holds(SAID)
    assert not parse_where("gone in (1, 'a') or gone not in (1, 'a')").holds(SAID)


def test_true_and_false_have_no_size() -> None:
    assert parse_where("payload.ok != true").holds(SAID)
    assert not parse_where("payload.ok < true").holds(SAID)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "ends at character 1"),
        ("temp >", "ends at character 7, where a name or a value is expected"),
        ("temp = 5", "from character 6 on, '= 5': two signs, ==, compare"),
        ("temp > 5 room", "'room' at character 10, where `and`, `or` or the end"),
        ("(temp > 5", "where `)` is expected"),
        ("temp", "where a comparison"),
        ("temp in 5", "'5' at character 9, where a list"),
        ("temp in (", "a name or a value"),
        ("temp in (room)", "'room' at character 10"),
        ("temp in (1 2)", "`,` or `)`"),
        ("temp not > 5", "'>' at character 10, where `in`"),
        ("room == 'a", "cannot be read from character 9 on"),
        ("temp > 20x", "cannot be read from character 8 on"),
        ("__import__('os')", "'(' at character 11"),
        ("and > 5", "'and' at character 1"),
        ("temp > 1e999", "too large"),
        ("a == '\0'", "no text"),
        ("a == '\ud800'", "no text"),
        ("(" * 40 + "a == 1" + ")" * 40, f"more than {MAX_DEPTH} levels deep at character {MAX_DEPTH + 1}"),
        ("not " * 40 + "a == 1", f"more than {MAX_DEPTH} levels deep"),
        ("a == '" + "x" * MAX_WHERE + "'", f"at most {MAX_WHERE}"),
    ],
)
def test_faults_say_where(text: str, fault: str) -> None:
    with pytest.raises(InputError) as said:
        parse_where(text)
    assert fault in str(said.value) and "\n" not in str(said.value)


def test_only_text_is_a_predicate() -> None:
    with pytest.raises(InputError, match="not int"):
        parse_where(5)  # type: ignore[arg-type]


def test_what_it_looks_at_is_known() -> None:
    where = parse_where("  temp > 20 and payload.x in (1, 2) or not temp < limit ")
    assert where.names == {"temp", "payload.x", "limit"}
    assert where.text == "temp > 20 and payload.x in (1, 2) or not temp < limit"
    assert parse_where("not " * MAX_DEPTH + "a == 1").holds({"a": "1"}), "so deep it may go"


# -- a slow twin -----------------------------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "payload.a", "payload.b"])
values = st.one_of(
    st.integers(-3, 3), st.sampled_from([0.5, -1.5]), st.sampled_from(["", "a", "1", "true"]), st.booleans()
)
signs = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
leaves = st.one_of(
    st.tuples(st.just("compare"), names, signs, st.one_of(values, names.map(lambda n: (n,)))),
    st.tuples(st.just("in"), names, st.lists(values, min_size=1, max_size=3), st.booleans()),
)
trees = st.recursive(
    leaves,
    lambda inner: st.one_of(st.tuples(st.just("not"), inner), st.tuples(st.sampled_from(["and", "or"]), inner, inner)),
    max_leaves=6,
)
said = st.fixed_dictionaries(
    {},
    optional={
        "a": st.sampled_from(["", "a", "1", "0.5", "-2", "true", "nan", "1_0"]),
        "b": st.sampled_from(["b", "3", "false"]),
        "payload.a": values,
        "payload.b": values,
    },
)


def written(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value[0])
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def spell(tree: Any) -> str:
    if tree[0] == "compare":
        return f"{tree[1]} {tree[2]} {written(tree[3])}"
    if tree[0] == "in":
        return f"{tree[1]} {'not ' if tree[3] else ''}in ({', '.join(map(written, tree[2]))})"
    if tree[0] == "not":
        return f"not ({spell(tree[1])})"
    return f"({spell(tree[1])}) {tree[0]} ({spell(tree[2])})"


def meanings(name: str, value: Any) -> list[Any]:
    """All that a value may be taken for: a header also for what it reads as."""
    if name.startswith("payload.") or not isinstance(value, str):
        return [value]
    read = [value]
    if value in ("true", "false"):
        read.append(value == "true")
    if value.lstrip("-").replace(".", "", 1).isdigit() and value[-1] != ".":
        read.append(float(value))
    return read


def kind(value: Any) -> str:
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def judged(sign: str, left: list[Any], right: list[Any]) -> bool:
    """The first kind that both may be, numbers before texts."""
    for wanted in ("truth", "number", "text"):
        pairs = [(a, b) for a in left for b in right if kind(a) == kind(b) == wanted]
        if pairs and not (wanted == "truth" and len(left) > 1 and len(right) > 1):
            a, b = pairs[0]
            if sign in ("==", "!="):
                return bool((a == b) == (sign == "=="))
            return wanted != "truth" and bool({"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b}[sign])
    return False


def slowly(tree: Any, fields: dict[str, Any]) -> bool:
    if tree[0] == "compare":
        name, other = tree[1], tree[3]
        right = meanings(other[0], fields.get(other[0])) if isinstance(other, tuple) else [other]
        if name not in fields or (isinstance(other, tuple) and other[0] not in fields):
            return False
        return judged(tree[2], meanings(name, fields[name]), right)
    if tree[0] == "in":
        if tree[3]:
            return all(slowly(("compare", tree[1], "!=", one), fields) for one in tree[2])
        return any(slowly(("compare", tree[1], "==", one), fields) for one in tree[2])
    if tree[0] == "not":
        return not slowly(tree[1], fields)
    inner = [slowly(one, fields) for one in tree[1:]]
    return all(inner) if tree[0] == "and" else any(inner)


@given(trees, said)
@example(("compare", "a", "==", ("b",)), {"a": "1", "b": "3"})
@example(("compare", "a", "<", ("payload.a",)), {"a": "1", "payload.a": 3})
def test_it_agrees_with_its_slow_twin(tree: Any, fields: dict[str, Any]) -> None:
    assert parse_where(spell(tree)).holds(fields) is slowly(tree, fields), spell(tree)


@given(st.text(max_size=60))
def test_any_text_is_a_predicate_or_refused_in_a_sentence(text: str) -> None:
    try:
        parse_where(text).holds(SAID)
    except InputError as fault:
        assert "where=" in str(fault)
