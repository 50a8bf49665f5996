"""`glla.plan` and `glla.explain`: the plan of a call, shown before it runs, as a table or in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from glla.array.convert import as_float32
from glla.errors import ContextError, DTypeError, OptionError, OptionTypeError, ShapeError, one_of
from glla.gl import DeviceLike, named_device
from glla.linalg.banded import BandCaller
from glla.linalg.caller import Caller
from glla.linalg.execution import stored
from glla.linalg.operands import column, operand, turned
from glla.linalg.products import beside_an_array
from glla.linalg.recording import PlanRecorder, Shown
from glla.linalg.systems import Substitution
from glla.operations import OPERATIONS, Operation
from glla.operations.linear.view import View
from glla.operations.routes import host_batch_plan, must_fit_a_texture, of_batches, pieces, route
from glla.passes import PLAIN, Draft, Form, Forms, Limits, Plan, forms_of
from glla.passes.limits import version

if TYPE_CHECKING:
    from glla.display.words import Explanation


def plan(
    operation: str, *forms: Any, device: DeviceLike | None = None, limits: Limits | None = None, **options: Any
) -> Plan:
    """Plan of an operation: the passes of the function of this name, as data.

    Examples
    --------
    >>> import glla
    >>> for line in str(glla.plan("matmul", (4, 6), (6, 2), limits=glla.Limits())).splitlines()[-5:]:
    ...     print(line[:72].rstrip())
    pass  shader                reads    draws    region (texels)  uniforms
    0     stack/pack            raw=raw  A        x 0:3 y 0:2      IDENTITY=
    1     stack/pack            raw=raw  B        x 0:1 y 0:3      IDENTITY=
    2     matmul/inner_product  A=A B=B  C        x 0:1 y 0:2      CONTINUE=
    3     stack/unpack          M=C      records  x 0:3 y 0:3      MATRIX=1

    Parameters
    ----------
    operation : str
        A key of `glla.operations.OPERATIONS`: ``"matmul"``, ``"solve"``, ...
    *forms : tuple of int, Form, array_like or Array
        Of the operands. A pair of numbers stands for a float32 matrix in the host's memory; more numbers for a stack;
        one for a vector, where the function takes vectors. Without elements nothing runs: the plan is empty.
    device : Device, str or int, optional
        For which, or its name (see `glla.gl.named_device`): its limits, and what was tuned on it. By default the
        default device, or plain OpenGL 3.3 where none can be had.
    limits : Limits, optional
        In place of a device.
    **options
        Of the operation: ``variant="virtual_cube"``, ``pivoting="harmonic"``, ``parameters=(("UNROLL", 4),)``. With
        ``stop=3`` the plan is that of the first steps of a factorisation on the device, which no function runs.

    Returns
    -------
    Plan
        ``print`` shows it as a table, a line for each pass, and what comes where values decide: "if ...: then ...".

    Raises
    ------
    OptionError, ShapeError, DTypeError, LimitError, ContextError
        Unknown operation or option; shapes or limits that do not fit; no real numbers; the named device does not open.
    """
    one_of("plan: operation", operation, OPERATIONS)
    target, chosen, room = _target(device, limits)
    record = OPERATIONS[operation]
    if options.get("parameters") is not None:
        options["parameters"] = _pairs(options["parameters"])
    try:
        result = shown(record, forms, chosen, target, room=room, **options)
    except DTypeError:
        raise
    except TypeError as error:
        raise OptionError(f"plan: {operation}: {str(error).rpartition('() ')[2]}") from None
    result.check(chosen)
    return result


def explain(
    operation: str | Plan, *forms: Any, device: DeviceLike | None = None, limits: Limits | None = None, **options: Any
) -> Explanation:
    """Describe a call in words: loops, passes, their inputs, targets and costs, and the stages that may come after.

    Examples
    --------
    >>> import glla
    >>> words = glla.explain("rref", (3, 4), limits=glla.Limits())
    >>> words.cost.passes
    17
    >>> "2 times, step 0 to 1" in str(words)
    True

    Parameters
    ----------
    operation : str or Plan
        Either a plan, and nothing else; or what `plan` takes.
    *forms, device, limits, **options
        As for `plan`.

    Returns
    -------
    Explanation
        ``print`` it; see `glla.display.words.explain`.

    Raises
    ------
    OptionError, ShapeError, LimitError
        As `plan`.
    """
    from glla.display.words import explain as in_words  # few need it

    if not isinstance(operation, Plan):
        return in_words(plan(operation, *forms, device=device, limits=limits, **options))
    if forms or options:
        raise OptionError("explain: a plan is all that is needed beside itself; its form and options are in it")
    return in_words(operation)


# -- the call ---------------------------------------------------------------------------------------------------------


def shown(
    operation: Operation,
    values: tuple[Any, ...],
    limits: Limits,
    target: str = "",
    room: int | None = None,
    **options: Any,
) -> Plan:
    """Plan that the public function would run for operands like these, as it is shown.

    Raises ShapeError: there are not as many operands as the operation has, or they do not fit together.
    """
    if len(values) != len(operation.operands):
        raise ShapeError(
            f"plan: {operation.name} takes {len(operation.operands)} shape(s) ({', '.join(operation.operands)}), got "
            f"{len(values)}"
        )
    values = tuple(map(_as_taken, operation.operands, values))
    forms = forms_of(_as_called(operation, values))
    operation.check(forms)
    operation.known(options.get("variant"))
    if operation.taken.fits and not forms[0].resident:
        must_fit_a_texture(operation.name, forms[0].matrix, limits)
    options = _with_a_variant(operation, forms, limits, options)
    if options.get("stop") is not None:
        found = operation.device_plan(tuple(form.on_device for form in forms), limits, **options)
    elif 0 in _batch(operation, forms) or any(0 in form.matrix for form in forms):
        found = Draft(operation.name).plan({})  # without elements nothing runs
    elif any(form.resident for form in forms):
        found = _on_device(operation, values, forms, limits, room, **options)
    else:
        options = {**operation.taken.noticed(*values), **options}
        found = _on_host(operation, operation.taken.aligned(forms), limits, room, **options)
    return replace(found, target=target, rates=limits.known_rates)


def _on_device(
    operation: Operation,
    values: tuple[Any, ...],
    forms: Forms,
    limits: Limits,
    room: int | None,
    variant: str | None = None,
    **options: Any,
) -> Plan:
    """Carry out the call on a device that runs nothing; give its plan."""
    name, recorder = operation.name, PlanRecorder(operation.name, limits, room)
    with suppress(Shown), np.errstate(all="ignore"):
        if operation.batch is None and operation.settle is None and not operation.function.public:
            plan_ = operation.call_plan(forms, limits, variant=variant, **options)
            named = dict(zip(operation.operands, values, strict=True))
            recorder.run(plan_, **{name: _texture(recorder, name, named.get(name)) for name in plan_.operands})
            return replace(recorder.plan(), times=forms[0].count)
        given = [recorder.stand_in(*one) for one in zip(operation.operands, map(form_of, values), values, strict=True)]
        if name == "matmul":
            a, b = given
            beside_an_array(a, b, variant, None, **options)
        else:
            solved = partial(Substitution, exchanges=np.arange(forms[0].shape[-1]))
            callers: dict[str, Any] = {"lu_solve": solved, "tridiagonal": BandCaller, "pentadiagonal": BandCaller}
            names, operands = operation.operands, [operand(name, "", one, False) for one in given]
            if name == "cho_factor":
                name, lower = "cholesky", options.pop("lower", False)
                operands = operands if lower else [turned(operands[0])]
            call = callers.get(name, Caller)(
                name, name, recorder, True, names, variant, operation.results, options=options
            )
            if options.get("refine"):
                call.refined(*given)
            elif name == "lstsq":
                call.one(operands[0], column(operands[1]))
            elif len(operands) == 1:
                call.named(*operands)
            else:
                call(*operands)
    return replace(recorder.plan(), times=recorder.times)


def _texture(recorder: PlanRecorder, name: str, value: Any) -> Any:
    """Texture of an operand as stored, of a vector in order; for anything else that a plan takes a new operand."""
    form = None if value is None else form_of(value)
    if form is None or not form.resident or (form.view is not None and not isinstance(form.view, View)):
        return object()
    made = recorder.stand_in(name, form, value)
    return made.texture if made.ndim == 1 else stored(made)


def _on_host(operation: Operation, forms: Forms, limits: Limits, room: int | None, **options: Any) -> Plan:
    """Plan of the route of operands of the host, with all of its pieces."""
    chosen = route(operation, forms, limits, room, **options)
    if chosen.kind != "batched" or chosen.piece == forms[0].count:
        return replace(chosen.plan, times=chosen.times)
    draft, batch = Draft(chosen.plan.operation), operation.batch_of(options)
    assert batch is not None
    for number, (first, end) in enumerate(pieces(forms[0].count, chosen.piece)):
        part = host_batch_plan(batch, forms, limits, end - first, **of_batches(options))
        with draft.scope("piece of the stack", number):
            raw = draft.operand(f"raw_{number}", part.slots["raw"])
            draft.call(f"piece {number}", part, raw=raw)
    return draft.plan({}, after=chosen.plan.after)


def _pairs(parameters: Any) -> tuple[tuple[Any, Any], ...]:
    """Pairs of names and values. Raises OptionError: they are none."""
    try:
        return tuple(dict(parameters).items())
    except (TypeError, ValueError):
        rule = 'parameters must be pairs of names and values, such as (("UNROLL", 4),)'
        raise OptionError(f"plan: {rule}, got {parameters!r}") from None


def _with_a_variant(operation: Operation, forms: Forms, limits: Limits, options: dict[str, Any]) -> dict[str, Any]:
    """Find the variant that parameters are for, where none is named: the one that is chosen, or one that has them."""
    parameters = options.get("parameters")
    if not parameters or options.get("variant") is not None:
        return options
    if not operation.variants:
        raise OptionError(f"{operation.name}: has no parameters, got {parameters!r}; leave them out")
    chosen = operation.choose(tuple(form.single for form in forms), limits)[0]
    names = [chosen, *operation.variants] if chosen else list(operation.variants)
    wanted = {name for name, _ in parameters}
    having = (name for name in names if wanted <= set(operation.variants[name].parameters))
    return {**options, "variant": next(having, names[0])}


def _as_taken(name: str, value: Any) -> Any:
    """See as an array of the host, as a call does, all but shapes, forms, and values that have a form."""
    shape = isinstance(value, tuple | list) and not any(hasattr(side, "__len__") for side in value)
    if shape or isinstance(value, Form | np.ndarray) or isinstance(getattr(value, "form", None), Form):
        return value
    found = as_float32("plan", name, value, False)
    return found if found.ndim else value  # a number is refused as it was given


def _as_called(operation: Operation, values: tuple[Any, ...]) -> Iterator[Any]:
    """See vectors as the call does: as rows or columns."""
    for name, value in zip(operation.operands, values, strict=True):
        axis = operation.function.vectors.get(name)
        shape = value if isinstance(value, tuple | list) else getattr(value, "shape", ())
        if axis is None or len(shape) != 1:
            yield value
        else:
            yield Form((1, *shape) if axis == 0 else (*shape, 1), resident=form_of(value).resident)


def form_of(value: Any) -> Form:
    """Form of an operand, of a vector too."""
    if isinstance(value, tuple | list):
        return Form(tuple(value))
    form = value if isinstance(value, Form) else getattr(value, "form", None)
    if isinstance(form, Form):
        return form
    return Form(value.shape) if getattr(value, "ndim", 2) == 1 else Form.of(value)  # which says what it may be


def _batch(operation: Operation, forms: Forms) -> tuple[int, ...]:
    """Leading dimensions, to which those of all operands broadcast."""
    try:
        return np.broadcast_shapes(*(form.stack for form in forms))
    except ValueError:
        shapes = " and ".join(f"{name} {form.shape}" for name, form in zip(operation.operands, forms, strict=True))
        raise ShapeError(f"plan: {operation.name}: leading dimensions must broadcast, got {shapes}") from None


def _target(device: DeviceLike | None, limits: Limits | None) -> tuple[str, Limits, int | None]:
    """Target of a plan, in words, its limits, and the bytes that are left where there is a cap on them."""
    if limits is not None:
        if not isinstance(limits, Limits):
            raise OptionTypeError(f"plan: limits must be glla.Limits, got {limits!r}")
        kind = "a software rasteriser" if limits.software else "a GPU"
        size = f"textures of up to {limits.texture_size} texels a side"
        return f"OpenGL {version(limits.opengl)} on {kind}, {size}", limits, None
    try:
        found = named_device("plan", device)
    except ContextError:
        if device is not None:
            raise
        return "plain OpenGL 3.3, as no device can be had here", PLAIN, None
    tuned = ", tuned" if found.limits.tuned else ""
    return f"{found.info.renderer}, OpenGL {version(found.limits.opengl)}{tuned}", found.limits, found.room
