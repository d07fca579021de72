"""The language of `where=`: a predicate over what a message says of itself (004: subscriptions by content).

    temp > 20 and room in ('a', 'b')            payload.alarm == true or not (payload.level <= 3)

Decided here, for every reader of it (brokers, clients, the oracle, the audit on Spark):

- a name is a header, or with `payload.` in front a value of a JSON payload (`payload.pump.rpm`); a value is a number,
  a text in quotes, true or false;
- comparisons are == != < <= > >=, also in a row (10 < temp <= 20), `in (..)` and `not in (..)`; not, and, or and
  parentheses join them;
- a comparison of what is missing is false, whichever it is, and so is one of things that cannot be compared: a text
  with a number, true with anything but true and false, and those two by size;
- a header is a text, a number, true or false; a text among them, as MQTT has only texts, counts as the number, true or
  false that it reads as when it is compared with one.

Nothing is evaluated as Python. Size and depth are bounded, since a broker evaluates what strangers wrote.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from antecede.errors import InputError

__all__ = ["MAX_DEPTH", "MAX_WHERE", "PAYLOAD", "Fields", "Value", "Where", "as_number", "parse_where"]

MAX_WHERE = 1000
"""Characters of a predicate. Raising it costs brokers time for each message and each such predicate."""
MAX_DEPTH = 32
"""Parentheses and `not`s within each other."""
PAYLOAD = "payload."
"""What names of values in a JSON payload begin with."""

Value = str | int | float | bool
Fields = Mapping[str, Value]
"""What a predicate sees of a message (`content.py`)."""
Test = Callable[[Fields], bool]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.]))
    | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*)
    | (?P<sign>==|!=|<=|>=|<|>|\(|\)|,)
    )""",
    re.VERBOSE | re.DOTALL,
)
_NUMBER = re.compile(r"-?[0-9]{1,60}(?:\.[0-9]{1,60})?(?:[eE][+-]?[0-9]{1,5})?")
_COMPARE: dict[str, Callable[[Value, Value], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_WORDS = ("and", "or", "not", "in", "true", "false")


class Where:
    """A predicate. `holds(fields)`: whether it is true of a message that says this of itself."""

    __slots__ = ("holds", "names", "text")

    def __init__(self, text: str, names: frozenset[str], holds: Test) -> None:
        self.text = text
        self.names = names
        """The names that a predicate looks at."""
        self.holds = holds


@lru_cache(maxsize=4096)
def parse_where(text: str) -> Where:
    """
    >>> where = parse_where("temp > 20 and room in ('a', 'b')")
    >>> where.holds({"temp": "21.5", "room": "a"}), where.holds({"temp": "21.5"}), where.holds({"temp": "hot"})
    (True, False, False)
    >>> parse_where("temp >")
    Traceback (most recent call last):
    antecede.errors.InputError: where='temp >' ends at character 7, where a name or a value is expected, such as \
temp > 20.
    """
    if not isinstance(text, str):
        raise InputError(f'where= takes a text such as "temp > 20", not {type(text).__name__}.')
    if len(text) > MAX_WHERE:
        raise InputError(f"where= has {len(text)} characters: at most {MAX_WHERE} are evaluated for every message.")
    parser = _Parser(text.strip())
    holds = parser.whole()
    return Where(parser.text, frozenset(parser.names), holds)


class Token(NamedTuple):
    kind: str
    """`number`, `text`, `name`, `sign`, or `end`."""
    text: str
    at: int


class Operand(NamedTuple):
    """One side of a comparison: a name, or a value."""

    name: str | None
    value: Value | None = None

    def of(self, fields: Fields) -> Value | None:
        return self.value if self.name is None else fields.get(self.name)

    @property
    def header(self) -> bool:
        return self.name is not None and not self.name.startswith(PAYLOAD)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.names: set[str] = set()
        self._depth = 0
        self._tokens = _tokens(text)
        self._place = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._place]

    def _took(self, *texts: str) -> Token | None:
        """The next token, if it is one of these words or signs."""
        token = self._next
        if token.kind not in ("name", "sign") or token.text not in texts:
            return None
        self._place += 1
        return token

    def _expected(self, what: str) -> InputError:
        token = self._next
        if token.kind == "end":
            return _fault(self.text, f"ends at character {token.at + 1}, where {what} is expected, such as temp > 20.")
        return _fault(self.text, f"has {token.text[:20]!r} at character {token.at + 1}, where {what} is expected.")

    def whole(self) -> Test:
        test = self._any()
        if self._next.kind != "end":
            raise self._expected("`and`, `or` or the end")
        return test

    def _any(self) -> Test:
        tests = [self._all()]
        while self._took("or"):
            tests.append(self._all())
        return tests[0] if len(tests) == 1 else lambda fields: any(test(fields) for test in tests)

    def _all(self) -> Test:
        tests = [self._one()]
        while self._took("and"):
            tests.append(self._one())
        return tests[0] if len(tests) == 1 else lambda fields: all(test(fields) for test in tests)

    def _one(self) -> Test:
        opened = self._took("not", "(")
        if opened is None:
            return self._comparison()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _fault(self.text, f"goes more than {MAX_DEPTH} levels deep at character {opened.at + 1}.")
        if opened.text == "not":
            negated = self._one()
            self._depth -= 1
            return lambda fields: not negated(fields)
        inner = self._any()
        if not self._took(")"):
            raise self._expected("`)`")
        self._depth -= 1
        return inner

    def _comparison(self) -> Test:
        left = self._operand()
        among = self._among(left)
        if among is not None:
            return among
        pairs = []
        while (sign := self._took(*_COMPARE)) is not None:
            right = self._operand()
            pairs.append((left, _COMPARE[sign.text], right))
            left = right
        if not pairs:
            raise self._expected("a comparison (== != < <= > >= or in)")
        return lambda fields: all(_compared(one, how, other, fields) for one, how, other in pairs)

    def _among(self, left: Operand) -> Test | None:
        negated = self._took("not") is not None
        if not self._took("in"):
            if negated:
                raise self._expected("`in`")
            return None
        if not self._took("("):
            raise self._expected("a list such as ('a', 'b')")
        listed = [self._value()]
        while self._took(",") and self._next.text != ")":
            listed.append(self._value())
        if not self._took(")"):
            raise self._expected("`,` or `)`")
        if negated:
            return lambda fields: all(_compared(left, operator.ne, one, fields) for one in listed)
        return lambda fields: any(_compared(left, operator.eq, one, fields) for one in listed)

    def _operand(self) -> Operand:
        token = self._next
        if token.kind == "name" and token.text not in _WORDS:
            self._place += 1
            self.names.add(token.text)
            return Operand(token.text)
        return self._value()

    def _value(self) -> Operand:
        token = self._next
        if token.kind == "number":
            value: Value | None = as_number(token.text)
        elif token.kind == "text":
            value = re.sub(r"\\(.)", r"\1", token.text[1:-1], flags=re.DOTALL)
        elif token.kind == "name" and token.text in ("true", "false"):
            value = token.text == "true"
        else:
            raise self._expected("a name or a value")
        if value is None:
            raise _fault(self.text, f"has a number at character {token.at + 1} that is too large.")
        self._place += 1
        return Operand(None, value)


def _tokens(text: str) -> list[Token]:
    if "\0" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        raise InputError("where= holds a character that is no text.")
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            at += len(text[at:]) - len(text[at:].lstrip())
            cure = ": two signs, ==, compare" if text[at] == "=" else ""
            raise _fault(text, f"cannot be read from character {at + 1} on, {text[at : at + 10]!r}{cure}.")
        kind = found.lastgroup or ""
        tokens.append(Token(kind, found[kind], found.start(kind)))
        at = found.end()
    return [*tokens, Token("end", "", len(text))]


def _fault(text: str, what: str) -> InputError:
    return InputError(f"where={text if len(text) <= 60 else text[:57] + '...'!r} {what}")


def as_number(text: str) -> int | float | None:
    """The number that a text reads as."""
    if not _NUMBER.fullmatch(text):
        return None
    number = int(text) if text.lstrip("-").isdigit() else float(text)
    return number if math.isfinite(number) else None


def _compared(left: Operand, how: Callable[[Value, Value], bool], right: Operand, fields: Fields) -> bool:
    one, other = left.of(fields), right.of(fields)
    if one is None or other is None:
        return False
    if left.header and right.header:
        mine, theirs = _read_like(one, 0), _read_like(other, 0)
        if mine is not None and theirs is not None:
            one, other = mine, theirs
    elif left.header:
        one = _read_like(one, other)
    elif right.header:
        other = _read_like(other, one)
    if one is None or other is None or _kind(one) is not _kind(other):
        return False
    return how(one, other) if _kind(one) is not bool or how in (operator.eq, operator.ne) else False


def _kind(value: Value) -> type:
    """Values of one kind can be compared."""
    return bool if isinstance(value, bool) else str if isinstance(value, str) else float


def _read_like(header: Value, other: Value) -> Value | None:
    """A header as what it is compared with; None: it does not read as such."""
    if isinstance(other, str) or not isinstance(header, str):
        return header
    if isinstance(other, bool):
        return {"true": True, "false": False}.get(header)
    return as_number(header)
