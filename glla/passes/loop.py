"""A loop: a plan that runs again and again, until a texel on the device says stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import index
from typing import Any, SupportsIndex

from glla import registry
from glla.errors import OptionError, PlanError
from glla.passes.plan import Plan
from glla.passes.storage import Storage

MOST = 2**31 - 1
"""Iterations of a loop at most: they are counted on the device, in 32 bits."""


class Iterated(dict[str, Any]):
    """Results of the last iteration of a loop, by name, and how the loop ended.

    Attributes
    ----------
    iterations : int
        Iterations that count, the last one included.
    stopped : bool
        Whether the texel of the last one said stop; else it was the last that was allowed.
    stop : float or int
        First channel of that texel where it said stop, else 0.
    """

    iterations: int = 0
    stopped: bool = False
    stop: float | int = 0


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Loop(Plan):
    """A plan that runs again and again, made by `iterate`. Its steps and cost are those of one iteration.

    `glla.Device.run` and `Draft.call` take it like any plan. Called with arrays for its operands it runs on those:
    ``loop(A=A, v=v)``.

    Attributes
    ----------
    body : Plan
        What runs.
    carry : mapping of str to str
        Result of an iteration -> operand of the next one.
    until : str or None
        Result whose texel (0, 0) says stop.
    most : int
        Iterations at most.
    """

    body: Plan
    carry: Mapping[str, str]
    until: str | None
    most: int

    def __post_init__(self) -> None:
        """Raise where the loop cannot be run."""
        if not (isinstance(self.most, int) and 1 <= self.most <= MOST):
            raise OptionError(f"iterate: most must be a number of iterations from 1 to {MOST}, got {self.most!r}")
        if len(self.passes) < len(self.flat.steps):
            raise PlanError(
                f"iterate: a loop runs on the device alone, {self.operation} has a step of the host; "
                "upload before the loop and read back behind it"
            )
        for name in (*self.carry, *(() if self.until is None else (self.until,))):
            if name not in self.results:
                raise PlanError(f"iterate: results of {self.operation} are {sorted(self.results)}, got {name!r}")
        carried = list(self.carry.values())
        if not set(carried) <= set(self.operands) or len(set(carried)) < len(carried):
            raise PlanError(
                f"iterate: each result is carried to an operand of its own, operands of {self.operation} are "
                f"{sorted(self.operands)}, got {carried}"
            )
        for name, operand in self.carry.items():
            made, needed = self.slots[self.results[name]], self.slots[operand]
            if made != needed:
                raise PlanError(f"iterate: {operand} must be {needed}, the result {name} that it is to take is {made}")
        if self.until is not None and not isinstance(self.slots[self.results[self.until]], Storage):
            raise PlanError(f"iterate: the texel that says stop lies in a texture, {self.until} is a buffer")

    @property
    def often(self) -> str:
        """How often it runs, in words."""
        return f"at most {self.most} times" if self.until is not None else f"{self.most} times"

    @registry.delegating
    def __call__(self, *, device: Any = None, **operands: Any) -> Iterated:
        """Run it on arrays.

        Parameters
        ----------
        device : Device, optional
            Where; by default that of the first operand that has one, or else the default device.
        **operands : array_like or glla.Array
            One for each operand. With a `glla.Pending` among them the loop is queued on its coprocessor.

        Returns
        -------
        Iterated
            As `glla.Device.run` gives it, with a `glla.Array` for each result that is one.

        Raises
        ------
        PlanError
            The operands are not those of the plan, or not of its shapes.
        NonFiniteError
            An array holds NaN or infinity; an Array may.
        """
        iterated: Iterated = registry.announced("loop")(self, device, operands)
        return iterated


Loop.__call__.__wrapped__.__name__ = "iterate"  # type: ignore[attr-defined]  # what it is called in messages


def iterate(plan: Plan, *, carry: Mapping[str, str], until: str | None = None, most: int) -> Loop:
    """Make a loop of a plan: its results become its operands, until a texel on the device says stop.

    Examples
    --------
    Halve a number until it is below 1; docs/guide/arrays.md has an eigenvalue by power iteration:

    >>> import glla
    >>> from glla.operations import elementwise
    >>> from glla.passes import Draft, matrix
    >>> step = Draft("halving")
    >>> x, two, one = (step.operand(name, matrix((1, 1))) for name in ("x", "two", "one"))
    >>> half = step.call("half", elementwise.binary((1, 1), "divide"), A=x, B=two)["result"]
    >>> done = step.call("test", elementwise.binary((1, 1), "less_equal"), A=half, B=one)["result"]
    >>> halve = glla.iterate(step.plan({"half": half, "done": done}), carry={"half": "x"}, until="done", most=9)
    >>> result = halve(x=100, two=2, one=1)
    >>> result["half"].item(), result.iterations, result.stopped
    (0.78125, 7, True)

    Parameters
    ----------
    plan : Plan
        The body: of passes, or of plans, without steps of the host. It may hold loops itself.
    carry : mapping of str to str
        Result of an iteration -> operand of the next one, of equal storage. Other operands stay as they are, other
        results come from the last iteration.
    until : str, optional
        A result. After an iteration whose texel (0, 0) of it has anything but 0 in its first channel (NaN is not 0)
        there is no further one. Without it the body runs `most` times.
    most : int
        Iterations at most, 1 or more.

    Returns
    -------
    Loop
        Prints as its body once, "at most n times". ``loop(A=A, ...)`` runs it on arrays, ``device.run(loop, A=...)``
        on textures. Both give a dict of the results of the last iteration, which says in ``iterations`` how many there
        were, in ``stopped`` whether the texel ended them, and in ``stop`` what the texel was.

    Raises
    ------
    PlanError, OptionError
        The plan has a step of the host, a name is none of its own, or a result and its operand differ in storage;
        a number of iterations below 1.
    """
    return Loop(
        **{field.name: getattr(plan, field.name) for field in fields(Plan)},
        body=plan, carry=dict(carry), until=until, most=index(most) if isinstance(most, SupportsIndex) else most,
    )  # fmt: skip
