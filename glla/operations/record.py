"""The record of an operation: everything that the rest of glla needs to know of it.

`glla.operations.OPERATIONS` is the only list of the records. All users of operations (plan, explain, trace, tune,
compare, variants, benchmarks, the coprocessor, hybrid, the command line, tests) iterate over it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError, one_of
from glla.passes import PLAIN, Forms, Limits, Parameters, Plan, Variant, Variants
from glla.passes.cache import CachedPlan, cached_plan
from glla.passes.layout import Shape

Float32 = NDArray[np.float32]

Choice = tuple[str, Parameters]
"""A variant, and values for some of its parameters."""


class Way(TypedDict, total=False):
    """Options of every plan of an operation: a variant, and values for its parameters; without them it is chosen."""

    variant: str | None
    parameters: Parameters


@dataclass(frozen=True)
class Chosen:
    """Variant of a plan."""

    title: str  # operation and variant: ``"plu[blocked]"``
    variant: str  # as asked for or chosen; for a user's own the one of glla's whose shader it replaces
    values: Mapping[str, int]  # of all its parameters
    registered: bool  # it is a user's own


def kept(variants: Mapping[str, Variant]) -> Callable[[Callable[..., Plan]], CachedPlan[..., Plan]]:
    """Cache the plans of a builder by its arguments, and by the shader that the variant has now.

    A name may stand for another shader after it was registered anew; a plan of the old one is not found then. They are
    kept with those of all builders, see `glla.passes.cache.cached_plan`.
    """

    def decorator(builder: Callable[..., Plan]) -> CachedPlan[..., Plan]:
        @cached_plan
        def numbered(number: int | None, *args: Any, **options: Any) -> Plan:
            return builder(*args, **options)

        @wraps(builder)
        def found(*args: Any, **options: Any) -> Plan:
            numbers = variants.numbers if isinstance(variants, Variants) else {}
            return numbered(numbers.get(options.get("variant")), *args, **options)

        found.cache_clear = numbered.cache_clear  # type: ignore[attr-defined]
        return cast(CachedPlan[..., Plan], found)

    return decorator


def unvaried(builder: Callable[..., Plan]) -> CachedPlan[..., Plan]:
    """Cache the plans of an operation without variants, by its own options: the usual `Way` is dropped."""
    cached = cached_plan(builder)

    @wraps(builder)
    def plan(*given: Any, variant: None = None, parameters: Parameters = (), **options: Any) -> Plan:
        return cached(*given, **options)

    plan.cache_clear = cached.cache_clear  # type: ignore[attr-defined]
    return cast(CachedPlan[..., Plan], plan)


def builder(
    operation: str,
    variants: Mapping[str, Variant],
    choose: Callable[..., Choice],
    *,
    replaced: str = "",
    heeds: tuple[str, ...] = (),
) -> Callable[[Callable[..., Plan]], CachedPlan[..., Plan]]:
    """Make the builder of an operation's device plan: it resolves the variant, and caches plans, see `kept`.

    It is called with the forms of the operands, the limits of the device (by default `glla.passes.PLAIN`), and by name
    with ``variant``, a key of `variants` (by default the choice of `choose`), ``parameters``, pairs of a name and a
    value (by default the variant's own), and the options of the operation. It raises OptionError where there is no such
    variant, parameter or value.

    Decorator of a function (forms, limits, `Chosen`, **options) -> plan.
    `operation`: for titles and messages. `variants`: those of the operation. `choose`: (forms, limits) -> the variant
    where none is asked for, with values for its parameters. `replaced`: variant whose shader a user's own replaces.
    `heeds`: options that `choose` takes, too.
    """

    def decorator(build: Callable[..., Plan]) -> CachedPlan[..., Plan]:
        @wraps(build)
        def plan(
            forms: Forms,
            limits: Limits = PLAIN,
            *,
            variant: str | None = None,
            parameters: Parameters = (),
            **options: Any,
        ) -> Plan:
            heeded = partial(choose, **{name: options[name] for name in heeds if name in options})
            variant, values = resolved(operation, variants, heeded, forms, limits, variant, parameters)
            exchange = variants[variant].exchange
            own = exchange is not None
            chosen = Chosen(f"{operation}[{variant}]", replaced if own else variant, values, own)
            made = build(forms, limits, chosen, **options)
            return made if exchange is None else exchange(made, values)

        return kept(variants)(plan)

    return decorator


def resolved(
    operation: str,
    variants: Mapping[str, Variant],
    choose: Callable[[Forms, Limits], Choice],
    forms: Forms,
    limits: Limits,
    variant: str | None = None,
    parameters: Parameters = (),
) -> tuple[str, dict[str, int]]:
    """Return a variant and the values of all its parameters: as asked for, or as chosen, see `builder`."""
    if not variant:  # "" is that of an operation without a choice
        variant, parameters = choose(forms, limits)
    one_of(f"{operation}: variant", variant, variants)
    return variant, variants[variant].settle(f"{operation}[{variant}]", parameters, limits)


@dataclass(frozen=True, eq=False)
class Interface:
    """Shader of an operation that a user's own may replace, and its inputs."""

    stands_for: str  # the shader of glla that it replaces
    computes: str  # what its fragments must compute, in words
    samplers: Mapping[str, str]  # textures, with what they hold
    uniforms: Mapping[str, tuple[str, str]]  # uniforms, with their types and what they hold
    needed: tuple[str, ...]  # samplers and uniforms without which no shader can be right
    result: str  # result of the plan that is a packed matrix
    # (forms, limits, values of parameters) -> the plan with glla's own shader
    plan: Callable[[Forms, Limits, Mapping[str, int]], Plan]
    # inputs from the vertex stage, which stays glla's, likewise
    varyings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)  # what glla defines, and a parameter that it heeds

    @property
    def given(self) -> dict[str, str]:
        """Type of each sampler and uniform, by name."""
        return dict.fromkeys(self.samplers, "sampler2D") | {name: kind for name, (kind, _) in self.uniforms.items()}


@dataclass(frozen=True, eq=False)
class Layout:
    """Places in the operands and in the record of a matrix of a batch."""

    # (forms) -> rows and columns of the matrix that a record begins with; (0, 0) if it holds diagnostics alone
    matrix: Callable[[Forms], Shape]
    lines: int = 0  # lines of diagnostics behind it, each as long as `order` says
    # (forms) -> length of a line of diagnostics; that of U's diagonal, if it is not said
    order: Callable[[Forms], int] = lambda forms: min(forms[0].matrix)
    # lines of diagnostics that are results: of batches on the device they are read of all matrices, and no others
    # unless the device rejects the matrix
    kept: tuple[int, ...] = ()
    # the plan reads the lower half of A: with ``lower=False`` matrices are handed in transposed
    lower_half: bool = False
    # (``operands``, ``matrices``, ``diagnostics``, ``exponents``, ``shape`` of A, what the plan on the device reads) ->
    # results by name, an element for each matrix; None where the matrices are the result
    results: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None

    def length(self, forms: Forms) -> int:
        """Elements of the record of a matrix."""
        rows, columns = self.matrix(forms)
        return rows * columns + self.lines * self.order(forms)

    def parted(self, forms: Forms, records: Float32) -> tuple[Float32, Float32]:
        """Split records into the matrices and the diagnostics, (matrices, lines, length of a line)."""
        rows, columns = self.matrix(forms)
        return (
            records[:, : rows * columns].reshape(len(records), rows, columns),
            records[:, rows * columns :].reshape(len(records), self.lines, self.order(forms)),
        )


@dataclass(frozen=True, eq=False)
class Filter:
    """Which matrices of a batch are rejected, and their second run; the operation's `settle` judges those left."""

    # (operands, matrices and diagnostics of the records, **options) -> places of the matrices that are rejected. For a
    # batch on the device: with pairs of extremes in place of operands, then with the operands of those rejected
    rejected: Callable[..., NDArray[np.intp]] | None = None
    # ("", "system", "definite", "factors", "determinant"): kind of diagnostics by which the device itself finds the
    # matrices of which the host must see them, see `batches.linear_batches.flags`; "" if it finds none
    kind: str = ""
    # read of a batch on the device beside diagnostics and the largest magnitudes of operands: their "least" magnitudes,
    # 1-"norms" of A and of the record's matrix, the largest entry of the "upper" half of packed factors
    extras: tuple[str, ...] = ("least",)
    # (numbers that the plan `Batch.device_plan` reads, by name, **options) -> which matrices are rejected
    lost: Callable[..., NDArray[np.bool_]] | None = None
    # (A, **options) -> it scaled by powers of two, and exponents, for the second run, see `batches.retry`
    scaled: Callable[..., Any] | None = None
    marked: int = 0  # rows that a record begins with, which are not finite where the matrix is rejected
    # name and function, (operands, **options) -> (X,), that solve rejected matrices batched on the host
    host_work: tuple[str, Callable[..., tuple[Float32]]] | None = None


ACCEPTED = Filter()
"""Every matrix is accepted, without diagnostics. Of batches on the device the largest magnitude of each record is made,
which says whether it is finite."""


@dataclass(frozen=True, eq=False)
class Batch:
    """How a batch of small matrices goes through one plan, see `glla.operations.batches.stack`."""

    # (forms, limits) -> most matrices that may go at once; 0 if they are looped
    most: Callable[[Forms, Limits], int]
    # (forms of the batch, limits, **options) -> plan. Operand ``raw``: the operands, one after the other. Result
    # ``records``: a record for each matrix
    records_plan: Callable[..., Plan]
    layout: Layout
    filter: Filter
    # (forms of a batch on the device, limits, **options) -> plan of a piece of it, where it has diagnostics of its own
    device_plan: Callable[..., Plan] | None = None
    # by the option ``mode``: batches of other modes than the usual one
    modes: Mapping[str, Batch] = field(default_factory=dict)
    variant: str | None = None  # of the operation, that the plan has for all matrices at once


@dataclass(frozen=True, eq=False)
class Taken:
    """How a call takes its operands."""

    # (operands) -> options that a call takes from places of its operands: two of them may be one
    noticed: Callable[..., dict[str, Any]] = lambda *operands: {}
    # (types of the operands on the device) -> type to which a call converts them
    dtype: Callable[[Sequence[str]], str] = lambda dtypes: "float32"
    # (forms of the host) -> forms of as many operands, in which batches of another shape are made alike
    aligned: Callable[[Forms], Forms] = lambda forms: forms
    fits: bool = False  # whether A must fit a texture: only right-hand sides are cut into blocks


@dataclass(frozen=True, eq=False)
class Function:
    """The public function of an operation."""

    public: bool = True  # whether there is one of its name
    arguments: Callable[..., tuple[Any, ...]] = lambda *arrays: arrays  # (arrays of `example`) -> its arguments
    # operands that may be vectors, and the dimension that a vector lacks: 0 for a row, 1 for a column
    vectors: Mapping[str, int] = field(default_factory=dict)
    parts: int = 1  # results that can be taken apart: ``P, L, U = plu(A)``
    host: str = ""  # counterpart on the CPU, imported when it is used: ``"module:function"``; "" if there is none


@dataclass(frozen=True, eq=False)
class Trial:
    """How the plan on the device is tried for tests and comparisons."""

    # (forms, results of `device_plan` as arrays) -> the value of the public function, or its judge's input instead.
    # A result that is a packed matrix comes as a matrix, any other as texels; by default its first result. None where
    # `device_plan` is not all of it: then the public function is compared
    values: Callable[[Forms, Mapping[str, Float32]], Any] | None = lambda forms, results: next(iter(results.values()))
    # (forms) -> operands of `device_plan` that `example` does not make, by name, as texels
    aside: Callable[[Forms], Mapping[str, Float32]] = lambda forms: {}
    # (device plan, limits, arrays of `example`) -> texels of its operands by name, where they are no packed matrices
    textures: Callable[[Plan, Limits, tuple[Float32, ...]], Mapping[str, Any]] | None = None


@dataclass(frozen=True, eq=False)
class Operation:
    """Record of an operation."""

    name: str  # of the public function, if there is one: ``"matmul"``
    formula: str  # ``"C = A B"``
    operands: tuple[str, ...]  # their names, in the order of the public function
    results: tuple[str, ...]
    check: Callable[[Forms], None]  # (forms) -> nothing, or a ShapeError
    flops: Callable[[Forms], int]  # (forms) -> additions and multiplications
    # (forms, limits, *, variant, parameters, **options) -> plan of the operation itself: operands and results on the
    # device. It is what variants are compared by, and what is tuned
    device_plan: Callable[..., Plan]
    # (forms, limits, *, variant, parameters, **options) -> plan of a call of the public function for one matrix, with
    # what it checks, uploads and reads back, and with what may come after it
    call_plan: Callable[..., Plan]
    # (n, random numbers) -> operands of order n, arrays of float32
    example: Callable[[int, np.random.Generator], tuple[Float32, ...]]
    # (forms, stage that has run, values) -> `Done`, an error, or the stage in `Plan.after` that comes next, see
    # `glla.operations.acceptance`. None where nothing comes after `call_plan`
    settle: Callable[[Forms, str, Mapping[str, Any]], Any] | None = None
    variants: Mapping[str, Variant] = field(default_factory=dict)  # ways to do it; empty if there is one
    # (forms, limits) -> the variant, and values for its parameters
    choose: Callable[[Forms, Limits], Choice] = lambda forms, limits: ("", ())
    taken: Taken = Taken()
    function: Function = Function()
    trial: Trial = Trial()
    about: Variant = field(default_factory=partial(Variant, "", ""))  # its summary and source, if variants lack them
    batch: Batch | None = None  # how small matrices are batched
    # (forms, limits, room, **options) -> plan that streams the operands through the device, tile by tile, or None if
    # they fit as a whole; `room` is the bytes left, or None without a cap. None for an operation that does not stream
    tiles: Callable[..., Plan | None] | None = None
    thesis: str = ""  # variant that is the thesis's own
    # (variant) -> pivoting strategies that it knows, its default first
    pivotings: Callable[[str], tuple[str, ...]] | None = None
    interface: Interface | None = None  # which shader a user's own may stand in for

    def batch_of(self, options: Mapping[str, Any]) -> Batch | None:
        """Batch record for these options, see `Batch.modes`."""
        return None if self.batch is None else self.batch.modes.get(options.get("mode", ""), self.batch)

    def tunable(self) -> dict[str, Variant]:
        """Variants of glla's that may be chosen: on plain OpenGL 3.3, with every pivoting strategy that others have."""
        usual = {} if self.pivotings is None else set(self.pivotings(self.thesis))
        return {
            name: variant
            for name, variant in self.variants.items()
            if not variant.needs
            and variant.exchange is None
            and (self.pivotings is None or set(self.pivotings(name)) == usual)
        }

    def known(self, variant: str | None) -> None:
        """Raise OptionError unless there is such a variant."""
        if variant is None:
            return
        if not self.variants:
            raise OptionError(f"{self.name}: has no variants, got {variant!r}; leave it out")
        one_of(f"{self.name}: variant", variant, self.variants)
