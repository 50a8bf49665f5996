"""What can be compared: the table of operations, and for each the contenders that do it.

An `Operation` knows its input for a size and a seed, how results are read, how they are judged, how much arithmetic it
is, and who does the same on the CPU. A `Contender` is one way to do it: a name, and a function that builds its plan.

The contenders of an operation are those of its kernel's ``VARIANTS``, read anew at each call, so that a variant added
there joins by itself, and those that `add` has registered: a user's own shader, for example. A contender must keep the
interface of its operation, which is that of the plan it builds:

=============  =======================================  ==========================================================
operation      operands of the plan                     results of the plan
=============  =======================================  ==========================================================
``matmul``     ``A``, ``B`` (n x n, packed)             ``C`` (n x n, packed)
``rref``       ``A`` (n x n+1), maybe ``tolerance``     ``R`` (n x n+1, packed)
``plu``        ``A`` (n x n, packed)                    ``LU`` (n x n, packed), ``pivots``: 1 x ceil(n/2) records
``triangular`` ``T`` (lower, n x n), ``B`` (n x n)      ``X`` (n x n, packed)
``solve``      ``A`` (n x n), ``B`` (n x 1)             ``X`` (n x 1, packed)
``inv``        ``A`` (n x n)                            ``X`` (n x n, packed)
=============  =======================================  ==========================================================

Complete pivoting of ``plu`` also gives ``columns``, records like ``pivots``.

How it is used, by `glla.lab.compare` (``glla/lab/comparison.py``) and by whatever else measures variants::

    operation = find("matmul")
    contender = contenders("matmul")["register_blocked"]
    arrays = operation.inputs(n, seed)
    job = prepare(device, operation, contender, arrays, parameters=(("ROWS", 4),))
    verdict = operation.judge(arrays, job.fetch(job.run()))   # verdict.ratio: error over bound

``unmet(contender.needs, device)`` says why a contender cannot run on a device, or nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glla import Device, Matrix, testing
from glla.device import Texture
from glla.errors import OptionError
from glla.factors import Factors, permutation_of
from glla.kernels import equilibrate, matmul, packing, permutation, plu, rref, triangular
from glla.lab import peers
from glla.lab.chain import Chain
from glla.lab.peers import Peer
from glla.layout import Shape
from glla.passes import Limits, Parameters, Plan, Variant, matrix
from glla.testing import Verdict

Array = NDArray[np.float32]
Arrays = tuple[Array, ...]
Textures = Mapping[str, Texture]
Builder = Callable[[int, Limits, Parameters], Plan]
"""(order of the matrices, limits of the device, values of parameters) -> a plan."""

PIVOTED = ("rank2", "blocked")
"""Variants of `plu` and `rref` that take every pivot norm."""


@dataclass(frozen=True, eq=False)
class Contender:
    """One way to do an operation.

    Attributes
    ----------
    name : str
        Unique among those of its operation.
    build : callable
        (n, limits, parameters) -> `Plan`, a new one each time.
    summary, source : str
        What is particular to it, and where it comes from, in a line each.
    needs : tuple of str
        What it needs beyond OpenGL 3.3, such as ``"OpenGL 4.3"``.
    parameters : mapping of str to tuple of int
        Parameters that `build` takes, with the values that make sense; the first is the default.
    special : bool
        Run only when asked for, by its name or by ``all``.
    text : str
        The source of a shader that is not below ``shaders/``, for reports; empty for glla's own, which `shaders` names.
    refusal : callable
        Values of all parameters by name -> why they do not go together, '' if they do.
    """

    name: str
    build: Builder
    summary: str = ""
    source: str = ""
    needs: tuple[str, ...] = ()
    parameters: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    special: bool = False
    text: str = ""
    refusal: Callable[[Mapping[str, int]], str] = lambda values: ""

    def refuses(self, parameters: Parameters) -> str:
        """Say why values of parameters cannot be had, '' if they can; the others have their defaults."""
        for name, value in parameters:
            if value not in self.parameters[name]:
                return f"{name} must be one of {', '.join(map(str, self.parameters[name]))}, got {value}"
        return self.refusal({name: values[0] for name, values in self.parameters.items()} | dict(parameters))


@dataclass(frozen=True)
class Operation:
    """What a contender must do, and how it is judged.

    Attributes
    ----------
    name, formula : str
        For example ``"matmul"`` and ``"C = A B"``.
    shape : str
        Of the matrices, in words.
    thesis : str
        The contender that is the thesis's own; the others are compared with it.
    made : callable
        (n, random numbers) -> input arrays.
    operands : tuple of str
        Operand of the plan for each array.
    fetch : callable
        (device, results of the plan, n) -> arrays, to be judged.
    judge : callable
        (input arrays, what `fetch` gave) -> `Verdict`.
    deviation : callable
        (input arrays, what `fetch` gave) -> mean absolute error of an entry, against float64.
    error : str
        What that is, in symbols.
    flops : callable
        n -> additions and multiplications.
    peer : Peer
        Who does the same on the CPU.
    listed : callable
        () -> contenders that glla itself has.
    result : str
        Name of the matrix that `ratios` speaks of.
    peer_operands : callable
        Input arrays -> the peer's.
    ratios : callable, optional
        (input arrays, what `fetch` gave) -> error over bound of each of its elements, for a picture of what is wrong.
    """

    name: str
    formula: str
    shape: str
    thesis: str
    made: Callable[[int, np.random.Generator], Arrays]
    operands: tuple[str, ...]
    fetch: Callable[[Device, Textures, int], Any]
    judge: Callable[[Arrays, Any], Verdict]
    deviation: Callable[[Arrays, Any], float]
    error: str
    flops: Callable[[int], int]
    peer: Peer
    listed: Callable[[], list[Contender]]
    result: str = "X"
    peer_operands: Callable[..., Arrays] = lambda *arrays: arrays
    ratios: Callable[[Arrays, Any], NDArray[np.float64]] | None = None

    def inputs(self, n: int, seed: int = 2007) -> Arrays:
        """Make the input of order n, float32; the same for the same n and seed."""
        return self.made(n, np.random.default_rng([seed, n]))


@dataclass(frozen=True)
class Job:
    """A contender made ready on a device, with its operands there.

    Attributes
    ----------
    plan : Plan
        What runs.
    building : float
        Seconds that building the plan took, which belong to a cold start.
    run : callable
        () -> result textures. Operands and results stay on the device; does not synchronise.
    fetch : callable
        Result textures -> arrays to be judged. Synchronises.
    end_to_end : callable
        () -> arrays, from NumPy to NumPy. Synchronises.
    operands : mapping of str to Texture
        Those that `run` takes.
    """

    plan: Plan
    building: float
    run: Callable[[], dict[str, Texture]]
    fetch: Callable[[Textures], Any]
    end_to_end: Callable[[], Any]
    operands: Textures


# -- the tables -----------------------------------------------------------------------------------------------------

_added: dict[str, dict[str, Contender]] = {}


def find(name: str) -> Operation:
    """Find an operation.

    Raises
    ------
    OptionError
        Unknown; the message lists those there are.

    Examples
    --------
    >>> find("matmul").formula
    'C = A B'
    """
    if name not in OPERATIONS:
        raise OptionError(f"compare: operation must be one of {', '.join(OPERATIONS)}, got {name!r}")
    return OPERATIONS[name]


def contenders(operation: str) -> dict[str, Contender]:
    """List the contenders of an operation by name: the thesis's own first, those that were added last.

    Examples
    --------
    >>> next(iter(contenders("matmul")))
    'inner_product'
    """
    found = find(operation)
    own = sorted(found.listed(), key=lambda contender: (contender.special, contender.name != found.thesis))
    return {contender.name: contender for contender in own} | _added.get(operation, {})


def add(operation: str, contender: Contender) -> None:
    """Let a contender take part from now on; one of the same name that was added before is replaced.

    Raises
    ------
    OptionError
        The operation is unknown, or the name is taken by a variant of glla's.
    """
    if contender.name in {own.name for own in find(operation).listed()}:
        raise OptionError(f"{operation}: {contender.name!r} is a variant of glla's; choose another name")
    _added.setdefault(operation, {})[contender.name] = contender


def remove(operation: str, name: str) -> None:
    """Let a contender that was added take part no more."""
    _added.get(operation, {}).pop(name, None)


def unmet(needs: tuple[str, ...], device: Device) -> str:
    """Say what a device lacks of what a contender needs, '' if nothing.

    A need is ``OpenGL x.y``, or an extension, such as ``GL_ARB_compute_shader``, which glla cannot count on: its
    contexts are plain core contexts.
    """
    version = re.match(r"\D*(\d+)\.(\d+)", device.info.version)
    has = (int(version[1]), int(version[2])) if version else (3, 3)
    for need in needs:
        wanted = re.fullmatch(r"OpenGL (\d+)\.(\d+)", need)
        if wanted is None:
            return f"needs {need}, which cannot be counted on"
        if (int(wanted[1]), int(wanted[2])) > has:
            return f"needs {need}, the device has OpenGL {has[0]}.{has[1]}"
    return ""


def shaders(plan: Plan) -> list[tuple[str, dict[str, Any]]]:
    """List the shaders that a plan draws with, in order: name, and the defines of their first use."""
    found: dict[str, dict[str, Any]] = {}
    for step in plan.steps:
        name = getattr(step, "shader", "")
        if name and name not in found:
            found[name] = dict(getattr(step, "defines", {}))
    return list(found.items())


def prepare(
    device: Device, operation: Operation, contender: Contender, arrays: Arrays, parameters: Parameters = ()
) -> Job:
    """Build a contender's plan and upload its operands.

    Parameters
    ----------
    device : Device
        Where.
    operation, contender
        What.
    arrays : tuple of ndarray of float32
        From `Operation.inputs`.
    parameters : tuple of (str, int)
        Values for some of the contender's parameters.

    Raises
    ------
    GllaError
        The plan cannot be built for this size, or the device has no room for the operands.
    """
    n = len(arrays[0])
    start = time.perf_counter()
    plan = contender.build(n, device.limits, parameters)
    building = time.perf_counter() - start
    operands = uploaded(device, operation, plan, arrays)
    fetch = partial(_fetched, device, operation, n)

    def end_to_end() -> Any:
        return fetch(device.run(plan, **uploaded(device, operation, plan, arrays)))

    return Job(plan, building, lambda: device.run(plan, **operands), fetch, end_to_end, operands)


def uploaded(device: Device, operation: Operation, plan: Plan, arrays: Arrays) -> dict[str, Texture]:
    """Upload the operands of a plan of an operation."""
    operands = {name: device.upload(array) for name, array in zip(operation.operands, arrays, strict=True)}
    if "tolerance" in plan.operands:  # of a pivot: absolute, relative
        operands["tolerance"] = device.write_texels(np.zeros((1, 1, 2), dtype=np.float32))
    return operands


def _fetched(device: Device, operation: Operation, n: int, results: Textures) -> Any:
    return operation.fetch(device, results, n)


def fresh(builder: Any, *arguments: Any, **options: Any) -> Plan:
    """Call a builder of plans past its cache, so that a first run is a first run."""
    plan: Plan = getattr(builder, "__wrapped__", builder)(*arguments, **options)
    return plan


def _given(parameters: Parameters) -> dict[str, Parameters]:
    """Pass parameters on only where there are some: most builders know none."""
    return {"parameters": parameters} if parameters else {}


def _contender(name: str, variant: Variant, build: Builder) -> Contender:
    refusal = partial(_broken_rule, variant)
    return Contender(name, build, variant.summary, variant.source, variant.needs, variant.parameters, refusal=refusal)


def _broken_rule(variant: Variant, values: Mapping[str, int]) -> str:
    return "" if variant.keeps_rule(values) else variant.rule


def _quotients(error: NDArray[np.float64], bound: NDArray[np.float64]) -> NDArray[np.float64]:
    """Error over bound, elementwise; no error is none over any bound."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0.0, 0.0, error / bound)


def _mean(difference: NDArray[Any]) -> float:
    return float(np.abs(difference).mean(dtype=np.float64))


# -- matmul -----------------------------------------------------------------------------------------------------------


def _pair(n: int, rng: np.random.Generator) -> Arrays:
    return testing.uniform(n, n, rng), testing.uniform(n, n, rng)


def _matmuls() -> list[Contender]:
    def build(name: str, n: int, limits: Limits, parameters: Parameters) -> Plan:
        return fresh(matmul.plan, n, n, n, name, limits, **_given(parameters))

    return [_contender(name, variant, partial(build, name)) for name, variant in matmul.VARIANTS.items()]


# -- rref and plu -----------------------------------------------------------------------------------------------------


def _square(n: int, rng: np.random.Generator) -> Arrays:
    return (testing.uniform(n, n, rng),)


def _augmented(n: int, rng: np.random.Generator) -> Arrays:
    """[A | b] of the thesis's experiment: A uniform in [0, 10), b the sums of its rows, so that the solution is 1."""
    a = testing.uniform(n, n, rng)
    return (np.column_stack([a, a.sum(axis=1, dtype=np.float64).astype(np.float32)]),)


def _eliminations(kernel: ModuleType, wider: int, default: str, norms: tuple[str, ...]) -> list[Contender]:
    """Contenders of a kernel of `plu`'s or `rref`'s kind: each variant, and those that can with every pivot norm."""

    def build(options: dict[str, Any], n: int, limits: Limits, parameters: Parameters) -> Plan:
        return fresh(kernel.plan, (n, n + wider), unroll=not limits.software, **options, **_given(parameters))

    variants: Mapping[str, Variant] = kernel.VARIANTS
    found = [_contender(name, one, partial(build, {"variant": name})) for name, one in variants.items()]
    for name in (name for name in PIVOTED if name in variants):
        one = variants[name]
        for norm in (norm for norm in norms if norm != default):
            options = {"variant": name, "pivoting": norm}
            summary = f"{one.summary}; {norm} pivoting"
            found.append(
                Contender(
                    f"{name}:{norm}",
                    partial(build, options),
                    summary,
                    one.source,
                    one.needs,
                    one.parameters,
                    special=True,
                )
            )
    return found


Exchanges = NDArray[np.int32]
Packed = tuple[Array, Exchanges, Exchanges]
"""L and U, and LAPACK's exchanges of rows and of columns."""


def _factors(device: Device, results: Textures, n: int) -> Packed:
    """Read the factors and the exchanges; only complete pivoting exchanges columns."""
    lu = Matrix(device, results["LU"], (n, n))
    columns = Factors(lu, results["columns"]).pivots if "columns" in results else np.arange(n, dtype=np.int32)
    return lu.numpy(), Factors(lu, results["pivots"]).pivots, columns


def _judge_plu(arrays: Arrays, result: Packed) -> Verdict:
    packed, *exchanges = result
    n = len(packed)
    for what, places in zip(("row", "column"), exchanges, strict=True):
        if not all(0 <= place < n for place in places.tolist()):
            return Verdict("plu", float("inf"), testing.RESIDUAL_LIMIT, detail=f"a pivot is no {what} of the matrix")
    rows, columns = (permutation_of(places, n) for places in exchanges)
    p = np.zeros((n, n), dtype=np.float32)
    p[rows, np.arange(n)] = 1
    return testing.judge_plu(arrays[0][:, columns], p, *testing.unpack_lu(packed))


def _plu_deviation(arrays: Arrays, result: Packed) -> float:
    packed, *exchanges = result
    rows, columns = (permutation_of(places, len(packed)) for places in exchanges)
    lower, upper = (factor.astype(np.float64) for factor in testing.unpack_lu(packed))
    return _mean(lower @ upper - arrays[0][np.ix_(rows, columns)])


def _plu_ratios(arrays: Arrays, result: Packed) -> NDArray[np.float64]:
    """Elementwise |L U - P A Q| over (n + 4) u |L||U|: Higham 2002, theorem 9.3."""
    packed, *exchanges = result
    n = len(packed)
    if not all(0 <= place < n for places in exchanges for place in places.tolist()):
        return np.full((n, n), np.inf)
    rows, columns = (permutation_of(places, n) for places in exchanges)
    lower, upper = (factor.astype(np.float64) for factor in testing.unpack_lu(packed))
    error = np.abs(lower @ upper - arrays[0][np.ix_(rows, columns)])
    return _quotients(error, (n + 4) * testing.ROUNDOFF * (np.abs(lower) @ np.abs(upper)))


def _rref_ratios(arrays: Arrays, result: Array) -> NDArray[np.float64]:
    """Elementwise |R - [I | 1]|: of I none is allowed; of x what an error of the judge's size in A and b may become."""
    a = arrays[0].astype(np.float64)
    n = len(a)
    allowed = testing.RESIDUAL_LIMIT * n * testing.ROUNDOFF * (np.abs(np.linalg.inv(a[:, :n])) @ np.abs(a).sum(axis=1))
    bound = np.column_stack([np.zeros((n, n)), allowed])
    return _quotients(np.abs(result - np.column_stack([np.eye(n), np.ones(n)])), bound)


def _judge_rref(arrays: Arrays, result: Array) -> Verdict:
    """Judge as `testing.judge_rref` does, whose check of the form takes minutes at n = 4096: here it is [I | x]."""
    (a,) = arrays
    n, bound = len(a), testing.RESIDUAL_LIMIT
    if result.shape != a.shape or not np.isfinite(result).all() or not np.array_equal(result[:, :n], np.eye(n)):
        return Verdict("rref", float("inf"), bound, detail="is not [I | x]")
    return Verdict("rref", testing.residual_rref(a, result, tuple(range(n))), bound)


# -- triangular, solve, inv -------------------------------------------------------------------------------------------


def _triangle(n: int, rng: np.random.Generator) -> Arrays:
    return testing.lower(n, n, rng), testing.uniform(n, n, rng)


def _system(n: int, rng: np.random.Generator) -> Arrays:
    """Make A uniform in [0, 10) and b the sums of its rows, as a column."""
    (augmented,) = _augmented(n, rng)
    return augmented[:, :n].copy(), augmented[:, n:].copy()


def _triangular_ratios(arrays: Arrays, x: Array) -> NDArray[np.float64]:
    """Elementwise |T X - B| over (n + 4) u |T||X|: Higham 2002, theorem 8.5."""
    t, b = (array.astype(np.float64) for array in arrays)
    size = np.abs(t) @ np.abs(x.astype(np.float64))
    return _quotients(np.abs(t @ x - b), (len(t) + 4) * testing.ROUNDOFF * size)


def _triangulars() -> list[Contender]:
    table = triangular.VARIANTS

    def build(name: str, n: int, limits: Limits, parameters: Parameters) -> Plan:
        return fresh(triangular.plan, n, n, variant=name, unroll=not limits.software, **_given(parameters))

    return [_contender(name, variant, partial(build, name)) for name, variant in table.items()]


def _solvers(inverse: bool) -> list[Contender]:
    """What `glla.solve` and `glla.inv` do, less the check for singular matrices, with each of the blocked ways."""
    return [
        _contender(name, plu.VARIANTS[name], partial(_solver, name, inverse))
        for name in PIVOTED
        if name in plu.VARIANTS
    ]


def _solver(variant: str, inverse: bool, n: int, limits: Limits, parameters: Parameters) -> Plan:
    """Plan of A X = B: scale, factor, exchange the rows of B, substitute forward and backward, scale back."""
    shape: Shape = (n, n)
    sides = (n, n if inverse else 1)
    chain = Chain(f"{'inv' if inverse else 'solve'}[{variant}]")
    a = chain.operand("A", matrix(shape))
    b = chain.add(packing.identity(shape))["I"] if inverse else chain.operand("B", matrix(sides))
    scaled = chain.add(equilibrate.plan(shape), A=a)
    rows, columns = scaled["row_exponents"], scaled["column_exponents"]
    unroll = not limits.software
    factors = chain.add(
        fresh(plu.plan, shape, variant=variant, unroll=unroll, **_given(parameters)), A=scaled["scaled"]
    )
    order = chain.add(permutation.trace(n, plu.steps(shape)), pivots=factors["pivots"])["rows"]
    b = chain.add(equilibrate.scale(sides, rows=-1), A=b, row_exponents=rows)["scaled"]
    b = chain.add(permutation.gather(sides), A=b, rows=order)["B"]
    way = "rank2" if variant == "rank2" else triangular.choose(*sides, limits)
    for upper in (False, True):
        substitution = triangular.plan(*sides, upper=upper, unit=not upper, variant=way, unroll=unroll)
        b = chain.add(substitution, T=factors["LU"], B=b)["X"]
    x = chain.add(equilibrate.scale(sides, rows=-1), A=b, row_exponents=columns)["scaled"]
    return chain.plan({"X": x})


def _downloaded(name: str, wider: int = 0, columns: int | None = None) -> Callable[[Device, Textures, int], Array]:
    """Read one result: n rows, and n columns, n + `wider`, or so many."""
    return lambda device, results, n: device.download(results[name], (n, n + wider if columns is None else columns))


def _inverse_deviation(arrays: Arrays, result: Array) -> float:
    a, x = (array.astype(np.float64) for array in (*arrays, result))
    return _mean(a @ x - np.eye(len(a)))


# -- all --------------------------------------------------------------------------------------------------------------

OPERATIONS: dict[str, Operation] = {
    operation.name: operation
    for operation in (
        Operation(
            name="matmul",
            formula="C = A B",
            shape="A and B n x n, uniform in [0, 10)",
            thesis="inner_product",
            made=_pair,
            operands=("A", "B"),
            fetch=_downloaded("C"),
            judge=lambda arrays, c: testing.judge_product(c, *arrays),
            deviation=lambda arrays, c: _mean(c - testing.product(*arrays)),
            error="|C - A B|",
            flops=lambda n: 2 * n**3,
            peer=peers.PRODUCT,
            listed=_matmuls,
            result="C",
            ratios=lambda arrays, c: testing.product_ratios(c, *arrays),
        ),
        Operation(
            name="rref",
            formula="[A | b] to [I | x]",
            shape="A n x n, uniform in [0, 10), b the sums of its rows",
            thesis="rank2",
            made=_augmented,
            operands=("A",),
            fetch=_downloaded("R", wider=1),
            judge=_judge_rref,
            deviation=lambda arrays, r: _mean(r[:, -1] - 1.0),
            error="|x - 1|",
            flops=lambda n: rref.flops((n, n + 1)),
            peer=peers.FACTORS,
            peer_operands=lambda augmented: (np.ascontiguousarray(augmented[:, :-1]),),
            listed=lambda: _eliminations(rref, 1, "harmonic", ("harmonic", "geometric", "partial")),
            result="R",
            ratios=_rref_ratios,
        ),
        Operation(
            name="plu",
            formula="A = P L U",
            shape="A n x n, uniform in [0, 10)",
            thesis="rank2",
            made=_square,
            operands=("A",),
            fetch=_factors,
            judge=_judge_plu,
            deviation=_plu_deviation,
            error="|P L U - A|",
            flops=lambda n: plu.flops((n, n)),
            peer=peers.FACTORS,
            listed=lambda: _eliminations(plu, 0, "partial", ("partial", "harmonic", "geometric")),
            result="L U",
            ratios=_plu_ratios,
        ),
        Operation(
            name="triangular",
            formula="T X = B",
            shape="T n x n, lower, well conditioned, B n x n",
            thesis="rank2",
            made=_triangle,
            operands=("T", "B"),
            fetch=_downloaded("X"),
            judge=lambda arrays, x: testing.judge_solve(arrays[0], x, arrays[1]),
            deviation=lambda arrays, x: _mean(testing.product(arrays[0], x) - arrays[1]),
            error="|T X - B|",
            flops=lambda n: n**3,
            peer=peers.TRIANGULAR,
            listed=_triangulars,
            result="T X",
            ratios=_triangular_ratios,
        ),
        Operation(
            name="solve",
            formula="A x = b",
            shape="A n x n, uniform in [0, 10), b the sums of its rows",
            thesis="rank2",
            made=_system,
            operands=("A", "B"),
            fetch=_downloaded("X", columns=1),
            judge=lambda arrays, x: testing.judge_solve(arrays[0], x, arrays[1]),
            deviation=lambda arrays, x: _mean(x - 1.0),
            error="|x - 1|",
            flops=lambda n: plu.flops((n, n)) + 2 * n * n,
            peer=peers.SYSTEM,
            listed=lambda: _solvers(inverse=False),
        ),
        Operation(
            name="inv",
            formula="A X = I",
            shape="A n x n, uniform in [0, 10)",
            thesis="rank2",
            made=_square,
            operands=("A",),
            fetch=_downloaded("X"),
            judge=lambda arrays, x: testing.judge_inverse(arrays[0], x),
            deviation=_inverse_deviation,
            error="|A X - I|",
            flops=lambda n: plu.flops((n, n)) + 2 * n**3,
            peer=peers.INVERSE,
            listed=lambda: _solvers(inverse=True),
        ),
    )
}
"""Every operation that can be compared, by name."""
