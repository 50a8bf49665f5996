"""Batches of matrices of order 4 at most: one pass, in which every fragment eliminates a whole matrix in registers.

    raw --> stack/pivoted_small, or definite_small --> records, four elements to a texel

Larger matrices need separate passes for loading, exchanges, steps, substitutions and storing, see
`glla.operations.stack`. Here there are no dependent passes: the four elements of a texel cost a hundred or two
additions and multiplications, most of which its neighbours repeat. Records, diagnostics, and all numbers are those of
the longer plan, so the same acceptance tests apply.
"""

from __future__ import annotations

from glla.operations.elimination.counts import flops as plu_flops
from glla.operations.stack import PROBES, capacity, raw
from glla.passes import PLAIN, Draft, Forms, Limits, Plan, Uniform, wrapped
from glla.passes.cache import cached_plan

LARGEST = 4
"""Largest order of matrices that one fragment eliminates: a row is a register of four elements."""

LONGEST = 2**22
"""Most elements of a record: the shader finds rows by a division of floats, which are whole numbers up to 2^24."""


def is_small(forms: Forms) -> bool:
    """Whether A is small enough.

    >>> from glla.passes import Form
    >>> is_small((Form((9, 4, 4)), Form((9, 4, 50)))), is_small((Form((9, 5, 5)),))
    (True, False)
    """
    return forms[0].shape[-1] <= LARGEST


def stride(length: int) -> int:
    """Elements from a record to the next: it is filled up to whole texels.

    >>> stride(18)
    20
    """
    return -(-length // 4) * 4


def most(record: int, elements: int, limits: Limits) -> int:
    """Most matrices of which both the elements that come in and the elements of their records fit a texture."""
    if record > LONGEST:
        return 0
    return capacity((1, stride(record) // 4), elements, limits.texture_size)


def most_systems(forms: Forms, limits: Limits) -> int:
    """Small systems that one plan may solve at once."""
    n, columns = forms[-1].matrix
    return most(n * (columns + 3), n * (n + columns), limits)


def most_determinants(forms: Forms, limits: Limits) -> int:
    """Small matrices whose determinants one plan may find at once."""
    n = forms[0].shape[-1]
    return most(4 * n, n * n, limits)


@cached_plan
def solve(forms: Forms, limits: Limits = PLAIN, *, equilibrate: bool = True) -> Plan:
    """Plan of the solution of a stack of small systems, see `glla.operations.stack.solve`. One pass.

    The ``records`` have four elements to a texel and begin with one, see `stride`.
    """
    inverse = len(forms) == 1
    (n, _), (_, columns), count = forms[0].matrix, forms[-1].matrix, forms[0].count
    own: dict[str, Uniform] = {} if inverse else {"start": count * n * n}
    return one_pass(
        "stack/pivoted_small",
        "stack[inverse, pivoted_small]" if inverse else "stack[solve, pivoted_small]",
        count,
        n * (n if inverse else n + columns),
        (columns, n * (columns + 3)),
        own,
        {"ORDER": n, "IDENTITY": int(inverse), "EQUILIBRATE": int(equilibrate)},
        plu_flops((n, n)) + 2 * n * n * (columns + PROBES),
        limits,
    )


@cached_plan
def determinant(forms: Forms, limits: Limits = PLAIN) -> Plan:
    """Plan of the parts of the determinants of a stack of small matrices, see `glla.operations.stack.determinant`.

    One pass; ``records`` as those of `solve`.
    """
    n, count = forms[0].shape[-1], forms[0].count
    defines = {"ORDER": n, "DETERMINANT": 1}
    name = "stack[determinant, pivoted_small]"
    return one_pass("stack/pivoted_small", name, count, n * n, (0, 4 * n), {}, defines, plu_flops((n, n)), limits)


def one_pass(
    shader: str,
    operation: str,
    count: int,
    elements: int,
    record: tuple[int, int],
    own: dict[str, Uniform],
    defines: dict[str, int],
    flops: int,
    limits: Limits,
) -> Plan:
    """Plan of one pass from operands to records. `record`: columns of X, and elements; `flops`: for each matrix.

    The shader takes ``raw`` and the uniform ``extent``, beside those of its `own`.
    """
    columns, length = record
    draft = Draft(operation)
    operand = draft.operand("raw", raw(count * elements, limits.texture_size))
    storage = wrapped(count * stride(length), limits.texture_size)
    result = draft.slot("records", storage)
    extent = (count, columns, stride(length) // 4, storage.width)
    draft.draw(shader, {"raw": operand}, result, {"extent": extent, **own}, dict(defines))
    return draft.plan({"records": result}, count * flops)
