"""Cases for what holds of every operation: its call, type of matrix, order, variant, place of the operands, stack.

`CALLS` has a call of the public functions for each record, with the family that its operands are of; `FAMILIES` makes
operands of every type that a family knows; `SPELLINGS` are other forms of a call, `settings` values of parameters. The
records say the rest. test_exact, test_bounded, test_character, test_shapes and test_refused go over these tables; a
file of an operation has what is peculiar to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import glla
from glla.gl.recorder import unpacked
from glla.operations import OPERATIONS
from glla.passes import Limits, Parameters, parameter_space, resident
from glla.testing import JUDGES, MATRICES, NONSINGULAR, Verdict, integers, normal, spd
from glla.testing.adversaries import growing

SOFTWARE = Limits(software=True)
ORDERS = (1, 2, 3, 4, 7, 16, 17, 33)
EDGES = (15, 31, 32, 63, 64, 65, 131)
"""Orders about the blocks and panels of the variants."""

Operands = tuple[np.ndarray, ...]


# -- operands ---------------------------------------------------------------------------------------------------------


def oblong(n: int) -> tuple[int, int]:
    """Rows and columns: as many, or half as many more of the ones or of the others, in turn."""
    return (n + n // 2 * (n % 3 == 2), n + n // 2 * (n % 3 == 0))


def beside(a: np.ndarray, rng: np.random.Generator, columns: int = 2) -> Operands:
    """A system: right-hand sides of the size of the matrix, so that the solution is neither huge nor tiny."""
    size = np.float32(2.0 ** np.floor(np.log2(np.abs(a).max(initial=1e-38))))
    return a, normal(a.shape[-1], columns, rng) * size


def triangle(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """An upper triangle, the other half of it zero."""
    t = np.triu(MATRICES[kind](n, n, rng))
    if kind == "normal":  # of a condition that grows like 2^n
        np.fill_diagonal(t, np.where(np.abs(np.diagonal(t)) < 0.5, 1, np.diagonal(t)))
    return t


def band(width: int, n: int, rng: np.random.Generator, size: float = 1.0) -> np.ndarray:
    """Bands as LAPACK stores them, of a matrix whose diagonal dominates; the corners are zero."""
    ab = rng.uniform(-size, size, (2 * width + 1, n)) / (2 * width)
    ab[width] = rng.uniform(1, 2, n)
    for row in range(width):
        ab[row, : width - row] = ab[2 * width - row, n - min(width - row, n) :] = 0
    return ab.astype(np.float32)


def definite_band(n: int, rng: np.random.Generator, size: float = 1.0) -> np.ndarray:
    """The upper half of such bands, four wide at most: a symmetric matrix, or a factor of one."""
    width = min(4, n - 1)
    return band(max(width, 1), n, rng, size)[max(width, 1) - width : max(width, 1) + 1]


def packed(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Factors of a matrix in one: both triangles are well-conditioned ones."""
    return MATRICES["lower"](n, n, rng) + np.triu(MATRICES["upper"](n, n, rng), 1) * (kind == "both")


TYPES = {f"condition {cond:g}": partial(spd, cond=cond) for cond in (1.0, 100.0, 1e5)} | {
    kind: lambda n, rng, kind=kind: np.abs(MATRICES[kind](n, n, rng)) if kind == "diagonal" else MATRICES[kind](n, n)
    for kind in ("diagonal", "toeplitz", "identity")
}


def _index_sums(n: int) -> Any:
    return np.indices((n, n)) + 1


HARD = {
    "growing": growing,
    "growing, not whole": lambda n: growing(n, -0.9),
    "growing, transposed": lambda n: growing(n, -0.9).T,
    "growing, columns reversed": lambda n: growing(n, -0.9)[:, ::-1],
    "growing slowly": lambda n: growing(n, -0.5),
    "Pei": lambda n: np.ones((n, n)) + np.eye(n),
    "Lehmer": lambda n: np.minimum(*_index_sums(n)) / np.maximum(*_index_sums(n)),
    "Fiedler": lambda n: np.abs(np.subtract(*_index_sums(n))) + np.eye(n) * (n == 1),
    "second difference": lambda n: 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1),
    "Kahan": lambda n: np.diag(0.9 ** np.arange(n)) @ (np.eye(n) - 0.2 * np.triu(np.ones((n, n)), 1)),
    "triangle of ones": lambda n: np.eye(n) - np.triu(np.ones((n, n)), 1),
}
"""Regular matrices by order that an elimination without a second look fails on, or takes for singular."""


def regular(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """A square matrix of a type of MATRICES or of HARD."""
    return np.ascontiguousarray(HARD[kind](n), dtype=np.float32) if kind in HARD else MATRICES[kind](n, n, rng)


@dataclass(frozen=True)
class Family:
    """Operands of a kind of operation.

    Attributes
    ----------
    kinds : tuple of str
        Types of matrices.
    make : callable
        (type, order, random numbers) -> operands.
    bad : str
        Why the matrix may be refused: "singular", "indefinite", "" if it never is.
    hard : tuple of str
        More types, with which a call keeps its bound, a plan alone need not.
    """

    kinds: tuple[str, ...]
    make: Callable[[str, int, np.random.Generator], Operands]
    bad: str = ""
    hard: tuple[str, ...] = ()


EVERY = tuple(MATRICES)
MODERATE = ("lower", "upper", "permutation", "bad_pairs", "swapped_pairs", "antidiagonal", "identity", "zeros", "ones",
            "toeplitz", "wilkinson_growth")  # fmt: skip
"""Types whose determinants fit float32."""
FAMILIES = {
    "product": Family(
        tuple(kind for kind in EVERY if kind not in ("tiny", "huge")),
        lambda kind, n, rng: (MATRICES[kind](n, n + 5, rng), MATRICES[kind](n + 5, 2 * n, rng)),
    ),
    "one factor": Family(
        tuple(kind for kind in EVERY if kind not in ("tiny", "huge")),
        lambda kind, n, rng: (MATRICES[kind](n, n + 5, rng),),
    ),
    "any": Family(EVERY, lambda kind, n, rng: (MATRICES[kind](n, n, rng),)),
    "moderate": Family(
        MODERATE,
        lambda kind, n, rng: (MATRICES[kind](n, n, rng),),
    ),
    "tall": Family(EVERY, lambda kind, n, rng: (MATRICES[kind](*oblong(n), rng),)),
    "form": Family(
        ("integers", "singular", "ones", "diagonal", "zeros", "normal", "conditioned", "permutation", "bad_pairs"),
        lambda kind, n, rng: (MATRICES[kind](n, n + 1, rng),),
        hard=EVERY,
    ),
    "least squares": Family(
        ("normal", "conditioned", "lower", "permutation"),
        lambda kind, n, rng: (MATRICES[kind](2 * n + 1, n, rng), normal(2 * n + 1, 2, rng)),
    ),
    "regular": Family(NONSINGULAR, lambda kind, n, rng: (regular(kind, n, rng),), "singular", tuple(HARD)),
    "system": Family(NONSINGULAR, lambda kind, n, rng: beside(regular(kind, n, rng), rng), "singular", tuple(HARD)),
    "factors": Family(("lower", "both"), lambda kind, n, rng: beside(packed(kind, n, rng), rng), "singular"),
    "triangle": Family(("upper",), lambda kind, n, rng: (triangle(kind, n, rng),), "singular"),
    "triangles": Family(
        ("upper", "normal", "toeplitz"), lambda kind, n, rng: beside(triangle(kind, n, rng), rng), "singular"
    ),
    "definite": Family(tuple(TYPES), lambda kind, n, rng: (TYPES[kind](n, rng),), "indefinite"),
    "definite system": Family(tuple(TYPES), lambda kind, n, rng: beside(TYPES[kind](n, rng), rng), "indefinite"),
    "definite factor": Family(("lower", "both"), lambda kind, n, rng: beside(packed(kind, n, rng), rng), "singular"),
    "three bands": Family(("dominant",), lambda kind, n, rng: beside(band(1, n, rng), rng), "singular"),
    "five bands": Family(("dominant",), lambda kind, n, rng: beside(band(2, n, rng), rng), "singular"),
    "definite band": Family(("dominant",), lambda kind, n, rng: (definite_band(n, rng, 0.9),), "indefinite"),
    "definite bands": Family(("dominant",), lambda kind, n, rng: beside(definite_band(n, rng, 0.9), rng), "indefinite"),
    "band of a factor": Family(("dominant",), lambda kind, n, rng: beside(definite_band(n, rng), rng), "singular"),
}


def cases(family: Family, orders: tuple[int, ...], whole: tuple[int, ...] = (2, 3, 17)) -> Iterator[tuple[str, int]]:
    """Type and order: some orders with every type, each other one with two, in turn."""
    for place, n in enumerate(orders):
        few = [family.kinds[(2 * place + i) % len(family.kinds)] for i in range(2)]
        yield from ((kind, n) for kind in (family.kinds if n in whole else dict.fromkeys(few)))


# -- calls ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A call of a public function that does what a record says.

    Attributes
    ----------
    family : str
        Of its operands.
    function : str
        Name that its errors begin with.
    call : callable
        (operands, **options) -> result.
    stacks : bool
        It takes stacks.
    one_half : str
        "lower" or "upper" where no other half of A is read.
    """

    family: str
    function: str
    call: Callable[..., Any]
    stacks: bool = True
    one_half: str = ""


def _solve(assume_a: str) -> Callable[..., Any]:
    return partial(glla.solve, assume_a=assume_a)


def _inverse(assume_a: str) -> Callable[..., Any]:
    return partial(glla.inv, assume_a=assume_a)


def _lu_solve(lu: Any, b: Any, **options: Any) -> Any:
    return glla.lu_solve((lu, np.broadcast_to(np.arange(lu.shape[-1]), lu.shape[:-1])), b, **options)


CALLS = {
    "matmul": Call("product", "matmul", glla.matmul),
    "syrk": Call("one factor", "matmul", lambda a, **options: glla.matmul(a, a.mT, **options)),
    "plu": Call("tall", "plu", glla.plu, stacks=False),
    "lu_factor": Call("tall", "lu_factor", glla.lu_factor),
    "rref": Call("form", "rref", glla.rref, stacks=False),
    "qr": Call("tall", "qr", glla.qr),
    "lstsq": Call("least squares", "lstsq", glla.lstsq, stacks=False),
    "det": Call("moderate", "det", glla.det),
    "slogdet": Call("any", "slogdet", glla.slogdet),
    "rcond": Call("any", "rcond", glla.rcond),
    "solve": Call("system", "solve", glla.solve),
    "inv": Call("regular", "inv", glla.inv),
    "lu_solve": Call("factors", "lu_solve", _lu_solve),
    "cholesky": Call("definite", "cholesky", glla.cholesky, one_half="lower"),
    "cho_factor": Call(
        "definite", "cho_factor", lambda a, **options: glla.cho_factor(a, True, **options), one_half="lower"
    ),
    "solve_pos": Call("definite system", "solve", _solve("pos"), one_half="upper"),
    "inv_pos": Call("definite", "inv", _inverse("pos"), one_half="upper"),
    "gauss_jordan": Call("definite", "inv", lambda a, **options: glla.inv(a, variant="gauss_jordan", **options)),
    "cho_solve": Call(
        "definite factor",
        "cho_solve",
        lambda c, b, **options: glla.cho_solve((c, True), b, **options),
        one_half="lower",
    ),
    "solve_triangular": Call("triangles", "solve_triangular", glla.solve_triangular, one_half="upper"),
    "triangular_inverse": Call("triangle", "inv", _inverse("upper triangular"), one_half="upper"),
    "tridiagonal": Call(
        "three bands", "solve_banded", lambda ab, b, **options: glla.solve_banded((1, 1), ab, b, **options)
    ),
    "pentadiagonal": Call(
        "five bands", "solve_banded", lambda ab, b, **options: glla.solve_banded((2, 2), ab, b, **options)
    ),
    "solve_pos_banded": Call("definite bands", "solveh_banded", glla.solveh_banded),
    "cholesky_banded": Call("definite band", "cholesky_banded", glla.cholesky_banded),
    "cho_solve_banded": Call(
        "band of a factor",
        "cho_solve_banded",
        lambda cb, b, **options: glla.cho_solve_banded((cb, False), b, **options),
    ),
}
"""Call of the public functions for each record but those of elements that are no matrices (inv3, spmv, windows)."""

DEFINITE = ("cholesky", "cho_factor", "solve_pos", "inv_pos", "solve_pos_banded", "cholesky_banded")
"""What names the leading minor of a matrix that is not positive definite."""

SYSTEMS = ("solve", "lu_solve", "solve_pos", "cho_solve", "solve_triangular", "tridiagonal", "pentadiagonal",
           "solve_pos_banded", "cho_solve_banded")  # fmt: skip
"""What solves a square system for right-hand sides."""

every_call = pytest.mark.parametrize("name", CALLS)
every_system = pytest.mark.parametrize("name", SYSTEMS)


def choices(names: Any = CALLS) -> Iterator[tuple[str, str | None]]:
    """Record and variant, of what has a core that says all; None is the variant that is chosen."""
    for name in names:
        if OPERATIONS[name].trial.values is not None:
            yield from ((name, variant) for variant in (None, *OPERATIONS[name].variants))


every_choice = pytest.mark.parametrize(("name", "variant"), list(choices()))


# -- the same said otherwise ------------------------------------------------------------------------------------------

Spelling = Callable[..., Any]
"""(place, operands, **options) -> result of the call, as of its usual form."""


def lowered(ab: np.ndarray) -> np.ndarray:
    """Lower bands of the symmetric matrix of these upper ones."""
    width, n = ab.shape[-2] - 1, ab.shape[-1]
    lower = np.zeros_like(ab)
    for d in range(min(width + 1, n)):
        lower[..., d, : n - d] = ab[..., width - d, d:]
    return lower


def raised(ab: np.ndarray) -> np.ndarray:
    """Upper bands of the symmetric matrix of these lower ones."""
    return lowered(ab[..., ::-1, ::-1])[..., ::-1, ::-1]


def dense(ab: np.ndarray) -> np.ndarray:
    """The matrix of as many bands above its diagonal as below."""
    width, n = ab.shape[-2] // 2, ab.shape[-1]
    a = np.zeros((*ab.shape[:-2], n, n), dtype=ab.dtype)
    for d in range(-min(width, n - 1), min(width, n - 1) + 1):
        rows = np.arange(max(-d, 0), n - max(d, 0))
        a[..., rows, rows + d] = ab[..., width - d, rows + d]
    return a


def noisy(ab: np.ndarray) -> np.ndarray:
    """The matrix of three bands, with entries above them that are not looked at."""
    a = dense(ab)
    return a + np.triu(np.full_like(a, 9), 2)


def turned_factors(lu: np.ndarray) -> np.ndarray:
    """Packed factors of the transpose of L U."""
    u, d = np.triu(lu), np.diagonal(lu, 0, -2, -1)
    lower = u.mT / np.where(d == 0, 1, d)[..., np.newaxis, :]
    return np.tril(lower, -1) + d[..., np.newaxis] * (np.tril(lu, -1) + np.eye(lu.shape[-1], dtype=lu.dtype)).mT


def _from_below(place: Callable[..., Any], t: np.ndarray, b: np.ndarray, **options: Any) -> Any:
    """The system with its unknowns and equations from the last to the first, whose triangle is a lower one."""
    rows = np.s_[..., ::-1] if b.ndim < 2 else np.s_[..., ::-1, :]
    flipped = place(t[..., ::-1, ::-1].copy()), place(b[rows].copy() if b.ndim else b)
    return glla.solve_triangular(*flipped, lower=True, **options)[rows]


def _turned(result: Any) -> Any:
    return result.mT


SPELLINGS: dict[str, dict[str, Spelling]] = {
    "matmul": {"@": lambda place, a, b, **_: place(a) @ place(b)},
    "solve": {
        "refined": lambda place, a, b, **o: np.float32(glla.solve(place(a), place(b), refine=True, **o)),
        "unscaled": lambda place, a, b, **o: glla.solve(place(a), place(b), equilibrate=False, **o),
    },
    "lu_solve": {"transposed": lambda place, lu, b, **o: _lu_solve(place(turned_factors(lu)), place(b), trans=1, **o)},
    "rref": {
        norm: lambda place, a, norm=norm, **o: glla.rref(place(a), pivoting=norm, **o)
        for norm in ("geometric", "partial")
    },
    "cholesky": {"upper": lambda place, a, **o: _turned(glla.cholesky(place(a.mT.copy()), upper=True, **o))},
    "cho_factor": {"upper": lambda place, a, **o: (_turned(glla.cho_factor(place(a.mT.copy()), False, **o)[0]), True)},
    "solve_pos": {
        "lower": lambda place, a, b, **o: glla.solve(place(a.mT.copy()), place(b), assume_a="pos", lower=True, **o)
    },
    "inv_pos": {"lower": lambda place, a, **o: glla.inv(place(a.mT.copy()), assume_a="pos", lower=True, **o)},
    "cho_solve": {"upper": lambda place, c, b, **o: glla.cho_solve((place(c.mT.copy()), False), place(b), **o)},
    "solve_triangular": {
        "transposed": lambda place, t, b, **o: glla.solve_triangular(
            place(t.mT.copy()), place(b), trans=1, lower=True, **o
        ),
        "lower": _from_below,
        "solve": lambda place, t, b, **o: glla.solve(place(t), place(b), assume_a="upper triangular", **o),
    },
    "triangular_inverse": {
        "lower": lambda place, t, **o: _turned(glla.inv(place(t.mT.copy()), assume_a="lower triangular", **o))
    },
    "tridiagonal": {
        "dense": lambda place, ab, b, **o: glla.solve(place(noisy(ab)), place(b), assume_a="tridiagonal", **o)
    },
    "pentadiagonal": {
        "dense": lambda place, ab, b, **o: glla.solve(place(dense(ab)), place(b), assume_a="banded", **o)
    },
    "solve_pos_banded": {
        "lower": lambda place, ab, b, **o: glla.solveh_banded(place(lowered(ab)), place(b), lower=True, **o)
    },
    "cholesky_banded": {
        "lower": lambda place, ab, **o: raised(arrays(glla.cholesky_banded(place(lowered(ab)), lower=True, **o)))
    },
    "cho_solve_banded": {
        "lower": lambda place, cb, b, **o: glla.cho_solve_banded((place(lowered(cb)), True), place(b), **o)
    },
}
"""Other forms of a call: of the other half of a symmetric matrix, of a triangle that is stored transposed."""

every_spelling = pytest.mark.parametrize(
    ("name", "spelling"), [(name, label) for name, labels in SPELLINGS.items() for label in labels if name != "rref"]
)


def spelled(name: str) -> list[Spelling]:
    """All forms of a call, its usual one first."""
    return [lambda place, *given, **options: CALLS[name].call(*map(place, given), **options),
            *SPELLINGS.get(name, {}).values()]  # fmt: skip


OWN = ("matmul", "syrk", "lu_factor", "rref", "qr", "cholesky", "inv_pos", "solve_triangular", "triangular_inverse",
       "tridiagonal")  # fmt: skip
"""Records with variants of their own that have parameters."""

SLOW = (("panel_broadcast", (("UNROLL", 1),)),)
"""Loops of triangles that are written out, which llvmpipe compiles for a minute."""


def settings() -> Iterator[tuple[str, str, Parameters]]:
    """Record, variant and parameters: each value of each parameter, the others as usual where that may be."""
    for name in OWN:
        for variant, one in OPERATIONS[name].variants.items():
            usual, *others = parameter_space(one)
            seen = set(usual)
            for parameters in sorted(others, key=lambda given, usual=usual: len({*given} - {*usual})):
                if not seen.issuperset(parameters) and (variant, parameters) not in SLOW:
                    seen.update(parameters)
                    yield name, variant, parameters


def host(array: np.ndarray) -> np.ndarray:
    """Leave an array where it is."""
    return array


def on_device(array: np.ndarray) -> glla.Array:
    """Put an array on the device, whatever it holds."""
    return glla.asarray(array, check_finite=False)


def turned(array: np.ndarray) -> glla.Array:
    """Put an array on the device, each matrix transposed, and take it as it was: another layout of the same."""
    return on_device(np.ascontiguousarray(array.mT)).mT if array.ndim > 1 else on_device(array)


PLACES = {"host": host, "device": on_device, "transposed": turned}
every_place = pytest.mark.parametrize("place", list(PLACES.values()), ids=list(PLACES))


def operands_of(name: str, n: int, rng: np.random.Generator) -> Operands:
    """Well-conditioned operands of a call."""
    family = FAMILIES[CALLS[name].family]
    usual = [kind for kind in family.kinds if kind in ("conditioned", "upper", "lower", "dominant", "condition 100")]
    return family.make((usual or family.kinds)[0], n, rng)


def stacked(made: list[Operands]) -> Operands:
    """Put operands of one shape on each other."""
    return tuple(np.stack(parts) for parts in zip(*made, strict=True))


def arrays(result: Any) -> Any:
    """What a call gives, as NumPy's."""
    if isinstance(result, tuple):
        return tuple(arrays(one) for one in result)
    return result.numpy() if hasattr(result, "numpy") else result


def parts(result: Any) -> list[np.ndarray]:
    """The arrays and numbers of a result, in order."""
    return [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,))]


def matrix_of(result: Any, i: int) -> Any:
    """One matrix's part of what a call of a stack gives; which half a factor is holds for all."""
    if isinstance(result, tuple):
        return tuple(one if isinstance(one, bool) else one[i] for one in result)
    return result[i]


# -- judges -----------------------------------------------------------------------------------------------------------


def judged(record: Any, operands: Operands) -> tuple[Any, ...]:
    """Inputs, as the judge takes them: a pair of factors is two."""
    arguments = record.function.arguments(*operands)
    return tuple(part for one in arguments for part in (one if isinstance(one, tuple) else (one,)))


def verdict(name: str, operands: Operands, result: Any) -> Verdict:
    """Judge a result by its record's judge."""
    return JUDGES[name].verdict(judged(OPERATIONS[name], operands), result)


def run_core(device: glla.Device, name: str, variant: str | None, operands: Operands, **options: Any) -> Any:
    """Run a record's own plan; give its value. A test is skipped where the device lacks what the variant needs."""
    record = OPERATIONS[name]
    lacks = variant and record.variants[variant].lacks(device.limits)
    if lacks:
        pytest.skip(lacks)
    forms = resident(*(array.shape for array in operands))
    plan = record.device_plan(forms, SOFTWARE, variant=variant, **options)
    given = {operand.lower(): device.upload(array) for operand, array in zip(record.operands, operands, strict=True)}
    laid = (
        record.trial.aside(forms) if record.trial.textures is None else record.trial.textures(plan, SOFTWARE, operands)
    )
    given |= {one.lower(): device.write_texels(texels) for one, texels in laid.items()}
    results = device.run(plan, **{operand: given[operand.lower()] for operand in plan.operands})
    found = {one: unpacked(device.read(texture), plan.slots[plan.results[one]]) for one, texture in results.items()}
    return record.trial.values(forms, found)


# -- operands with a result that float32 holds ------------------------------------------------------------------------


def unimodular(n: int, rng: np.random.Generator) -> Operands:
    """A unit lower triangle of integers and its inverse, which is one too: the product of a few elimination steps."""
    b, inverse = np.eye(n), np.eye(n)
    for column in rng.integers(0, n, 3):
        step = np.eye(n)
        step[column + 1 :, column] = rng.integers(-3, 4, n - column - 1)
        b, inverse = b @ step, (2 * np.eye(n) - step) @ inverse
    return b, inverse


def small_factors(m: int, n: int, rng: np.random.Generator) -> Operands:
    """L and U of small integers: partial pivoting finds every row in its place, and all sums are exact."""
    k = min(m, n)
    lower = np.tril(integers(m, k, rng, limit=1), -1) + np.eye(m, k, dtype=np.float32)
    upper = np.triu(integers(k, n, rng), 1)
    upper[range(k), range(k)] = rng.choice([1.0, -2.0, 4.0], k)
    return lower, upper


def root(n: int, rng: np.random.Generator) -> np.ndarray:
    """A lower triangle of small integers with powers of two on its diagonal."""
    return np.tril(rng.integers(-1, 2, (n, n)) * (rng.random((n, n)) < 4 / n), -1) + np.diag(
        2.0 ** rng.integers(0, 3, n)
    )


def root_band(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Such a triangle with a few diagonals: it, the upper storage of its transpose, and that of its product."""
    width = min(4, n - 1)
    lower = np.tril(np.triu(root(n, rng), -width))
    whole = lower @ lower.T
    stores = [np.stack([np.pad(np.diag(one, d), (d, 0)) for d in range(width, -1, -1)]) for one in (lower.T, whole)]
    return lower, *stores


def _scaled_permutation(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.eye(n)[rng.permutation(n)] * 2.0 ** rng.integers(-3, 4, n)


def exact(name: str, n: int, rng: np.random.Generator) -> tuple[Operands, Any]:
    """Operands of integers and powers of two, and what comes out of them without any rounding."""
    operands, expected = _exact(name, n, rng)
    return tuple(np.asarray(one, dtype=np.float32) for one in operands), expected


def _exact(name: str, n: int, rng: np.random.Generator) -> tuple[tuple[Any, ...], Any]:
    x = rng.integers(-5, 6, (n, 3)).astype(float)
    lower = root(n, rng)
    p = _scaled_permutation(n, rng)
    if name == "matmul":
        a, b = integers(n, n + 5, rng), integers(n + 5, 2 * n, rng)
        return (a, b), a @ b
    if name == "syrk":
        a = integers(n, n + 5, rng)
        return (a,), a @ a.T
    if name in ("plu", "lu_factor"):
        low, up = small_factors(*oblong(n), rng)
        return (low @ up,), (low, up)
    if name in ("det", "slogdet"):
        sign, log = np.linalg.slogdet(p)
        return (p,), (sign * np.exp2(np.rint(log / np.log(2))),) if name == "det" else (sign,)
    if name == "rcond":
        return (p,), np.abs(p).max(axis=0).min() / np.abs(p).max()
    if name == "solve":
        return (p, p @ x), x
    if name == "inv":
        return (p,), np.linalg.inv(p)
    if name == "lu_solve":
        low, up = small_factors(n, n, rng)
        up = np.diag(np.diagonal(up)) + np.triu(up, 1) * (rng.random((n, n)) < 4 / n)
        low = np.eye(n) + np.tril(low, -1) * (rng.random((n, n)) < 4 / n)
        return (low + up - np.eye(n), low @ (up @ x)), x
    if name in ("cholesky", "cho_factor"):  # whose quotients are exact where they are rounded rightly
        lower = np.tril(rng.integers(-3, 4, (n, n)), -1) + np.diag(rng.integers(1, 10, n))
        return (lower @ lower.T,), lower
    if name == "solve_pos":
        return (lower @ lower.T, lower @ (lower.T @ x)), x
    if name == "cho_solve":
        return (lower, lower @ (lower.T @ x)), x
    if name in ("inv_pos", "gauss_jordan"):
        b, inverse = unimodular(n, rng)
        return (b @ b.T,), inverse.T @ inverse
    if name == "solve_triangular":
        return (lower.T, lower.T @ x), x
    if name == "triangular_inverse":
        b, inverse = unimodular(n, rng)
        return (b.T,), inverse.T
    if name in ("tridiagonal", "pentadiagonal"):
        width = 1 if name == "tridiagonal" else 2
        ab = np.zeros((2 * width + 1, n))
        ab[width] = np.diagonal(p @ p.T)
        return (ab, ab[width][:, np.newaxis] * x), x
    lower, cb, ab = root_band(n, rng)
    if name == "cholesky_banded":
        return (ab,), cb
    return (cb if name == "cho_solve_banded" else ab, lower @ (lower.T @ x)), x


# -- scaled by powers of two, which rounds nothing --------------------------------------------------------------------

SCALED = ("solve", "inv", "slogdet", "lu_solve", "cholesky", "cho_factor", "solve_pos", "inv_pos", "cho_solve",
          "solve_triangular", "triangular_inverse", "solve_pos_banded", "cholesky_banded",
          "cho_solve_banded")  # fmt: skip
"""What takes scaled rows and columns."""


def scaled_band(ab: np.ndarray, columns: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Upper bands of D_rows A D_columns."""
    width, n = len(ab) - 1, ab.shape[1]
    return np.stack([np.pad(rows[: n - width + k], (width - k, 0)) * columns * ab[k] for k in range(width + 1)])


def scaled(
    name: str, operands: Operands, rows: np.ndarray, columns: np.ndarray
) -> tuple[Operands, Callable[[Any], Any]]:
    """Operands scaled by powers of two; and what takes the scaling out of the result again."""
    a, *rest = operands
    d, c = (np.ldexp(1.0, one) for one in (rows, columns))
    if CALLS[name].family.startswith("definite") and name != "cho_solve":
        c = d
    if name == "lu_solve":
        a = np.tril(a, -1) + np.triu(a) * c  # P L (U C) x = b
        return (a.astype(np.float32), *rest), lambda x: (x * c[:, np.newaxis]).astype(np.float32)
    if name == "cho_solve":
        a, rest = a * d[:, np.newaxis], [rest[0] * d[:, np.newaxis]]
        return tuple(np.float32(one) for one in (a, *rest)), lambda x: (x * d[:, np.newaxis]).astype(np.float32)
    if name.endswith("_banded"):
        a = scaled_band(a, d, d if "pos" in name or name == "cholesky_banded" else np.ones_like(d))
        given = tuple(np.float32(one) for one in (a, *(one * d[:, np.newaxis] for one in rest)))
        back = 1 / d if name == "cholesky_banded" else d[:, np.newaxis]
        return given, lambda x: (x * back).astype(np.float32)
    given = tuple(np.float32(one) for one in (a * np.outer(d, c), *(one * d[:, np.newaxis] for one in rest)))
    if name == "cholesky":
        return given, lambda x: (x / d[:, np.newaxis]).astype(np.float32)
    if name == "cho_factor":
        return given, lambda x: ((x[0] / d[:, np.newaxis]).astype(np.float32), x[1])
    if name == "slogdet":
        return given, lambda x: (x[0], np.float32(np.float64(x[1]) - np.log(2) * (rows.sum() + columns.sum())))
    if name in ("inv", "inv_pos", "triangular_inverse"):
        return given, lambda x: (x * np.outer(c, d)).astype(np.float32)
    return given, lambda x: (x * c[:, np.newaxis]).astype(np.float32)
