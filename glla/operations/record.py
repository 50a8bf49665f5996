"""The record of an operation: everything that the rest of glla needs to know of it.

`glla.operations.OPERATIONS` is the only list of the records. All users of operations (plan, explain, trace, tune,
compare, variants, benchmarks, the coprocessor, hybrid, the command line, tests) iterate over it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial, update_wrapper, wraps
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from glla.errors import OptionError, one_of
from glla.operations.verdict import Settle
from glla.passes import PLAIN, Forms, Limits, Parameters, Plan, Variant, Variants
from glla.passes.cache import cached_plan
from glla.passes.layout import Shape

Array = NDArray[np.float32]

Choice = tuple[str, Parameters]
"""A variant, and values for some of its parameters."""


class Way(TypedDict, total=False):
    """Options of every plan of an operation: a variant, and values for its parameters; without them it is chosen."""

    variant: str | None
    parameters: Parameters


@dataclass(frozen=True)
class Chosen:
    """Variant of a plan.

    Attributes
    ----------
    title : str
        Operation and variant: ``"plu[blocked]"``.
    variant : str
        As asked for or chosen; for a user's own the one of glla's whose shader it replaces.
    values : mapping of str to int
        Of all its parameters.
    registered : bool
        It is a user's own.
    """

    title: str
    variant: str
    values: Mapping[str, int]
    registered: bool


class Kept:
    """A builder of plans that caches them by its arguments, and by the shader that the variant has now.

    A name may stand for another shader after it was registered anew; a plan of the old one is not found then.
    """

    def __init__(self, builder: Callable[..., Plan], variants: Mapping[str, Variant]) -> None:
        def registered(number: int, *args: Any, **options: Any) -> Plan:
            return builder(*args, **options)

        update_wrapper(self, builder)
        self.__wrapped__ = builder
        self._variants = variants
        self._written, self._registered = cached_plan(builder), cached_plan(registered)

    def __call__(self, *args: Any, **options: Any) -> Plan:
        """Return the plan that was made before, or make it."""
        numbers = self._variants.numbers if isinstance(self._variants, Variants) else {}
        number = numbers.get(options.get("variant"))
        return self._written(*args, **options) if number is None else self._registered(number, *args, **options)

    def cache_clear(self) -> None:
        """Forget all plans."""
        self._written.cache_clear()
        self._registered.cache_clear()


def kept(variants: Mapping[str, Variant]) -> Callable[[Callable[..., Plan]], Kept]:
    """Cache the plans of a builder, see `Kept`, with those of all builders, see `glla.passes.cache.cached_plan`."""
    return partial(Kept, variants=variants)


def builder(
    operation: str,
    variants: Mapping[str, Variant],
    choose: Callable[..., Choice],
    *,
    replaced: str = "",
    heeds: tuple[str, ...] = (),
) -> Callable[[Callable[..., Plan]], Kept]:
    """Make the builder of an operation's device plan: it resolves the variant, and caches plans, see `Kept`.

    It is called with the forms of the operands, the limits of the device (by default `glla.passes.PLAIN`), and by name
    with ``variant``, a key of `variants` (by default the choice of `choose`), ``parameters``, pairs of a name and a
    value (by default the variant's own), and the options of the operation. It raises OptionError where there is no such
    variant, parameter or value.

    Parameters
    ----------
    operation : str
        For titles and messages.
    variants : mapping of str to Variant
        Those of the operation.
    choose : callable
        (forms, limits) -> the variant where none is asked for, with values for its parameters.
    replaced : str
        Variant whose shader a user's own replaces.
    heeds : tuple of str
        Options that `choose` takes, too.

    Returns
    -------
    callable
        Decorator of a function (forms, limits, `Chosen`, **options) -> plan.
    """

    def decorator(build: Callable[..., Plan]) -> Kept:
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

        return Kept(plan, variants)

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
    if variant is None:
        variant, parameters = choose(forms, limits)
    one_of(f"{operation}: variant", variant, variants)
    return variant, variants[variant].settle(f"{operation}[{variant}]", parameters, limits)


@dataclass(frozen=True, eq=False)
class Interface:
    """Shader of an operation that a user's own may replace, and its inputs.

    Attributes
    ----------
    stands_for : str
        The shader of glla that it replaces.
    computes : str
        What its fragments must compute, in words.
    samplers : mapping of str to str
        Textures, with what they hold.
    uniforms : mapping of str to (str, str)
        Uniforms, with their types and what they hold.
    needed : tuple of str
        Samplers and uniforms without which no shader can be right.
    result : str
        Result of the plan that is a packed matrix.
    plan : callable
        (forms, limits, values of parameters) -> the plan with glla's own shader.
    varyings : mapping of str to (str, str)
        Inputs from the vertex stage, which stays glla's, likewise.
    defines : mapping of str to str
        What glla defines, and a parameter that it heeds.
    """

    stands_for: str
    computes: str
    samplers: Mapping[str, str]
    uniforms: Mapping[str, tuple[str, str]]
    needed: tuple[str, ...]
    result: str
    plan: Callable[[Forms, Limits, Mapping[str, int]], Plan]
    varyings: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    defines: Mapping[str, str] = field(default_factory=dict)

    @property
    def given(self) -> dict[str, str]:
        """Type of each sampler and uniform, by name."""
        return dict.fromkeys(self.samplers, "sampler2D") | {name: kind for name, (kind, _) in self.uniforms.items()}


@dataclass(frozen=True, eq=False)
class Batch:
    """How a stack of small matrices goes through one plan, see `glla.operations.batches.stack`.

    Attributes
    ----------
    most : callable
        (forms, limits) -> most members of the stack that may go at once; 0 if they go one by one.
    plan : callable
        (forms of the stacks, limits, **options) -> plan. Operand ``raw``: the stacks, one after the other. Result
        ``records``: a record for each member.
    matrix : callable
        (forms) -> rows and columns of the matrix that a record begins with; (0, 0) if it holds diagnostics alone.
    lines : int
        Lines of diagnostics behind it, each as long as `order` says.
    doubtful : callable or None
        (operands, matrices of the records, diagnostics of the records, **options) -> places of the matrices that are
        rejected. For a batch on the device it is asked twice: with pairs of extremes in place of operands and factors,
        then with the operands of those rejected. None where all are accepted.
    factors : bool
        The matrices are packed factors.
    norms : bool
        Of stacks on the device the 1-norms are read back, of A's members and of the matrices.
    least : bool
        What is doubtful depends on the least magnitudes of the operands; otherwise their largest ones are enough, which
        say whether they are finite.
    stacked : callable or None
        (forms of stacks on the device, limits, **options) -> plan of a piece of them, where it has diagnostics of its
        own.
    order : callable
        (forms) -> length of a line of diagnostics; that of U's diagonal, if it is not said.
    unjudged : bool
        Every matrix is accepted without diagnostics. Of batches on the device the largest magnitude of each record is
        made, which says whether it is finite.
    kept : tuple of int
        Lines of diagnostics that are results: of stacks on the device they are read of all members, and no others
        unless
        the device doubts the member.
    judged : {"", "system", "definite", "factors", "determinant"}
        Whether the device itself finds the members of which the host must see diagnostics, and by what: see
        `glla.operations.batches.stack_doubts`.
    lower_half : bool
        The plan reads the lower half of A: with ``lower=False`` matrices are handed in transposed.
    results : callable or None
        (mapping of what a batch has given: ``operands``, ``matrices``, ``diagnostics``, ``exponents``, ``shape`` of A,
        and
        what the plan on the device reads) -> results by name, an element for each matrix; None where the matrices are
        the result.
    lost : callable or None
        (numbers that the plan `stacked` reads, by name, **options) -> which matrices are not accepted; None where
        `doubtful` tells it.
    scaled : callable or None
        (A of a stack, **options) -> it scaled by powers of two, and exponents, by which doubtful members go together
        once more, see `glla.operations.batches.again`. None where each of them goes on alone.
    modes : mapping of str to Batch
        By the option ``mode``: ways of other modes than the usual one.
    """

    most: Callable[[Forms, Limits], int]
    plan: Callable[..., Plan]
    matrix: Callable[[Forms], Shape]
    lines: int = 0
    doubtful: Callable[..., NDArray[np.intp]] | None = None
    factors: bool = False
    norms: bool = False
    least: bool = True
    stacked: Callable[..., Plan] | None = None
    order: Callable[[Forms], int] = lambda forms: min(forms[0].matrix)
    unjudged: bool = False
    kept: tuple[int, ...] = ()
    judged: str = ""
    lower_half: bool = False
    results: Callable[[Mapping[str, Any]], Mapping[str, Any]] | None = None
    lost: Callable[..., NDArray[np.bool_]] | None = None
    scaled: Callable[..., Any] | None = None
    modes: Mapping[str, Batch] = field(default_factory=dict)

    def length(self, forms: Forms) -> int:
        """Elements of the record of a member."""
        rows, columns = self.matrix(forms)
        return rows * columns + self.lines * self.order(forms)

    def parted(self, forms: Forms, records: Array) -> tuple[Array, Array]:
        """Take records apart: the matrices, and the diagnostics, (members, lines, length of a line)."""
        rows, columns = self.matrix(forms)
        return (
            records[:, : rows * columns].reshape(len(records), rows, columns),
            records[:, rows * columns :].reshape(len(records), self.lines, self.order(forms)),
        )


def first_result(forms: Forms, results: Mapping[str, Array]) -> Any:
    """Value of an operation whose device plan has one result of note, the first."""
    return next(iter(results.values()))


@dataclass(frozen=True, eq=False)
class Operation:
    """Record of an operation.

    Attributes
    ----------
    name : str
        Of the public function, if there is one: ``"matmul"``.
    formula : str
        ``"C = A B"``.
    operands, results : tuple of str
        Their names, in the order of the public function.
    check : callable
        (forms) -> nothing, or a ShapeError.
    flops : callable
        (forms) -> additions and multiplications.
    core : callable
        (forms, limits, *, variant, parameters, **options) -> plan of the operation itself: operands and results on the
        device. It is what variants are compared by, and what is tuned.
    whole : callable
        (forms, limits, *, variant, parameters, **options) -> plan of a call of the public function for one matrix, with
        what it checks, uploads and reads back, and with what may come after it.
    example : callable
        (n, random numbers) -> operands of order n, arrays of float32.
    values : callable or None
        (forms, results of `core` as arrays) -> the value of the public function, or what its judge takes instead. A
        result that is a packed matrix comes as a matrix, any other as texels; by default its first result. None where
        `core` is not all of it: then the public function is what can be compared.
    settle : callable or None
        (forms, stage that has run, values) -> `Done`, an error, or the stage in `Plan.after` that comes next, see
        `glla.operations.verdict`. None where nothing comes after `whole`.
    variants : mapping of str to Variant
        Ways to do it; empty if there is one.
    choose : callable
        (forms, limits) -> the variant, and values for its parameters.
    noticed : callable
        (operands) -> options that a call takes from where its operands lie: two of them may be one.
    dtype : callable
        (types of the operands on the device) -> type to which a call converts them.
    aligned : callable
        (forms) -> forms of as many operands, in which stacks of another shape are made alike: what is routed.
    batch : Batch or None
        How small matrices go together.
    tiles : callable or None
        (forms, limits, room, **options) -> plan that streams the operands through the device, tile by tile, or None if
        they fit as a whole; `room` is the bytes left, or None without a cap. None for an operation that does not
        stream.
    vectors : mapping of str to int
        Operands that may be vectors, and the dimension that a vector lacks: 0 for a row, 1 for a column.
    fits : bool
        Whether A must fit a texture: only right-hand sides are cut into blocks.
    host : str
        Counterpart on the CPU, imported when it is used: ``"module:function"``; "" if there is none.
    parts : int
        Results that can be taken apart: ``P, L, U = plu(A)``.
    thesis : str
        Variant that is the thesis's own.
    pivotings : callable or None
        (variant) -> pivoting strategies that it knows, its default first.
    interface : Interface or None
        Which shader a user's own may stand in for.
    aside : callable
        (forms) -> operands of `core` that `example` does not make, by name, as texels.
    textures : callable or None
        (plan of `core`, limits, arrays of `example`) -> texels of its operands by name, where they are no packed
        matrices.
    arguments : callable
        (arrays of `example`) -> arguments of the public function.
    public : bool
        Whether there is a public function of this name.
    summary, source : str
        What is particular to it, and where it comes from, in a line each; "" where variants say it.
    """

    name: str
    formula: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    check: Callable[[Forms], None]
    flops: Callable[[Forms], int]
    core: Callable[..., Plan]
    whole: Callable[..., Plan]
    example: Callable[[int, np.random.Generator], tuple[Array, ...]]
    values: Callable[[Forms, Mapping[str, Array]], Any] | None = first_result
    settle: Settle | None = None
    variants: Mapping[str, Variant] = field(default_factory=dict)
    choose: Callable[[Forms, Limits], Choice] = lambda forms, limits: ("", ())
    noticed: Callable[..., dict[str, Any]] = lambda *operands: {}
    dtype: Callable[[Sequence[str]], str] = lambda dtypes: "float32"
    aligned: Callable[[Forms], Forms] = lambda forms: forms
    batch: Batch | None = None
    tiles: Callable[..., Plan | None] | None = None
    vectors: Mapping[str, int] = field(default_factory=dict)
    fits: bool = False
    host: str = ""
    parts: int = 1
    thesis: str = ""
    pivotings: Callable[[str], tuple[str, ...]] | None = None
    interface: Interface | None = None
    aside: Callable[[Forms], Mapping[str, Array]] = lambda forms: {}
    textures: Callable[[Plan, Limits, tuple[Array, ...]], Mapping[str, Any]] | None = None
    arguments: Callable[..., tuple[Any, ...]] = lambda *arrays: arrays
    public: bool = True
    summary: str = ""
    source: str = ""

    def batch_of(self, options: Mapping[str, Any]) -> Batch | None:
        """How small matrices go together with these options, see `Batch.modes`."""
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
        if variant is not None and not self.variants:
            raise OptionError(f"{self.name}: has no variants, got {variant!r}; leave it out")
        if variant is not None:
            one_of(f"{self.name}: variant", variant, self.variants)
