"""Users' variants: `glla.register` makes one from a shader that replaces one of glla's."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from typing import cast

import numpy as np

from glla.errors import OptionError
from glla.kernels import stand_in
from glla.operations import OPERATIONS, Operation
from glla.operations.record import Interface
from glla.passes import PLAIN, Plan, Variant, Variants, resident
from glla.passes.glsl import find as shaders

SMALL = 5
"""Order of the matrices with which a shader is tested when it is registered."""

_PINNED: dict[tuple[str, str], str] = {}  # operation and name of a variant -> its shader


def register(operation: str, name: str, source: str | os.PathLike[str], *, summary: str = "", author: str = "") -> None:
    r"""Make a variant of an operation of a fragment shader of your own, from now on, in all threads.

    ``glla.matmul(a, b, variant="mine")`` runs it then, `glla.plan` shows it, ``glla.lab.compare`` puts it beside
    glla's own; nothing chooses it unasked. It takes the place of one of glla's shaders in a plan that stays as it is:
    ``glla shader interface matmul`` prints what it is given and must give.

    Examples
    --------
    >>> import glla
    >>> from glla.lab.custom import gallery
    >>> glla.register("matmul", "mine", gallery("naive_product"))
    >>> glla.matmul([[1, 2], [3, 4]], [[5], [6]], variant="mine")
    array([[17.],
           [39.]], dtype=float32)
    >>> glla.unregister("matmul", "mine")

    Parameters
    ----------
    operation : str
        ``"matmul"``, ``"plu"`` (for `lu_factor` too), ``"rref"`` or ``"triangular"``.
    name : str
        Of the variant: letters, digits and underscores.
    source : path or str
        The file, or the text itself (a str with a line end or a semicolon). It is read now: register it anew after a
        change.
    summary, author : str
        What is particular to it, and whose it is; by default the first sentence of its header, and its file.

    Raises
    ------
    OptionError
        There is a variant of that name, or the operation takes no shader of a user's.
    ShaderError
        The shader does not keep to the interface: its file, the line, and what to do. That it compiles is found out
        where it first runs.
    OSError
        The file cannot be read.

    Notes
    -----
    A product whose inner dimension takes several passes, or several tiles, adds to the sums of those before. A shader
    that does not look at ``CONTINUE`` cannot do that; such a call raises a ShaderError that says so.
    """
    record, _ = taking_shaders("register", operation)
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
        raise OptionError(f"register: a name has letters, digits and underscores, got {name!r}")
    variants = cast(Variants, record.variants)
    taken = f"register: {operation} has a variant {name!r}; choose another name"
    if name in variants:
        raise OptionError(taken)
    _, shader, variant = made("register", operation, source, name, summary, author, keep=True)
    if not variants.register(name, variant):
        raise OptionError(taken)
    shaders.pin(shader)
    _PINNED[operation, name] = shader


def made(
    function: str, operation: str, source: str | os.PathLike[str], name: str | None, *words: str, keep: bool = False
) -> tuple[str, str, Variant]:
    """Make a variant of a shader: its name, that of the file if None, the shader as adopted, and the variant."""
    record, known = taking_shaders(function, operation)
    text, file, folder = stand_in.read(source, name)
    name = name or os.path.basename(file).removesuffix(stand_in.SUFFIX)
    shader = shaders.adopt(file, text, known.stands_for, folder, keep=keep)
    exchange = partial(_exchanged, operation, known, shader, name)
    variant = Variant(
        words[0] or shaders.summary(shader) or "a shader of a user's", words[1] or file, (), stand_in.parameters(text),
        rule="values must go together as the shader's #error says",
        keeps_rule=lambda values: not stand_in.refusal(shader, values), exchange=exchange, text=text,
    )  # fmt: skip
    values = {parameter: allowed[0] for parameter, allowed in variant.parameters.items()}
    small = resident(*(array.shape[-2:] for array in record.example(SMALL, np.random.default_rng(0))))
    exchange(known.plan(small, PLAIN, values), values)  # does it keep to the interface?
    return name, shader, variant


def unregister(operation: str, name: str) -> None:
    """Take a variant out again that `register` made. Plans that were made of it can still be run.

    Raises
    ------
    OptionError
        No such variant was registered.
    """
    record, _ = taking_shaders("unregister", operation)
    variants = cast(Variants, record.variants)
    known = variants.get(name)
    if known is None or known.exchange is None:
        own = ", ".join(one for one, variant in variants.items() if variant.exchange is not None) or "none"
        raise OptionError(f"unregister: registered for {operation} are: {own}, got {name!r}")
    variants.pop(name, None)
    shader = _PINNED.pop((operation, name), None)
    if shader is not None and shader not in _PINNED.values():  # another variant may be made of the same text
        shaders.pin(shader, False)


def taking_shaders(function: str, operation: str) -> tuple[Operation, Interface]:
    """Find an operation that takes a shader of a user's."""
    open_to_all = {key: (one, one.interface) for key, one in OPERATIONS.items() if one.interface is not None}
    if operation not in open_to_all:
        raise OptionError(f"{function}: a shader of your own can do {', '.join(open_to_all)}, got {operation!r}")
    return open_to_all[operation]


def _exchanged(
    operation: str, interface: Interface, shader: str, name: str, plan: Plan, values: Mapping[str, int]
) -> Plan:
    """Put the shader into a plan, which is called as the variant is."""
    called = re.sub(r"\[\w+", f"[{name}", plan.operation, count=1)
    return stand_in.put_into(plan, operation, interface, shader, values, called)
