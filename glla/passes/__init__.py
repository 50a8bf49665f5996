"""Render passes and plans: an algorithm as data.

A `Pass` says which shader draws which region of which textures from which others. A `Plan` is a list of steps over
named slots. Neither knows OpenGL, a device or the values of a matrix: the same plan serves every matrix of its form,
can be printed, costed and checked without a GPU, and is cached by whoever builds it.

Read `layout` (which element lies where), `storage` and `steps` (what a plan is made of), `plan`, `draft` (how one is
written), `check` (what is proved before GL sees anything), then `form`, `limits`, `variant`, and `words`.

The room is not called ``plan``, because `glla.plan` is the function that shows one.
"""

from glla.passes.check import BLOCK_ALIGNMENT, MOST_GROUPS
from glla.passes.draft import Draft, PingPong
from glla.passes.form import Form, Forms, forms_of, resident
from glla.passes.limits import COMPUTE, PLAIN, Limits, Parameters, Tuned
from glla.passes.plan import Call, Cost, Next, Plan, stages, table
from glla.passes.scopes import Scope
from glla.passes.steps import Block, DeviceStep, Dispatch, Host, Pass, Region, Step, Transfer, Uniform, touched
from glla.passes.storage import Storage, host, matrix
from glla.passes.variant import Variant, parameter_space

__all__ = [
    "BLOCK_ALIGNMENT",
    "COMPUTE",
    "MOST_GROUPS",
    "PLAIN",
    "Block",
    "Call",
    "Cost",
    "DeviceStep",
    "Dispatch",
    "Draft",
    "Form",
    "Forms",
    "Host",
    "Limits",
    "Next",
    "Parameters",
    "Pass",
    "PingPong",
    "Plan",
    "Region",
    "Scope",
    "Step",
    "Storage",
    "Transfer",
    "Tuned",
    "Uniform",
    "Variant",
    "forms_of",
    "host",
    "matrix",
    "parameter_space",
    "resident",
    "stages",
    "table",
    "touched",
]
