"""`glla.plan` and `glla.explain`: the plan of a call, shown before it runs, as a table or in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glla.errors import ContextError, OptionError, one_of
from glla.gl import DeviceLike, named_device
from glla.operations import OPERATIONS
from glla.operations.routes import shown
from glla.passes import PLAIN, Limits, Plan
from glla.passes.limits import version

if TYPE_CHECKING:
    from glla.passes.text.words import Explanation


def plan(
    operation: str, *forms: Any, device: DeviceLike | None = None, limits: Limits | None = None, **options: Any
) -> Plan:
    """Plan of an operation: the passes of the function of this name, as data.

    Parameters
    ----------
    operation : str
        A key of `glla.operations.OPERATIONS`: ``"matmul"``, ``"solve"``, ...
    *forms : tuple of int, Form, array or Array
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
    OptionError, ShapeError
        Unknown operation or option; shapes that do not fit.
    LimitError
        It needs more than the limits allow.
    ContextError
        The device that is named does not open.

    Notes
    -----
    An Array lies packed (a matrix of float32) or wrapped (all else). Passes that change that for the plan, convert
    int32 and bool, and give the solution the shape of the call, are shown. Not shown are passes that take members out
    of a stack on the device and put them back, where they go one by one or are solved again with care; those that cut
    such a stack into pieces and join them; smaller pieces where a stack does not fit the device's memory; the copy of
    a slice or a transpose of an Array that is read back to be refined; and, in `lstsq`, copies of a sliced vector.

    Examples
    --------
    >>> import glla
    >>> for line in str(glla.plan("matmul", (4, 6), (6, 2), limits=glla.Limits())).splitlines():
    ...     print(line[:72].rstrip())
    for OpenGL 3.3 on a GPU, textures of up to 16384 texels a side
    stack[matmul]: 4 passes, 96 flop, 212 bytes written
      operand   raw: 6x6x1
      result    records: 3x3x1
      temporary A: 2x3x4
      temporary B: 3x1x4
      temporary C: 2x1x4
    pass  shader                reads    draws    region (texels)  uniforms
    0     stack/pack            raw=raw  A        x 0:3 y 0:2      IDENTITY=
    1     stack/pack            raw=raw  B        x 0:1 y 0:3      IDENTITY=
    2     matmul/inner_product  A=A B=B  C        x 0:1 y 0:2      CONTINUE=
    3     stack/unpack          M=C      records  x 0:3 y 0:3      MATRIX=1
    """
    one_of("plan: operation", operation, OPERATIONS)
    target, chosen, room = _target(device, limits)
    record = OPERATIONS[operation]
    try:
        result = shown(record, forms, chosen, target, room=room, **options)
    except TypeError as error:
        raise OptionError(f"plan: {operation}: {error}") from None
    result.check(chosen)
    return result


def explain(
    operation: str | Plan, *forms: Any, device: DeviceLike | None = None, limits: Limits | None = None, **options: Any
) -> Explanation:
    """Describe a call in words: loops, passes, their inputs, targets and costs, and the stages that may come after.

    Parameters
    ----------
    operation : str or Plan
        Either a plan, and nothing else; or what `plan` takes.
    *forms, device, limits, **options
        As for `plan`.

    Returns
    -------
    Explanation
        ``print`` it; see `glla.passes.text.words.explain`.

    Raises
    ------
    OptionError, ShapeError, LimitError
        As `plan`.

    Examples
    --------
    >>> import glla
    >>> words = glla.explain("rref", (3, 4), limits=glla.Limits())
    >>> words.cost.passes
    17
    >>> "2 times, step 0 to 1" in str(words)
    True
    """
    from glla.passes.text.words import explain as in_words  # few need it

    if not isinstance(operation, Plan):
        return in_words(plan(operation, *forms, device=device, limits=limits, **options))
    if forms or options:
        raise OptionError("explain: a plan is all that is needed beside itself; its form and options are in it")
    return in_words(operation)


def _target(device: DeviceLike | None, limits: Limits | None) -> tuple[str, Limits, int | None]:
    """Target of a plan, in words, its limits, and the bytes that are left where there is a cap on them."""
    if limits is not None:
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
