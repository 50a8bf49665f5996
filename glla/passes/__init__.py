"""Render passes and plans: an algorithm as data.

A `Pass` says which shader draws which region of which textures from which others. A `Plan` is a list of steps over
named slots. Neither knows OpenGL, a device or the values of a matrix: the same plan serves every matrix of its form,
can be printed, costed and checked without a GPU, and is cached by whoever builds it.

Read `layout` (the place of each element), `storage` and `steps` (what a plan is made of), `plan`, `draft` (how one is
written), `loop`, `check` (what is proved before GL sees anything), then `form`, `limits` and `variant`. `glsl` has the
texts of shaders. `glla.display` has what is shown of a plan: a table, HTML, and words.

The room is not called ``plan``, because `glla.plan` is the function that shows one.
"""

from glla.passes.check import BLOCK_ALIGNMENT, MOST_GROUPS
from glla.passes.draft import Draft, PingPong, single_pass
from glla.passes.form import Form, Forms, forms_of, resident
from glla.passes.layout import Layout, Packed, Wrapped
from glla.passes.limits import COMPUTE, PLAIN, Limits, Parameters, Tuned
from glla.passes.loop import Iterated, Loop, iterate
from glla.passes.plan import Call, Cost, Plan, Scope, Transition, stages, touched
from glla.passes.sharing import shared
from glla.passes.steps import Block, DeviceStep, Dispatch, Host, Pass, Region, Step, Transfer, Uniform
from glla.passes.storage import Buffer, HostArray, Slot, Storage, matrix, texture, wrapped
from glla.passes.variant import Variant, Variants, parameter_space

__all__ = [
    "BLOCK_ALIGNMENT", "COMPUTE", "MOST_GROUPS", "PLAIN", "Block", "Buffer", "Call", "Cost", "DeviceStep", "Dispatch",
    "Draft", "Form", "Forms", "Host", "HostArray", "Iterated", "Layout", "Limits", "Loop", "Packed", "Parameters",
    "Pass", "PingPong", "Plan", "Region", "Scope", "Slot", "Step", "Storage", "Transfer", "Transition", "Tuned",
    "Uniform", "Variant", "Variants", "Wrapped", "forms_of", "iterate", "matrix", "parameter_space", "resident",
    "shared", "single_pass", "stages", "texture", "touched", "wrapped",
]  # fmt: skip
