"""A shader of your own, beside those of glla.

``glla compare OPERATION --shader my.frag``, or `register` in Python, lets a fragment shader of yours do an operation,
or a step of one, and puts it beside glla's variants: its result is verified, drawn where it is wrong, and timed where
it is right. The shader takes the place of one of glla's in a plan that stays as it is, so it must keep to that one's
interface: `INTERFACES`, which ``glla shader interface OPERATION`` prints.

What holds for all of them:

- The file is GLSL 3.30 core without ``#version``, which glla writes. It writes one ``layout(location = 0) out vec4``.
- A matrix is packed: texel (x, y) holds rows 2y, 2y+1 and columns 2x, 2x+1, as ``vec4(r, g, b, a)``:

      r g      M[2y,   2x]  M[2y,   2x+1]
      b a      M[2y+1, 2x]  M[2y+1, 2x+1]

  Where the matrix ends within a texel, the rest of it is padding. It is zero in what you read, and must be zero in what
  you write.
- A fragment computes the texel ``ivec2(gl_FragCoord.xy)``, and reads others with ``texelFetch(A, ivec2(x, y), 0)``,
  by no other function. What lies outside of a texture is undefined: the result must not depend on it.
- llvmpipe stops the loops of a fragment after 65535 loop trips, all its loops together, without an error.
- ``#include "lib/..."`` takes in what glla's own shaders share, such as ``lib/packed.glsl`` and
  ``lib/block_product.glsl``; ``#include "NAME"`` also a file of yours in the folder of the shader, or below.
- Declare the samplers and uniforms that you need, one in a statement; the names and types are those of the interface.
- A parameter to be swept (``--param UNROLL=1,2,4``) stands in the file with its default, its meaning, and in
  parentheses the values that make sense; `#error` says which do not go together:

      #ifndef UNROLL
      #define UNROLL 1  // trips of the loop in one (1, 2, 4)
      #endif

`gallery` lists shaders to start from; ``glla shader show naive_product > my.frag`` copies one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from glla.errors import OptionError
from glla.gl import Device
from glla.kernels import stand_in
from glla.kernels.registering import made, taking_shaders
from glla.lab import operations
from glla.lab.operations import Contender
from glla.operations import OPERATIONS
from glla.operations.record import Interface
from glla.passes import Forms, Limits, Parameters, Plan, Variant, texture

GALLERY = Path(__file__).with_name("gallery")

SMALL = 5
"""Order of the matrices for which a shader is tried out before anything is measured."""

INTERFACES: Mapping[str, Interface] = {
    name: operation.interface for name, operation in OPERATIONS.items() if operation.interface
}
"""By operation. The other operations, and everything else of a plan, stay glla's."""


def find(operation: str) -> Interface:
    """Find the interface of an operation.

    Raises OptionError: it has none; the message lists those that have.

    >>> find("triangular").stands_for
    'triangular/substitute'
    """
    return taking_shaders("compare", operation)[1]


def explanation(operation: str) -> str:
    """Tell all that one must know to write a shader for an operation."""
    rules = (__doc__ or "").partition("What holds for all of them:")[2].strip()
    return f"{described(operation, find(operation))}\n\n{rules}"


def described(operation: str, interface: Interface) -> str:
    """Write an interface as text, to be read beside the docstring of this module."""
    rows = [(f"uniform sampler2D {name};", what) for name, what in interface.samplers.items()]
    rows += [(f"uniform {kind} {name};", what) for name, (kind, what) in interface.uniforms.items()]
    rows += [(f"flat in {kind} {name};", what) for name, (kind, what) in interface.varyings.items()]
    rows += [(f"#define {name}", what) for name, what in interface.defines.items()]
    rows.append(("layout(location = 0) out vec4 result;", "the texel"))
    width = max(len(row[0]) for row in rows)
    listed = "\n".join(f"  {declaration:{width}}  {what}" for declaration, what in rows)
    return (
        f"{operation}: {interface.computes}\nIt takes the place of {interface.stands_for}{stand_in.SUFFIX}.\n\n{listed}"
    )


# -- taking part ------------------------------------------------------------------------------------------------------


def register(
    operation: str, source: str | os.PathLike[str], name: str | None = None, *, summary: str = "", author: str = ""
) -> Contender:
    r"""Let a fragment shader of your own take part in comparisons of an operation, from now on.

    Examples
    --------
    >>> import glla.lab
    >>> mine = register("matmul", gallery("naive_product"), "mine")
    >>> result = glla.lab.compare("matmul", ["mine"], [17], baseline="none", quick=True)
    >>> [(record.variant, record.status) for record in result.records]
    [('mine', 'ok')]
    >>> operations.remove("matmul", "mine")

    Parameters
    ----------
    operation : str
        One of `INTERFACES`: ``"matmul"``, ``"triangular"``, ``"plu"``, ``"rref"``.
    source : path or str
        The file, or the text itself (a str with a line end or a semicolon).
    name : str, optional
        Of the variant; by default that of the file. One of the same name that was registered before is replaced.
    summary, author : str
        What is particular to it, and whose it is, for reports; by default the first sentence of its header, and its
        file.

    Returns
    -------
    Contender
        With the parameters that the file declares. `glla.lab.operations.remove` takes it out again.

    Raises
    ------
    OptionError
        The operation has no interface, or the name is one of glla's.
    ShaderError
        The shader does not keep to the interface: the file, the line and what to do. That it compiles is found out
        where it runs.
    OSError
        The file cannot be read.
    """
    made = contender(operation, source, name, summary=summary, author=author)
    operations.add(operation, made)
    return made


def contender(
    operation: str, source: str | os.PathLike[str], name: str | None = None, *, summary: str = "", author: str = ""
) -> Contender:
    """Make a contender of a shader, as `register` does, without adding it to the table."""
    called, shader, variant = made("compare", operation, source, name, summary, author)
    operations.check_free(operation, called)
    refusal = partial(stand_in.refusal, shader)
    return Contender(
        **vars(variant), name=called, build=partial(_build, INTERFACES[operation], variant), refusal=refusal
    )


def contenders(operation: str, files: Sequence[Path]) -> list[Contender]:
    """Make contenders of files, each with a name of its own: its path, where another has its name already."""
    if files and operation not in INTERFACES:
        raise OptionError(f"compare: --shader is for {', '.join(INTERFACES)}, got {operation}")
    taken = set(operations.contenders(operation))
    found = []
    for file in files:
        plain = file.name.removesuffix(stand_in.SUFFIX)
        name = str(file) if plain in taken else plain
        taken.add(name)
        found.append(contender(operation, file, name))
    return found


def compile_all(device: Device, operation: str, found: Sequence[Contender]) -> None:
    """Compile the shaders of contenders now, before anything is measured.

    Raises ShaderError: one does not compile: its file, the line, and what the driver says.
    """
    forms = operations.forms(operations.inputs(operations.find(operation), SMALL))
    for one in found:
        plan = one.build(forms, device.limits, ())
        stores = {name: texture(plan.slots[name]) for name in plan.operands}
        ones = {name: np.ones((one.height, one.width, one.channels), np.float32) for name, one in stores.items()}
        device.run(plan, **{name: device.write_texels(texels) for name, texels in ones.items()})


def _build(interface: Interface, variant: Variant, forms: Forms, limits: Limits, chosen: Parameters) -> Plan:
    """Plan of the operation, with the shader in the place of glla's."""
    assert variant.exchange is not None
    values = {name: known[0] for name, known in variant.parameters.items()} | dict(chosen)
    return variant.exchange(interface.plan(forms, limits, values), values)


# -- where to start from ----------------------------------------------------------------------------------------------


def gallery(name: str | None = None) -> Path:
    """Folder of the shaders to start from, or the file of one.

    Raises OptionError: no such shader; the message lists those there are.

    >>> gallery("naive_product").name
    'naive_product.frag'
    """
    if name is None:
        return GALLERY
    path = GALLERY / f"{name.removesuffix(stand_in.SUFFIX)}{stand_in.SUFFIX}"
    if path not in exhibits():
        known = ", ".join(one.stem for one in exhibits())
        raise OptionError(f"gallery: the shader must be one of {known}, got {name!r}")
    return path


def exhibits() -> list[Path]:
    """Files of the gallery, in the order in which to read them."""
    order = ("naive_product", "unrolled_product", "split_product", "substitution")
    return [GALLERY / f"{name}{stand_in.SUFFIX}" for name in order]


def operation_of(exhibit: Path) -> str:
    """Which operation a shader of the gallery does: its header says so."""
    found = re.search(r"glla compare (\w+)", exhibit.read_text(encoding="utf-8"))
    return found[1] if found else ""
