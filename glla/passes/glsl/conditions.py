"""The preprocessor's conditions: which lines of a GLSL text ``#if`` and its kin leave in.

The driver does the real preprocessing. This is for what glla must know of a text before, and without a driver: what it
declares with these defines. Conditions are those of GLSL: C's operators on integers, except ``?:``. They come from
files of strangers, so each either has a value or is refused with its place, and all end soon. What drivers differ in is
refused, too: numbers beyond 32 bits, and macros with arguments. A name without a meaning is 0, as in C.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import add, and_, eq, ge, gt, invert, le, lshift, lt, mul, ne, neg, not_, or_, pos, rshift, sub, xor
from typing import NoReturn

from glla.errors import ShaderError

NESTING = 32
"""Parentheses that may be nested in a condition; C89 asks a compiler for 32."""

EXPANSION = 10_000
"""Words that the macros of one condition may stand for; it ends a text whose macros double each other."""

LIMIT = 2**31
"""Integers of a condition are from -LIMIT to LIMIT - 1: GLSL has 32 bits, and some drivers calculate with no more."""

SHOWN = 200
"""Characters of a source line that a message shows."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|else|elif|endif|define|undef)\b(.*)", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_MACRO = re.compile(rf"({_NAME.pattern})(\(?)(.*)", re.DOTALL)
_TOKEN = re.compile(rf"\s*({_NAME.pattern}|[0-9][0-9A-Za-z_.]*|<<|>>|<=|>=|==|!=|&&|\|\||\S)")
_INTEGER = re.compile(r"0[xX][0-9A-Fa-f]+|[0-9]+")
_JOINT = "\0"  # stands for the end of a line that goes on in the next

Macros = dict[str, str | None]
"""What each macro stands for; None for one that takes arguments."""


def uncommented(text: str) -> str:
    r"""Text without its comments; every line keeps its number.

    >>> uncommented("a /* b\nc */ d // e")
    'a \n d '
    """
    return _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)


def active(text: str, where: Callable[[int], str], macros: Macros) -> str:
    r"""Drop comments, and the lines that conditions leave out.

    `text`: a resolved stage. `where`: from the number of a line, from 1, to its place for a message, ``file:line``.
    `macros`: those that GL itself defines. The text's own are added.
    Raises ShaderError: a condition has no value, or conditionals do not pair: the place, the reason and the line.

    >>> active("#if 7 / 2 == 3\nyes\n#else\nno\n#endif", str, {})
    'yes'
    """
    return "\n".join(line for _, line in left_in(text, where, macros) if not _directive(line))


def left_in(text: str, where: Callable[[int], str], macros: Macros) -> Iterator[tuple[range, str]]:
    r"""Lines that conditions leave in, those with definitions among them: their numbers, and each without comments.

    Parameters and errors are those of `active`.

    >>> list(left_in("#if 0\nno\n#else\n#define K 7 /*\n*/\n#endif\nK", str, {}))
    [(range(4, 6), '#define K 7  '), (range(7, 8), 'K')]
    """
    branches: list[_Branch] = []
    for numbers, line in whole_lines(text):
        directive = _directive(line)
        if directive is not None:
            number = numbers.start
            macros["__LINE__"] = str(number)
            try:
                _follow(directive[1], directive[2].strip(), _Branch(number, line), branches, macros)
            except _MistakeError as mistake:
                _refuse(where(number), str(mistake), line)
        if _is_taken(branches) and (directive is None or directive[1] in ("define", "undef")):
            yield numbers, line
    if branches:
        opened = branches[-1]
        _refuse(where(opened.number), f"this #{opened.kind} has no #endif", opened.line)


def value(text: str, macros: Macros) -> int:
    """Value of an integer expression, with the operators of a condition.

    Raises ShaderError: it has none; the message says why.

    >>> value("2 * count + CONTINUE", {"count": "10", "CONTINUE": "1"})
    21
    """
    try:
        return _Condition(_words(text, macros)).value()
    except _MistakeError as mistake:
        raise ShaderError(f"{text[:SHOWN]}: {mistake}") from None


class _MistakeError(Exception):
    """Message about a line, without its place."""


class _Branch:
    """An open conditional: is its present branch taken, was one of its branches before, has it come to its #else."""

    def __init__(self, number: int, line: str) -> None:
        self.number, self.line = number, line
        self.kind = "if"
        self.outer = self.taken = self.done = self.last = False


def _directive(line: str) -> re.Match[str] | None:
    return _DIRECTIVE.fullmatch(line) if "#" in line else None  # which is faster for the others


def _is_taken(branches: list[_Branch]) -> bool:
    """Whether the text within these conditionals is left in."""
    return not branches or branches[-1].taken


def _refuse(place: str, reason: str, line: str) -> NoReturn:
    raise ShaderError(f"{place}: {reason}\n      {line.strip()[:SHOWN]}") from None


def whole_lines(text: str) -> Iterator[tuple[range, str]]:
    """Lines with their numbers: one that ends in a backslash goes on in the next, and a comment is a blank.

    That of a directive, too: it goes on behind a comment of several lines. A backslash comes first, as in C: it lets a
    comment of one line go on.
    """
    joined = text.replace(_JOINT, " ").replace("\\\n", _JOINT)
    blank = _COMMENT.sub(lambda match: " " + _JOINT * (match[0].count("\n") + match[0].count(_JOINT)), joined)
    number = 1
    for line in blank.split("\n"):
        end = number + 1 + line.count(_JOINT)
        yield range(number, end), line.replace(_JOINT, "")
        number = end


def _follow(kind: str, rest: str, here: _Branch, branches: list[_Branch], macros: Macros) -> None:
    """Execute a directive."""
    if kind in ("if", "ifdef", "ifndef"):
        here.kind, here.outer = kind, _is_taken(branches)
        here.taken = here.done = here.outer and _holds(kind, rest, macros)
        branches.append(here)
    elif kind in ("define", "undef"):
        if _is_taken(branches):
            _define(kind, rest, macros)
    elif not branches:
        raise _MistakeError(f"#{kind} without an #if")
    elif kind == "endif":
        branches.pop()
    elif branches[-1].last:
        raise _MistakeError(f"#{kind} after #else")
    else:
        branch, branch_is_open = branches[-1], branches[-1].outer and not branches[-1].done
        branch.last = kind == "else"
        branch.taken = branch_is_open and (kind == "else" or _holds("if", rest, macros))
        branch.done = branch.done or branch.taken


def _define(kind: str, rest: str, macros: Macros) -> None:
    macro = _MACRO.match(rest)
    if macro is None:
        raise _MistakeError(f"#{kind} wants a name")
    if kind == "undef":
        macros.pop(macro[1], None)
    else:
        macros[macro[1]] = None if macro[2] else macro[3].strip()


def _holds(kind: str, rest: str, macros: Macros) -> bool:
    if kind == "if":
        return _Condition(_words(rest, macros)).value() != 0
    name = _NAME.match(rest)
    if name is None:
        raise _MistakeError(f"#{kind} wants a name")
    return (name[0] in macros) == (kind == "ifdef")


# -- the value of a condition -----------------------------------------------------------------------------------------


def _wrong(reason: str) -> _MistakeError:
    return _MistakeError(f"cannot evaluate the condition: {reason}; use integers, names, and C's operators")


def _tokens(text: str) -> Iterator[str]:
    return (match[1] for match in _TOKEN.finditer(text))


def _words(text: str, macros: Macros) -> list[str]:
    """Words of a condition, its macros expanded: each not within itself, a name without a meaning is 0."""
    found: list[str] = []
    open_macros = [("", _tokens(text))]  # innermost last
    within = {""}
    for _ in range(EXPANSION):
        name, words = open_macros[-1]
        word = next(words, None)
        if word is None:
            open_macros.pop()
            within.discard(name)
            if not open_macros:
                return found
        elif word == "defined":
            found.append(str(int(_defined(words) in macros)))
        elif not _NAME.fullmatch(word):
            found.append(word)
        elif word not in macros or word in within:
            found.append("0")
        else:
            meaning = macros[word]
            if meaning is None:
                raise _wrong(f"{word} takes arguments")
            open_macros.append((word, _tokens(meaning)))
            within.add(word)
    raise _wrong(f"its macros stand for more than {EXPANSION} words")


def _defined(words: Iterator[str]) -> str:
    """Name in ``defined NAME`` or ``defined(NAME)``."""
    name = next(words, "")
    if name == "(":
        name, end = next(words, ""), next(words, "")
        name = name if end == ")" else ""
    if not _NAME.fullmatch(name):
        raise _wrong("defined wants a name")
    return name


def _quotient(a: int, b: int) -> int:
    """Divide as C does: towards zero."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_LEVELS: tuple[dict[str, Callable[[int, int], int]], ...] = (
    {"||": lambda a, b: a != 0 or b != 0},
    {"&&": lambda a, b: a != 0 and b != 0},
    {"|": or_},
    {"^": xor},
    {"&": and_},
    {"==": eq, "!=": ne},
    {"<": lt, ">": gt, "<=": le, ">=": ge},
    {"<<": lshift, ">>": rshift},
    {"+": add, "-": sub},
    {"*": mul, "/": _quotient, "%": lambda a, b: a - b * _quotient(a, b)},
)
"""Binary operators; those of a later level bind closer. All group from the left."""

_BINARY = {word: (level, function) for level, one in enumerate(_LEVELS, 1) for word, function in one.items()}
_UNARY: dict[str, Callable[[int], int]] = {"+": pos, "-": neg, "~": invert, "!": not_}


class _Condition:
    """Parser of a condition that evaluates it (precedence climbing)."""

    def __init__(self, words: list[str]) -> None:
        self._words = [*words, ""]  # the last is the end
        self._at = 0
        self._depth = 0

    def value(self) -> int:
        """Value of the whole condition."""
        value = self._binary(1, True)
        if self._next:
            self._check_operator(self._next)
            raise _wrong(f"an operator is missing before {self._next!r}")
        return value

    @property
    def _next(self) -> str:
        return self._words[self._at]

    def _binary(self, lowest: int, counts: bool) -> int:
        """Value of operands and operators that bind at least so closely; a part that does not count may be wrong."""
        left = self._unary(counts)
        while (level := _BINARY.get(self._next, (0,))[0]) >= lowest:
            operator = self._next
            self._at += 1
            decided = operator in ("&&", "||") and (left != 0) == (operator == "||")
            right = self._binary(level + 1, counts and not decided)
            left = _applied(operator, left, right) if counts else 0
        return left

    def _unary(self, counts: bool) -> int:
        first = self._at
        while self._next in _UNARY:
            self._at += 1
        operators = self._words[first : self._at]
        value = self._operand(counts)
        for operator in reversed(operators):
            value = _fitting(int(_UNARY[operator](value))) if counts else 0
        return value

    def _operand(self, counts: bool) -> int:
        word = self._next
        if word[:1].isdigit() and word.isascii():
            self._at += 1
            return _integer(word)
        if word != "(":
            self._check_operator(word)
            raise _wrong(f"a number, a name or ( is missing {f'before {word!r}' if word else 'at the end'}")
        self._at, self._depth = self._at + 1, self._depth + 1
        if self._depth > NESTING:
            raise _wrong(f"its parentheses are nested more than {NESTING} deep")
        value = self._binary(1, counts)
        if self._next != ")":
            self._check_operator(self._next)
            raise _wrong("a ) is missing")
        self._at, self._depth = self._at + 1, self._depth - 1
        return value

    def _check_operator(self, word: str) -> None:
        known = word in _BINARY or word in _UNARY or word in ("", "(", ")") or word[0] in "0123456789"
        if not known:
            raise _wrong(f"{word!r} is no operator of a condition")


def _integer(word: str) -> int:
    """Value of C's decimal, octal (010 is 8) or hexadecimal integer."""
    octal = word[0] == "0" and word.isdigit()
    if not _INTEGER.fullmatch(word) or (octal and ("8" in word or "9" in word)):
        raise _wrong(f"{word[:SHOWN]!r} is no integer")
    if len(word) > 2 * NESTING:  # Python converts no more than some thousand digits
        raise _wrong(f"{word[:SHOWN]} does not fit 32 bits")
    return _fitting(int(word, 8 if octal else 0))


def _fitting(value: int) -> int:
    if not -LIMIT <= value < LIMIT:
        raise _wrong(f"{value} does not fit 32 bits")
    return value


def _applied(operator: str, a: int, b: int) -> int:
    """Value of `a` and `b` under a binary operator of C."""
    if operator in ("/", "%") and b == 0:
        raise _wrong("it divides by zero")
    if operator in ("<<", ">>") and not 0 <= b < 32:
        raise _wrong(f"it shifts by {b} bits")
    return _fitting(int(_BINARY[operator][1](a, b)))
