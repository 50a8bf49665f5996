"""Tables of texts: aligned, in Markdown, or for LaTeX; and numbers as their cells.

The first column stands to the left, and so do others that have words alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from glla.lab.samples import Samples

Row = Sequence[str]


def digits(value: float | None) -> str:
    """Write three digits, or all before the point; "-" for None and NaN.

    >>> digits(1234.5), digits(0.001234), digits(None), digits(12)
    ('1234', '0.00123', '-', '12')
    """
    if value is None or math.isnan(value):
        return "-"
    return f"{value:.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.3g}"


def milliseconds(seconds: float | None) -> str:
    """Write seconds as milliseconds, three digits.

    >>> milliseconds(0.0123456), milliseconds(1.5), milliseconds(None)
    ('12.3', '1500', '-')
    """
    return "-" if seconds is None else digits(1e3 * seconds)


def quartiles(samples: Samples | None) -> str:
    """Write the quartiles of a timing, in milliseconds.

    >>> quartiles(Samples((0.001, 0.00123, 0.00125, 0.00132, 0.002)))
    '1.23-1.32'
    """
    return "-" if samples is None else f"{milliseconds(samples.lower)}-{milliseconds(samples.upper)}"


def _sides(head: Row, rows: Iterable[Row]) -> list[str]:
    """Side that each column stands to: < or >."""
    kept = list(rows)
    columns = [[row[place] for row in kept] for place in range(len(head))]
    numeric = [set(cells) == {"-"} or any(re.match(r"[-+.]?\d", cell) for cell in cells) for cells in columns]
    return [">" if place and numeric[place] else "<" for place in range(len(head))]


def aligned(head: Row, rows: Sequence[Row]) -> str:
    """Write a table in columns.

    >>> print(aligned(["way", "ms"], [["ours", "1"], ["theirs", "12"]]))
    way     ms
    ours     1
    theirs  12
    """
    widths = [max(map(len, cells)) for cells in zip(head, *rows, strict=True)]
    formats = [f"{side}{width}" for side, width in zip(_sides(head, rows), widths, strict=True)]
    return "\n".join("  ".join(map(format, row, formats)).rstrip() for row in (head, *rows))


def titled(title: str, head: Row, rows: Sequence[Row]) -> str:
    """Write a table in columns below its title, with an empty line behind it."""
    return f"{title}\n{aligned(head, rows)}\n"


def markdown(head: Row, rows: Iterable[Row]) -> str:
    """Write a table in Markdown.

    >>> print(markdown(["way", "ms"], [["ours", "1"]]))
    | way | ms |
    |---|---|
    | ours | 1 |
    """
    first, *others = (f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in (head, *rows))
    return "\n".join([first, "|" + "---|" * len(head), *others])


def latex(head: Row, rows: Sequence[Row]) -> str:
    r"""Write a table for LaTeX, with the rules of its package booktabs.

    >>> print(latex(["way", "of fma"], [["a_b", "12-13%"]]))
    \begin{tabular}{lr}
    \toprule
    way & of fma \\
    \midrule
    a\_b & 12--13\% \\
    \bottomrule
    \end{tabular}
    """
    ranged = [[re.sub(r"(\d)-(\d)", r"\1--\2", cell) for cell in row] for row in rows]
    sides = "".join("r" if side == ">" else "l" for side in _sides(head, rows))
    first, *others = (re.sub(r"([_%#$])", r"\\\1", " & ".join(row)) + r" \\" for row in (head, *ranged))
    lines = [
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        first,
        r"\midrule",
        *others,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)
